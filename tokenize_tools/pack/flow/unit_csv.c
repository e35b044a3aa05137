/*
 * unit_csv.c: units of a table in text, CSV or TSV. Its records may span lines, and whether a line end is in quotes
 * can only be known if the input is read from its start. So the thread that cuts reads the input as a stream,
 * compressed or not, and looks for the ends of records; a unit begins at the start of the input or right after a
 * record. Where it is cut says nothing about its records: the thread that encodes finds them again.
 *
 * Bytes that are no record (a quote that does not end, a record that is too long or that the end of the input cuts
 * off) are rejected while cutting, by the same rules for any size of units and any memory. pass_long() skips a
 * record that is too long without keeping it. It keeps only the bytes inside of open quotes, since, if these do not
 * end in time, the next record begins in there. A record that is long for a unit goes to a file without a name.
 */
#include <string.h>

#include "base/clock.h"
#include "base/status.h"
#include "corpus/csv/csv_header.h"
#include "corpus/lines.h"
#include "steps.h"
#include "unit_kinds.h"
#include "unit_stream.h"

#define TOO_LONG "the record has more than " CSV_MAX_NAME ", which is too long for one of CSV or TSV"
#define UNCLOSED "a quote in the record does not end within " CSV_MAX_NAME
#define CUT_OFF  "the input ends in the record"

/* ---- Cutting ---- */

/* Rejects the last record, which begins at `begin` of the text, where the unit's text ends; the next unit begins at
 * `end`. */
static enum leat_status lose(struct lane *l, struct unit *u, const char *reason, size_t begin, size_t end,
                             struct leat_error *err)
{
    const char *text = (const char *)u->text.bytes;
    const struct packer_document lost = {
        .input = u->input, .offset = l->csv.record, .line = lines_count(text, begin), .text.begin = begin
    };
    enum leat_status s = documents_reject(&u->docs, &lost, reason, "", text + begin, end - begin, err);

    u->length = end;
    u->csv.lost_lines = lines_count(text + begin, end - begin);
    csv_records_begin(&l->csv, l->csv.delimiter, u->offset + end);
    if (s == LEAT_OK)
        s = unit_stream_carry(l, &u->text, end, err);
    u->text.size = begin;
    return s;
}

/*
 * Finds whether the line that has the open quote, which is at `quote` of the text, ends in time; then sets *end and
 * returns true. Otherwise the record goes on to the end of that line, and is too long, however much of it the text
 * has by now.
 */
static bool find_line_end(struct lane *l, const struct unit *u, size_t quote, size_t *end)
{
    const char *text = (const char *)u->text.bytes;
    size_t left = u->text.size - quote;

    *end = quote + csv_line(text + quote, left < CSV_MAX_BYTES ? left : CSV_MAX_BYTES);
    if (text[*end - 1] == '\n' || text[*end - 1] == '\r')
        return true;
    csv_records_break(&l->csv);
    return false;
}

static bool is_damaged(const struct unit *u)
{
    return u->end_count > 0 && u->ends[u->end_count - 1].damage.why.bytes > 0;
}

/* Skips a record that is too long, with which the unit ends, and rejects it. `lost` says where it is, and `sample` has
 * its first bytes. `from` is the byte of the input at which the text begins. */
static enum leat_status pass_long(struct lane *l, struct unit *u, const struct packer_document *lost,
                                  const char *sample, struct leat_error *err)
{
    struct csv_records *r = &l->csv;
    uint64_t from = u->offset;
    enum csv_found found = CSV_MORE;
    enum leat_status s = LEAT_OK;
    size_t end = 0, got;

    while (s == LEAT_OK && found == CSV_MORE && !l->ended) {
        size_t drop = (size_t)((csv_records_in_quotes(r) ? r->quote : r->position) - from);

        u->csv.lost_lines += lines_count((char *)u->text.bytes, drop);
        memmove(u->text.bytes, u->text.bytes + drop, u->text.size - drop);
        u->text.size -= drop;
        from += drop;
        s = unit_stream_read(l, u, &u->text, LONG_CHUNK, &got, err);
        drop = (size_t)(r->position - from);
        if (s == LEAT_OK)
            found = csv_records_next(r, (const char *)u->text.bytes + drop, u->text.size - drop);
        end = (size_t)(r->position - from);
        if (s == LEAT_OK && found == CSV_UNCLOSED && !find_line_end(l, u, (size_t)(r->quote - from), &end))
            found = CSV_MORE;
    }
    if (s != LEAT_OK)
        return s;
    u->length = from + end - u->offset;
    u->csv.lost_lines += lines_count((char *)u->text.bytes, end);
    csv_records_begin(r, r->delimiter, from + end);
    s = unit_stream_carry(l, &u->text, end, err);
    u->text.size = 0;
    return s == LEAT_OK ? documents_reject(&u->docs, lost,
                                           found == CSV_UNCLOSED ? UNCLOSED
                                           : is_damaged(u)       ? CUT_OFF
                                                                 : TOO_LONG,
                                           "", sample, REJECT_SAMPLE, err)
                        : s;
}

