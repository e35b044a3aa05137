/* json_cases.h: what the tests of JSON records share: one record through the scanner, whole and cut, on every CPU
 * level, with nothing readable behind it. */
#ifndef LEAT_TESTS_JSON_CASES_H
#define LEAT_TESTS_JSON_CASES_H

#include <sys/mman.h>
#include <unistd.h>

#include "corpus/json/json_fields.h"
#include "corpus/json/json_push.h"
#include "t.h"

/* Memory that ends at a page that cannot be read. */
struct fenced {
    char *all, *end;
    size_t room;
};

static inline void fenced_open(struct fenced *f, size_t room)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (room + page - 1) / page;

    f->room = pages * page;
    f->all = mmap(NULL, f->room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (f->all == MAP_FAILED || mprotect(f->all + f->room, page, PROT_NONE) != 0) {
        perror("mmap");
        exit(1);
    }
    f->end = f->all + f->room;
}

/* A copy of these bytes right before the page. */
static inline char *fenced_copy(struct fenced *f, const void *bytes, size_t count)
{
    if (count > f->room)
        exit(1);
    if (count > 0)
        memcpy(f->end - count, bytes, count);
    return f->end - count;
}

/* What a record gave, in memory of its own. */
struct outcome {
    enum leat_status status;
    enum json_problem problem;
    uint64_t byte;
    char *text, *id;
    size_t text_bytes, id_bytes;
    bool has_id;
    char message[1024];
};

static inline char *outcome_copy(const char *bytes, size_t count)
{
    char *copy = malloc(count + 1);

    if (!copy)
        exit(1);
    if (count > 0)
        memcpy(copy, bytes, count);
    copy[count] = '\0';
    return copy;
}

static inline void outcome_free(struct outcome *o)
{
    free(o->text);
    free(o->id);
}

/* By json_fields_find(). */
static inline void outcome_whole(struct outcome *o, const struct json_fields *fields, struct fenced *f,
                                 const char *record, size_t bytes)
{
    char *line = fenced_copy(f, record, bytes);
    struct leat_error err = { 0 };
    struct json_found found;

    memset(o, 0, sizeof *o);
    o->status = json_fields_find(fields, line, bytes, &found, &err);
    o->problem = found.problem;
    o->byte = found.byte;
    if (o->status == LEAT_OK) {
        o->text = outcome_copy(found.text, o->text_bytes = found.text_bytes);
        o->has_id = found.id != NULL;
        o->id = outcome_copy(found.id, o->id_bytes = found.id_bytes);
    } else {
        snprintf(o->message, sizeof o->message, "%s", err.message);
        if (bytes > 0 && memcmp(line, record, bytes) != 0)
            T_FAIL("a refused record was overwritten");
    }
}

/* By json_push, the record and its text cut where `cuts` says (ascending, `count` of them). */
static inline void outcome_cut(struct outcome *o, struct json_push *push, const struct json_fields *fields,
                               struct fenced *f, const char *record, size_t bytes, const size_t *cuts, size_t count)
{
    struct json_unescape state = { .held_bytes = 0 };
    struct leat_error err = { 0 };
    struct json_pushed pushed;
    size_t at = 0, some;
    bool enough = false;
    char *out;

    memset(o, 0, sizeof *o);
    json_push_begin(push);
    for (size_t i = 0; i <= count; i++) {
        size_t end = i < count ? cuts[i] : bytes;

        if (json_push_feed(push, fenced_copy(f, record + at, end - at), end - at, &enough, &err) != LEAT_OK)
            T_FAIL("%s", err.message);
        at = end;
    }
    o->status = json_push_end(push, &pushed, &err);
    o->problem = pushed.problem;
    o->byte = pushed.byte;
    if (o->status != LEAT_OK) {
        snprintf(o->message, sizeof o->message, "%s", err.message);
        return;
    }
    o->has_id = pushed.id != NULL;
    o->id = outcome_copy(pushed.id, o->id_bytes = pushed.id_bytes);
    out = malloc((size_t)pushed.text_raw_bytes + (count + 3) * JSON_UNESCAPE_HELD);
    if (!out)
        exit(1);
    at = (size_t)pushed.text_begin;
    for (size_t i = 0; i <= count + 1; i++) {
        size_t end = (size_t)(pushed.text_begin + pushed.text_raw_bytes), cut = i < count ? cuts[i] : end;

        if (cut < at)
            continue;
        if (cut > end)
            cut = end;
        json_unescape_chunk(fields, &state, fenced_copy(f, record + at, cut - at), cut - at, i == count + 1,
                            out + o->text_bytes, &some);
        o->text_bytes += some;
        at = cut;
    }
    o->text = out;
}

static inline bool outcome_same(const struct outcome *a, const struct outcome *b)
{
    if (a->status != b->status || a->problem != b->problem || a->byte != b->byte || a->has_id != b->has_id ||
        a->text_bytes != b->text_bytes || a->id_bytes != b->id_bytes || strcmp(a->message, b->message) != 0)
        return false;
    return (a->text_bytes == 0 || memcmp(a->text, b->text, a->text_bytes) == 0) &&
           (a->id_bytes == 0 || memcmp(a->id, b->id, a->id_bytes) == 0);
}

#endif
