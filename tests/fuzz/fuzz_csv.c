/*
 * fuzz_csv.c: any bytes as a table of CSV: the records are the same in parts, each ends with a line, and its values lie
 * in it, and are the same when it is read again.
 *
 * The input is a byte that chooses the columns, then the table; where it is cut depends on its bytes.
 */
#include <stdbool.h>

#include "corpus/csv/csv_header.h"
#include "fuzz.h"

static const char *const names[] = { "text", "id", "a", "", "b.c" };
#define NAMES (sizeof names / sizeof *names)

static void want(struct record_fields *fields, unsigned chosen)
{
    uint32_t number;

    for (unsigned i = 0; i < NAMES; i++) {
        struct record_want w = {
            .path = names[i], .use = (enum record_use)((chosen + i) % RECORD_USES), .needed = false, .most = SIZE_MAX
        };

        if (chosen >> i & 1)
            FUZZ_CHECK(record_want(fields, &w, &number, NULL) == LEAT_OK);
    }
}

static enum csv_found in_parts(struct csv_records *r, const char *text, size_t size, uint64_t *random)
{
    enum csv_found found = CSV_MORE;

    while (found == CSV_MORE && r->position < size) {
        size_t left = size - (size_t)r->position;

        found = csv_records_next(r, text + r->position, (size_t)fuzz_up_to(random, left < 9 ? left : 9));
    }
    return found;
}

static void check_record(struct record *r, const struct csv_header *header, const char *record, size_t size)
{
    char *once = malloc(size), *twice = malloc(size);
    enum leat_status s;

    FUZZ_CHECK(once && twice);
    memcpy(once, record, size);
    memcpy(twice, record, size);
    r->header = header;
    s = csv_read(r, once, size, NULL);
    FUZZ_CHECK(s == LEAT_OK || (s == LEAT_E_TEXT && r->problem == RECORD_MALFORMED));
    if (s == LEAT_OK) {
        struct record again;

        FUZZ_CHECK(record_make(&again, r->fields, NULL) == LEAT_OK);
        again.header = header;
        FUZZ_CHECK(csv_read(&again, twice, size, NULL) == LEAT_OK);
        for (uint32_t i = 0; i < r->fields->count; i++) {
            const struct record_value *a = record_value(r, i), *b = record_value(&again, i);

            FUZZ_CHECK(a->kind == b->kind && a->held == b->held &&
                       (a->held == 0 ||
                        (a->at >= once && a->at + a->held <= once + size && memcmp(a->at, b->at, a->held) == 0)));
        }
        record_free(&again);
    }
    free(once);
    free(twice);
}

FUZZ_TARGET(csv)
{
    struct record_fields fields = { 0 };
    struct csv_header *header = NULL;
    struct csv_records r, parts;
    struct record record;
    uint64_t random = size, records = 0;
    const char *text = (const char *)data + 1;
    char delimiter;
    enum csv_found found;

    if (size == 0)
        return 0;
    size--;
    delimiter = data[0] & 32 ? '\t' : ',';
    want(&fields, data[0] & 31);
    FUZZ_CHECK(record_make(&record, &fields, NULL) == LEAT_OK);
    if (csv_header_read(&header, &fields, "table", delimiter, text, size, true, NULL) != LEAT_OK)
        FUZZ_CHECK(!header);
    csv_records_begin(&r, delimiter, 0);
    do {
        uint64_t from = r.position;

        csv_records_begin(&parts, delimiter, from);
        FUZZ_CHECK(in_parts(&parts, text, size, &random) == (found = csv_records_next(&r, text + from, size - from)));
        FUZZ_CHECK(parts.position == r.position && parts.state == r.state);
        FUZZ_CHECK((found == CSV_MORE && !csv_records_in_record(&r)) || parts.record == r.record);
        FUZZ_CHECK(found != CSV_RECORD || text[r.position - 1] == '\n' || text[r.position - 1] == '\r');
        if (header && found == CSV_RECORD && records++ < 1000)
            check_record(&record, header, text + r.record, (size_t)(r.position - r.record));
        if (found == CSV_UNCLOSED) {
            size_t line = (size_t)r.quote + csv_line(text + r.quote, size - (size_t)r.quote);

            FUZZ_CHECK(r.position == r.quote + CSV_MAX_BYTES || r.position == r.quote + CSV_MAX_BYTES + 1);
            csv_records_begin(&r, delimiter, line);
        }
    } while (found != CSV_MORE);
    csv_header_free(header);
    record_free(&record);
    record_fields_free(&fields);
    return 0;
}