static enum leat_status cut_long(struct lane *l, struct unit *u, struct leat_error *err)
{
    size_t begin = (size_t)(l->csv.record - u->offset);
    const struct packer_document lost = { .input = u->input,
                                          .offset = l->csv.record,
                                          .line = lines_count((char *)u->text.bytes, begin) };
    char sample[REJECT_SAMPLE];

    memcpy(sample, u->text.bytes + begin, sizeof sample);
    return pass_long(l, u, &lost, sample, err);
}

/* Writes a long record to a file. The unit's text has nothing else but empty lines. */
static enum leat_status spool_record(struct lane *l, struct unit *u, size_t begin, struct leat_error *err)
{
    const char *text = (const char *)u->text.bytes;
    enum leat_status s = spool_open(&u->record, l->setup->output, err);

    u->kind = &unit_csv_record;
    u->csv.record = u->offset + begin;
    u->csv.lead_lines = lines_count(text, begin);
    u->newlines = lines_count(text, u->text.size);
    if (s == LEAT_OK)
        s = spool_append(&u->record, text + begin, u->text.size - begin, err);
    buffer_free(&u->text);
    return s;
}

/* Ends the unit at byte `end` of the text, where the next one begins. */
static enum leat_status end_unit(struct lane *l, struct unit *u, size_t end, struct leat_error *err)
{
    size_t begin = (size_t)(l->csv.record - u->offset);
    enum leat_status s = unit_stream_carry(l, &u->text, end, err);

    csv_records_begin(&l->csv, l->csv.delimiter, u->offset + end);
    u->length = end;
    return s == LEAT_OK && end > begin && end - begin > l->setup->long_bytes ? spool_record(l, u, begin, err) : s;
}

/* Ends the input, with a record that goes to its end, or is cut off. */
static enum leat_status end_input(struct lane *l, struct unit *u, struct leat_error *err)
{
    bool open = csv_records_in_record(&l->csv);
    uint64_t bytes = l->csv.position - l->csv.record;

    if (open && (bytes > CSV_MAX_BYTES || is_damaged(u)))
        return lose(l, u, is_damaged(u) ? CUT_OFF : TOO_LONG, (size_t)(l->csv.record - u->offset), u->text.size, err);
    return end_unit(l, u, u->text.size, err);
}

static enum leat_status cut_records(struct lane *l, struct unit *u, struct leat_error *err)
{
    struct csv_records *r = &l->csv;
    size_t whole = 0; /* bytes up to the end of a record, or of empty lines */
    bool any = false; /* true if there are records in these bytes */
    enum leat_status s = buffer_append(&u->text, l->carry.bytes, l->carry.size, err);

