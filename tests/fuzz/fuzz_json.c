/*
 * fuzz_json.c: any bytes as a record of JSON lines: the scanner whole and in parts gives the same, on every CPU level,
 * for all wanted fields at once as for each alone; a text that is found is unescaped in parts to the same bytes. And as
 * a JSON array of records, and as records one after another: the records are the same in parts, and from the end of any
 * record on. What is found to be objects has a valid one first, or ends in it.
 *
 * The input is a byte that chooses the paths, then the record; where it is cut depends on its bytes.
 */
#include <stdbool.h>

#include "corpus/json/json_records.h"
#include "corpus/json/json_unescape.h"
#include "corpus/record/record.h"
#include "fuzz.h"

static const struct {
    const char *text, *id;
} paths[] = { { "text", "id" }, { "a.b", "a.c" }, { "", "." }, { "text", NULL }, { "id", "id" } };

/* Wanted besides. */
static const char *const others[] = { "text", "a", "a.b", "a.b.c", "meta.a", "" };
#define OTHERS (sizeof others / sizeof *others)

struct answer {
    enum leat_status status;
    enum record_problem problem;
    uint64_t byte;
    const char *text, *id;
    size_t text_bytes, id_bytes;
    char message[200];
};

static bool same_bytes(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    return a_bytes == b_bytes && (a_bytes == 0 || memcmp(a, b, a_bytes) == 0);
}

static void check_text(const struct record *r, const char *record, const struct answer *want, uint64_t *random)
{
    const struct record_value *value = record_value(r, r->fields->text);
    struct json_unescape state = { .held_bytes = 0 };
    const char *raw = record + value->begin;
    size_t left = (size_t)value->bytes, text_bytes = 0, part, some;
    char *text = malloc(left + 2 * JSON_UNESCAPE_HELD), *out = malloc(left + 2 * JSON_UNESCAPE_HELD);

    FUZZ_CHECK(text && out);
    for (bool last = false; !last; raw += part, left -= part) {
        last = left == 0;
        part = (size_t)fuzz_up_to(random, left < 40 ? left : 40);
        json_unescape_chunk(r->fields->paths.kernels, &state, raw, part, last, out, &some);
        FUZZ_CHECK(some <= part + JSON_UNESCAPE_HELD);
        memcpy(text + text_bytes, out, some);
        text_bytes += some;
    }
    FUZZ_CHECK(same_bytes(text, text_bytes, want->text, want->text_bytes));
    free(text);
    free(out);
}

static bool same_place(const struct record_value *a, const struct record_value *b)
{
    return a->kind == b->kind && a->escaped == b->escaped && a->begin == b->begin && a->bytes == b->bytes;
}

/* Each value that was found with all others is the one that is found alone. */
static void check_alone(const struct record *all, const char *json, size_t size)
{
    for (uint32_t i = 0; i < all->fields->count; i++) {
        struct record_fields fields = { 0 };
        struct record r;

        fields.paths.kernels = all->fields->paths.kernels;
        FUZZ_CHECK(record_want(&fields, &all->fields->wants[i], &fields.text, NULL) == LEAT_OK);
        FUZZ_CHECK(record_make(&r, &fields, NULL) == LEAT_OK && record_read(&r, json, size, NULL) == LEAT_OK);
        FUZZ_CHECK(same_place(record_value(&r, 0), record_value(all, i)));
        record_free(&r);
        record_fields_free(&fields);
    }
}

/* Gives the id its bytes, which may be written over. */
static char *hold_id(struct record *r, const char *json)
{
    uint32_t id = r->fields->id;
    size_t bytes = id == RECORD_NONE ? 0 : record_needs(r, id);
    char *own = malloc(bytes + 1);

    FUZZ_CHECK(own);
    if (bytes > 0)
        memcpy(own, json + record_value(r, id)->begin, bytes);
    if (id != RECORD_NONE)
        record_hold(r, id, own, bytes);
    return own;
}

static void check_parts(const struct record_fields *fields, const char *json, size_t size, const struct answer *want,
                        uint64_t *random)
{
    struct leat_error err = { 0 };
    struct record r;
    enum leat_status s;
    char *own = NULL;

    FUZZ_CHECK(record_make(&r, fields, NULL) == LEAT_OK);
    record_begin(&r);
    for (size_t at = 0, part; at < size; at += part) {
        part = 1 + (size_t)fuzz_up_to(random, size - at < 50 ? size - at - 1 : 49);
        record_feed(&r, json + at, part);
    }
    s = record_end(&r, &err);
    if (s == LEAT_OK) {
        check_alone(&r, json, size);
        own = hold_id(&r, json);
        s = record_check(&r, &err);
    }
    FUZZ_CHECK(s == want->status && r.problem == want->problem && r.byte == want->byte);
    if (s != LEAT_OK) {
        FUZZ_CHECK(strncmp(err.message, want->message, sizeof want->message - 1) == 0);
    } else {
        size_t bytes;
        const char *id = record_take_id(&r, &bytes);

        FUZZ_CHECK((id == NULL) == (want->id == NULL) && same_bytes(id, bytes, want->id, want->id_bytes));
        check_text(&r, json, want, random);
    }
    free(own);
    record_free(&r);
}

