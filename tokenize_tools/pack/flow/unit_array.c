/*
 * unit_array.c: units of JSON whose records are not in lines: they are in one array, or stand one after another. The
 * thread that cuts reads the input as a stream, whether it is compressed or not, since the end of a record can only
 * be found if the input is read from its start; it looks for the ends of records, and units end there. So a unit
 * begins at the start of the input or right after a record, and the thread that encodes it needs only the layout to
 * find its records. A record that grows too long for memory goes to a file without a name.
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/status.h"
#include "corpus/json/json_records.h"
#include "corpus/lines.h"
#include "steps.h"
#include "unit_kinds.h"
#include "unit_stream.h"

/* Ends the input at a byte that cannot stand there. No records are read after it, but the input is read to its end,
 * so that what the dataset says of it is the same for any memory. */
static enum leat_status end_broken(struct lane *l, struct unit *u, struct leat_error *err)
{
    struct leat_error why, later;
    enum leat_status s = buffer_reserve(&l->carry, LONG_CHUNK, err);
    char reason[UNIT_STREAM_REASON];
    size_t got = 1;

    if (s != LEAT_OK)
        return s;
    snprintf(reason, sizeof reason, "its %s is broken: %s is expected", unit_stream_layout(l),
             json_records_expected(&l->records));
    status_set_at(&why, LEAT_E_TEXT, byte_stream_name(l->stream), l->records.position, "%s, at byte %llu: %s",
                  byte_stream_name(l->stream), (unsigned long long)l->records.position, reason);
    while (s == LEAT_OK && got > 0) {
        s = pack_setup_check_stop(l->setup, byte_stream_name(l->stream), err);
        if (s != LEAT_OK)
            return s;
        s = byte_stream_read(l->stream, l->carry.bytes, LONG_CHUNK, &got, &later);
    }
    l->carry.size = 0;
    if (s == LEAT_OK || s == LEAT_E_TRUNCATED || s == LEAT_E_TEXT)
        return unit_stream_end(l, u, &why, reason, err);
    *err = later;
    return s;
}

/* ---- Cutting ---- */

/* Writes the part of the record in the text, which begins at `from` of the input, to the record's file. Bytes before
 * the record are only counted. */
static enum leat_status spool_text(struct lane *l, struct unit *u, uint64_t from, bool record, struct leat_error *err)
{
    const struct json_records *r = &l->records;
    const char *text = (const char *)u->text.bytes;
    size_t all = (size_t)(r->position - from), lead = all;

    if (record)
        lead = r->record > from ? (size_t)(r->record - from) : 0;
    u->array.lead_lines += lines_count(text, lead);
    u->newlines += lines_count(text, all);
    return spool_append(&u->record, text + lead, all - lead, err);
}

/* Writes the next record to a file, since the text is too long and holds no whole record. */
static enum leat_status spool_record(struct lane *l, struct unit *u, struct leat_error *err)
{
    enum json_records_found found = JSON_RECORDS_MORE;
    uint64_t from = u->offset;
    enum leat_status s = spool_open(&u->record, l->setup->output, err);

    u->kind = &unit_element;
    while (s == LEAT_OK) {
        size_t got;

        s = spool_text(l, u, from, found == JSON_RECORDS_RECORD || json_records_in_record(&l->records), err);
        if (s != LEAT_OK || found != JSON_RECORDS_MORE || l->ended)
            break;
        from = l->records.position;
        u->text.size = 0;
        s = unit_stream_read(l, u, &u->text, LONG_CHUNK, &got, err);
        found = json_records_next(&l->records, (const char *)u->text.bytes, u->text.size);
    }
    u->length = l->records.position - u->offset;
    if (s == LEAT_OK && found == JSON_RECORDS_RECORD)
        s = unit_stream_carry(l, &u->text, (size_t)(l->records.position - from), err);
    if (s == LEAT_OK && found == JSON_RECORDS_BROKEN)
        s = end_broken(l, u, err);
    buffer_free(&u->text);
    return s;
}