    u->kind = &unit_csv;
    u->csv.header = l->header;
    l->carry.size = 0;
    while (s == LEAT_OK) {
        size_t seen = (size_t)(r->position - u->offset), begin, end, got;
        /* if nothing has been read yet, there is no pointer to add to */
        const char *new = seen < u->text.size ? (const char *)u->text.bytes + seen : "";
        enum csv_found found = csv_records_next(r, new, u->text.size - seen);

        begin = (size_t)(r->record - u->offset);
        end = (size_t)(r->position - u->offset);
        if (found == CSV_UNCLOSED && find_line_end(l, u, (size_t)(r->quote - u->offset), &end))
            return lose(l, u, UNCLOSED, begin, end, err);
        if (found == CSV_RECORD && end - begin > CSV_MAX_BYTES)
            return lose(l, u, TOO_LONG, begin, end, err);
        if (found == CSV_RECORD && any && end - begin > l->setup->long_bytes)
            return end_unit(l, u, whole, err);
        if (!csv_records_in_record(r))
            whole = end;
        any = any || found == CSV_RECORD;
        if (found == CSV_RECORD && whole >= l->setup->unit_bytes)
            return end_unit(l, u, whole, err);
        if (found != CSV_MORE)
            continue;
        if (l->ended)
            return end_input(l, u, err);
        if (whole > 0 && u->text.size >= l->setup->unit_bytes)
            return end_unit(l, u, whole, err);
        if (csv_records_in_record(r) && end - begin > CSV_MAX_BYTES)
            return cut_long(l, u, err);
        s = unit_stream_read(l, u, &u->text, unit_stream_room(l, u), &got, err);
    }
    return s;
}

static enum leat_status cut_csv(struct lane *l, struct unit *u, struct leat_error *err)
{
    enum leat_status s = lane_open(l, err);
    uint64_t before;

    if (s != LEAT_OK)
        return s;
    before = unit_stream_begin(l, u);
    s = cut_records(l, u, err);
    unit_stream_count(l, u, before);
    return s;
}

/* ---- Encoding ---- */

/* Finds the texts of all records; the last one may have no line end. */
static enum leat_status scan_records(struct pack_worker *w, struct unit *u, char delimiter, struct leat_error *err)
{
    char *text = (char *)u->text.bytes;
    uint64_t began = clock_cpu_ns(), lines = 0;
    enum csv_found found = CSV_RECORD;
    enum leat_status s = LEAT_OK;
    struct csv_records r;
    size_t counted = 0;

    w->record.header = u->csv.header;
    csv_records_begin(&r, delimiter, u->offset + (u->offset == 0 ? lines_mark(text, u->text.size) : 0));
    while (s == LEAT_OK && found == CSV_RECORD) {
        size_t seen = (size_t)(r.position - u->offset), begin, end;

        found = csv_records_next(&r, text + seen, u->text.size - seen);
        if (found != CSV_RECORD && !csv_records_in_record(&r))
            break;
        begin = (size_t)(r.record - u->offset);
        end = (size_t)(r.position - u->offset);
        lines += lines_count(text + counted, begin - counted);
        counted = end;
        seen = lines_count(text + begin, end - begin); /* counted before scanning, which writes over the text */
        if (r.record != csv_header_at(u->csv.header))
            s = step_scan_record(w, u, text, (struct stretch) { begin, end - begin }, r.record, lines, err);
        lines += seen;
    }
    if (s == LEAT_OK)
        s = step_chat_end(w, u, err);
    u->spent_ns[PACK_STEP_SCAN] += clock_cpu_ns() - began;
    return s;
}

static enum leat_status encode_csv(struct pack_worker *w, struct unit *u, int fd, struct leat_error *err)
{
    size_t rejects = u->docs.reject_count;
    enum leat_status s = LEAT_OK;

    (void)fd;
    u->newlines = lines_count((char *)u->text.bytes, u->text.size) + u->csv.lost_lines;
    if (u->csv.header)
        s = scan_records(w, u, w->setup->inputs.items[u->input].format->delimiter, err);
    if (s == LEAT_OK)
        s = step_encode(w, u, (char *)u->text.bytes, err);
    if (rejects > 0 && u->docs.reject_count > rejects)
        documents_sort_rejects(&u->docs);
    return s;
}

static enum leat_status encode_record(struct pack_worker *w, struct unit *u, int fd, struct leat_error *err)
{
    const struct packer_document d = { .input = u->input, .offset = u->csv.record, .line = u->csv.lead_lines };

    (void)fd;
    w->record.header = u->csv.header;
    if (!u->csv.header || u->csv.record == csv_header_at(u->csv.header))
        return LEAT_OK;
    return long_record_encode(w, u, u->record.fd, 0, u->record.bytes, &d, err);
}

static bool takes_tables(const struct input *in)
{
    return in->format->delimiter != 0;
}

const struct unit_kind unit_csv = { .takes = takes_tables, .cut = cut_csv, .encode = encode_csv, .numbers = true };
const struct unit_kind unit_csv_record = { .encode = encode_record };