/* The sum of all records and of the end from a->position on; if `restart`, a new scanner goes on after each record. */
static uint64_t sum_records(struct json_records *a, const char *text, size_t size, bool restart, uint64_t *random)
{
    uint64_t sum = 0;

    while (a->position < size) {
        size_t left = size - (size_t)a->position, part = random ? 1 + fuzz_random(random) % left : left;
        enum json_records_found found = json_records_next(a, text + a->position, part);

        FUZZ_CHECK(a->position <= size && a->record <= a->position);
        if (found == JSON_RECORDS_MORE)
            continue;
        sum = (sum * 31 + a->position) * 31 + (found == JSON_RECORDS_RECORD ? a->record : 0);
        if (found == JSON_RECORDS_BROKEN)
            break;
        if (restart)
            json_records_begin(a, a->array ? JSON_ARRAY : JSON_OBJECTS, a->position);
    }
    return (sum * 31 + json_records_in_record(a)) * 31 + json_records_may_end(a);
}

static void check_records(enum json_layout layout, const char *text, size_t size, uint64_t *random)
{
    struct json_records r;
    uint64_t whole;

    json_records_begin(&r, layout, 0);
    whole = sum_records(&r, text, size, false, NULL);
    json_records_begin(&r, layout, 0);
    FUZZ_CHECK(sum_records(&r, text, size, false, random) == whole);
    json_records_begin(&r, layout, 0);
    FUZZ_CHECK(sum_records(&r, text, size, true, NULL) == whole);
}

static void check_layout(const char *text, size_t size)
{
    static const struct json_paths nothing;
    struct json_records r;
    struct json_scan scan;
    bool more;

    if (json_layout(text, size, &more) != JSON_OBJECTS || size > JSON_HEAD) /* what follows is not looked at */
        return;
    json_records_begin(&r, JSON_OBJECTS, 0);
    FUZZ_CHECK(json_records_next(&r, text, size) != JSON_RECORDS_BROKEN);
    json_scan_begin(&scan, &nothing, NULL);
    FUZZ_CHECK(json_scan_feed(&scan, text + r.record, (size_t)(r.position - r.record)));
}

/* On one CPU level; the record may be written over. */
static void check_level(const struct record_fields *fields, const char *json, size_t size, uint64_t *random)
{
    char *line = malloc(size ? size : 1);
    struct leat_error err = { 0 };
    struct answer a = { 0 };
    struct record r;

    FUZZ_CHECK(line && record_make(&r, fields, NULL) == LEAT_OK);
    memcpy(line, json, size);
    a.status = record_read(&r, line, size, &err);
    if (a.status == LEAT_OK)
        a.status = record_check(&r, &err);
    a.problem = r.problem;
    a.byte = r.byte;
    FUZZ_CHECK(a.status == LEAT_OK || (a.status == LEAT_E_TEXT && err.message[0] && a.problem != RECORD_FINE));
    snprintf(a.message, sizeof a.message, "%.199s", err.message);
    if (a.status == LEAT_OK) {
        a.text = record_take_text(&r, &a.text_bytes);
        a.id = record_take_id(&r, &a.id_bytes);
    }
    check_parts(fields, json, size, &a, random);
    record_free(&r);
    free(line);
}

FUZZ_TARGET(json)
{
    const char *record = (const char *)data + 1;
    const struct json_kernels *row;
    struct record_fields fields = { 0 };
    uint64_t random = size;
    uint32_t number;
    int usable;

    if (size == 0)
        return 0;
    size--;
    FUZZ_CHECK(record_want_texts(&fields, paths[data[0] % 5].text, paths[data[0] % 5].id, NULL) == LEAT_OK);
    for (size_t i = 0; i < OTHERS; i++) {
        const struct record_want want = { .path = others[i], .use = RECORD_VALUE };

        FUZZ_CHECK(record_want(&fields, &want, &number, NULL) == LEAT_OK);
    }
    for (size_t i = 0; i < size; i++)
        random = random * 31 + data[1 + i];
    check_records(JSON_ARRAY, record, size, &random);
    check_records(JSON_OBJECTS, record, size, &random);
    check_layout(record, size);
    for (unsigned i = 0; (row = json_kernels_row(i, &usable)); i++) {
        fields.paths.kernels = row;
        if (usable)
            check_level(&fields, record, size, &random);
    }
    record_fields_free(&fields);
    return 0;
}