/* Reads whole records into the unit. */
static enum leat_status cut_records(struct lane *l, struct unit *u, struct leat_error *err)
{
    struct json_records *r = &l->records;
    size_t records = 0, got; /* bytes up to the end of the last record */
    enum leat_status s = buffer_append(&u->text, l->carry.bytes, l->carry.size, err);

    u->kind = &unit_array;
    u->array.layout = l->layout;
    l->carry.size = 0;
    while (s == LEAT_OK) {
        size_t seen = (size_t)(r->position - u->offset);
        /* if nothing has been read yet, there is no pointer to add to */
        const char *new = seen < u->text.size ? (const char *)u->text.bytes + seen : "";
        enum json_records_found found = json_records_next(r, new, u->text.size - seen);

        if (found == JSON_RECORDS_RECORD) {
            records = (size_t)(r->position - u->offset);
        } else if (found == JSON_RECORDS_BROKEN) {
            u->text.size = (size_t)(r->position - u->offset);
            s = end_broken(l, u, err);
            break;
        } else if (l->ended) {
            break;
        } else if (records > 0 && u->text.size >= l->setup->unit_bytes) {
            json_records_begin(r, l->layout, u->offset + records);
            s = unit_stream_carry(l, &u->text, records, err);
            break;
        } else if (records == 0 && u->text.size > l->setup->long_bytes) {
            return spool_record(l, u, err);
        } else {
            s = unit_stream_read(l, u, &u->text, unit_stream_room(l, u), &got, err);
        }
    }
    u->length = u->text.size;
    return s;
}

static enum leat_status cut_array(struct lane *l, struct unit *u, struct leat_error *err)
{
    uint64_t before = unit_stream_begin(l, u);
    enum leat_status s = cut_records(l, u, err);

    unit_stream_count(l, u, before);
    return s;
}

/* ---- Encoding ---- */

/* Finds the texts of all records. A record that the end of the input has cut off will be rejected. */
static enum leat_status scan_records(struct pack_worker *w, struct unit *u, struct leat_error *err)
{
    char *text = (char *)u->text.bytes;
    uint64_t began = clock_cpu_ns(), lines = 0;
    enum json_records_found found = JSON_RECORDS_RECORD;
    enum leat_status s = LEAT_OK;
    struct json_records r;
    size_t counted = 0;

    json_records_begin(&r, u->array.layout, u->offset);
    while (s == LEAT_OK && found == JSON_RECORDS_RECORD) {
        size_t seen = (size_t)(r.position - u->offset), begin, end;

        found = json_records_next(&r, text + seen, u->text.size - seen);
        if (found != JSON_RECORDS_RECORD && !json_records_in_record(&r))
            break;
        begin = (size_t)(r.record - u->offset);
        end = (size_t)(r.position - u->offset);
        lines += lines_count(text + counted, begin - counted);
        counted = end;
        seen = lines_count(text + begin, end - begin); /* counted before scanning, which writes over the text */
        s = step_scan_record(w, u, text, (struct stretch) { begin, end - begin }, r.record, lines, err);
        lines += seen;
    }
    if (s == LEAT_OK)
        s = step_chat_end(w, u, err);
    u->spent_ns[PACK_STEP_SCAN] += clock_cpu_ns() - began;
    return s;
}

static enum leat_status encode_array(struct pack_worker *w, struct unit *u, int fd, struct leat_error *err)
{
    enum leat_status s;

    (void)fd;
    u->newlines = lines_count((char *)u->text.bytes, u->text.size);
    s = scan_records(w, u, err);
    return s == LEAT_OK ? step_encode(w, u, (char *)u->text.bytes, err) : s;
}

static enum leat_status encode_element(struct pack_worker *w, struct unit *u, int fd, struct leat_error *err)
{
    uint64_t offset = u->offset + u->length - u->record.bytes;

    (void)fd;
    return u->record.bytes == 0
               ? LEAT_OK
               : long_record_encode(
                     w, u, u->record.fd, 0, u->record.bytes,
                     &(struct packer_document) { .input = u->input, .offset = offset, .line = u->array.lead_lines },
                     err);
}

const struct unit_kind unit_array = { .cut = cut_array, .encode = encode_array };
const struct unit_kind unit_element = { .encode = encode_element };
