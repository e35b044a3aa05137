/* json_cases.h: what the tests of JSON records share: one record through the scanner, whole and cut, on every CPU
 * level, with nothing readable behind it. */
#ifndef LEAT_TESTS_JSON_CASES_H
#define LEAT_TESTS_JSON_CASES_H

#include <sys/mman.h>

#include "corpus/json/json_unescape.h"
#include "corpus/record/record.h"
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
    enum record_problem problem;
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

static inline void outcome_take_id(struct outcome *o, struct record *r)
{
    const char *at = record_take_id(r, &o->id_bytes);

    o->has_id = at != NULL;
    o->id = outcome_copy(at, o->id_bytes);
}

/* The text and the id of a record that is fine. */
static inline void outcome_take(struct outcome *o, struct record *r)
{
    const char *at = record_take_text(r, &o->text_bytes);

    o->text = outcome_copy(at, o->text_bytes);
    outcome_take_id(o, r);
}

/* By record_read(). */
static inline void outcome_whole(struct outcome *o, struct record *r, struct fenced *f, const char *record,
                                 size_t bytes)
{
    char *line = fenced_copy(f, record, bytes);
    struct leat_error err = { 0 };

    memset(o, 0, sizeof *o);
    o->status = record_read(r, line, bytes, &err);
    if (o->status == LEAT_OK)
        o->status = record_check(r, &err);
    o->problem = r->problem;
    o->byte = r->byte;
    if (o->status == LEAT_OK) {
        outcome_take(o, r);
    } else {
        snprintf(o->message, sizeof o->message, "%s", err.message);
        if (bytes > 0 && memcmp(line, record, bytes) != 0)
            T_FAIL("a refused record was overwritten");
    }
}

/* Gives a record that came in chunks the bytes of its id that it needs; the caller frees them. */
static inline char *hold_id(struct record *r, const char *record)
{
    uint32_t id = r->fields->id;
    char *own;

    if (id == RECORD_NONE)
        return NULL;
    own = outcome_copy(record + record_value(r, id)->begin, record_needs(r, id));
    record_hold(r, id, own, record_needs(r, id));
    return own;
}

/* In chunks, the record and its text cut where `cuts` says (ascending, `count` of them). */
static inline void outcome_cut(struct outcome *o, struct record *r, struct fenced *f, const char *record, size_t bytes,
                               const size_t *cuts, size_t count)
{
    struct json_unescape state = { .held_bytes = 0 };
    const struct record_value *text = record_value(r, r->fields->text);
    struct leat_error err = { 0 };
    size_t at = 0, some;
    char *out, *id = NULL;

    memset(o, 0, sizeof *o);
    record_begin(r);
    for (size_t i = 0; i <= count; i++) {
        size_t end = i < count ? cuts[i] : bytes;

        record_feed(r, fenced_copy(f, record + at, end - at), end - at);
        at = end;
    }
    o->status = record_end(r, &err);
    if (o->status == LEAT_OK) {
        id = hold_id(r, record);
        o->status = record_check(r, &err);
    }
    o->problem = r->problem;
    o->byte = r->byte;
    if (o->status != LEAT_OK) {
        snprintf(o->message, sizeof o->message, "%s", err.message);
        free(id);
        return;
    }
    outcome_take_id(o, r);
    free(id);
    out = malloc((size_t)text->bytes + (count + 3) * JSON_UNESCAPE_HELD);
    if (!out)
        exit(1);
    at = (size_t)text->begin;
    for (size_t i = 0; i <= count + 1; i++) {
        size_t end = (size_t)(text->begin + text->bytes), cut = i < count ? cuts[i] : end;

        if (cut < at)
            continue;
        if (cut > end)
            cut = end;
        json_unescape_chunk(r->fields->paths.kernels, &state, fenced_copy(f, record + at, cut - at), cut - at,
                            i == count + 1, out + o->text_bytes, &some);
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
