/*
 * fuzz_json.c: any bytes as a record of JSON lines: the scanner whole and in parts gives the same, on every CPU level;
 * a text that is found is unescaped in parts to the same bytes. And as a JSON array of records, and as records one
 * after another: the records are the same in parts, and from the end of any record on. What is found to be objects has
 * a valid one first, or ends in it.
 *
 * The input is a byte that chooses the paths, then the record; where it is cut depends on its bytes.
 *
 *   make fuzz FUZZ=json FUZZ_SECONDS=3600
 */
#include <stdbool.h>

#include "corpus/json/json_push.h"
#include "corpus/json/json_records.h"
#include "corpus/json/json_scan.h"
#include "fuzz.h"

static const struct {
    const char *text, *id;
} paths[] = { { "text", "id" }, { "a.b", "a.c" }, { "", "." }, { "text", NULL }, { "id", "id" } };

struct answer {
    enum leat_status status;
    struct json_found found;
    char message[200];
};

static bool same_bytes(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    return a_bytes == b_bytes && (a_bytes == 0 || memcmp(a, b, a_bytes) == 0);
}

static void check_text(const struct json_fields *fields, const char *record, const struct json_pushed *pushed,
                       const struct answer *want, uint64_t *random)
{
    struct json_unescape state = { .held_bytes = 0 };
    const char *raw = record + pushed->text_begin;
    size_t left = (size_t)pushed->text_raw_bytes, text_bytes = 0, part, some;
    char *text = malloc(left + 2 * JSON_UNESCAPE_HELD), *out = malloc(left + 2 * JSON_UNESCAPE_HELD);

    FUZZ_CHECK(text && out);
    for (bool last = false; !last; raw += part, left -= part) {
        last = left == 0;
        part = (size_t)fuzz_up_to(random, left < 40 ? left : 40);
        json_unescape_chunk(fields, &state, raw, part, last, out, &some);
        FUZZ_CHECK(some <= part + JSON_UNESCAPE_HELD);
        memcpy(text + text_bytes, out, some);
        text_bytes += some;
    }
    FUZZ_CHECK(same_bytes(text, text_bytes, want->found.text, want->found.text_bytes));
    free(text);
    free(out);
}

static void check_parts(const struct json_fields *fields, const char *record, size_t size, const struct answer *want,
                        uint64_t *random)
{
    struct leat_error err = { 0 };
    struct json_pushed pushed;
    struct json_push *push;
    bool enough = false;

    FUZZ_CHECK(json_push_open(&push, fields, &err) == LEAT_OK);
    for (size_t at = 0, part; at < size; at += part) {
        part = 1 + (size_t)fuzz_up_to(random, size - at < 50 ? size - at - 1 : 49);
        FUZZ_CHECK(json_push_feed(push, record + at, part, &enough, &err) == LEAT_OK);
    }
    FUZZ_CHECK(json_push_end(push, &pushed, &err) == want->status);
    FUZZ_CHECK(pushed.problem == want->found.problem && pushed.byte == want->found.byte);
    if (want->status != LEAT_OK) {
        FUZZ_CHECK(strncmp(err.message, want->message, sizeof want->message - 1) == 0);
    } else {
        FUZZ_CHECK((pushed.id == NULL) == (want->found.id == NULL));
        FUZZ_CHECK(same_bytes(pushed.id, pushed.id_bytes, want->found.id, want->found.id_bytes));
        check_text(fields, record, &pushed, want, random);
    }
    json_push_close(push);
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

static void check_layout(const struct json_fields *fields, const char *text, size_t size)
{
    struct json_records r;
    struct json_scan scan;
    bool more;

    if (json_layout(text, size, &more) != JSON_OBJECTS || size > JSON_HEAD) /* what follows is not looked at */
        return;
    json_records_begin(&r, JSON_OBJECTS, 0);
    FUZZ_CHECK(json_records_next(&r, text, size) != JSON_RECORDS_BROKEN);
    json_scan_begin(&scan, fields);
    FUZZ_CHECK(json_scan_feed(&scan, text + r.record, (size_t)(r.position - r.record)));
}

FUZZ_TARGET(json)
{
    const char *record = (const char *)data + 1;
    const struct json_kernels *row;
    struct json_fields fields;
    uint64_t random = size;
    int usable;

    if (size == 0)
        return 0;
    size--;
    FUZZ_CHECK(json_fields_prepare(&fields, paths[data[0] % 5].text, paths[data[0] % 5].id, NULL) == LEAT_OK);
    for (size_t i = 0; i < size; i++)
        random = random * 31 + data[1 + i];
    check_records(JSON_ARRAY, record, size, &random);
    check_records(JSON_OBJECTS, record, size, &random);
    check_layout(&fields, record, size);
    for (unsigned i = 0; (row = json_kernels_row(i, &usable)); i++) {
        struct leat_error err = { 0 };
        struct answer a = { 0 };
        char *line;

        if (!usable)
            continue;
        line = malloc(size ? size : 1);
        FUZZ_CHECK(line);
        memcpy(line, record, size);
        fields.kernels = row;
        a.status = json_fields_find(&fields, line, size, &a.found, &err);
        FUZZ_CHECK(a.status == LEAT_OK || (a.status == LEAT_E_TEXT && err.message[0] && a.found.problem != JSON_FINE));
        snprintf(a.message, sizeof a.message, "%.199s", err.message);
        check_parts(&fields, record, size, &a, &random);
        free(line);
    }
    return 0;
}
