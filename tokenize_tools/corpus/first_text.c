/* first_text.c: reads the first record of an input, of any format. */
#include "first_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/status.h"
#include "base/utf8.h"
#include "corpus/csv/csv_header.h"
#include "lines.h"
#include "parquet/parquet.h"
#include "record/record.h"
#include "streams/byte_stream.h"
#include "streams/raw_input.h"
#include "json/json_records.h"

#define HEAD_BYTES ((size_t)1 << 20)    /* bytes in which the first record is looked for */
#define PAGE_BYTES ((uint64_t)64 << 20) /* memory for pages, and for the places of row groups */

static void copy_characters(char *out, size_t room, const void *text, size_t bytes)
{
    bytes = bytes < room ? bytes : room - 1;
    bytes -= utf8_open_end(text, bytes);
    memcpy(out, text, bytes);
    out[bytes] = '\0';
}

/* ---- Records and texts ---- */

/* Finds the first line or element that is not blank. Returns false if the head does not hold one to its end. */
static bool first_record(char *head, size_t bytes, char **record, size_t *length)
{
    struct json_records r;
    size_t at = lines_mark(head, bytes);
    bool more;
    enum json_layout layout = json_layout(head, bytes, &more);

    if (layout != JSON_LINES) {
        json_records_begin(&r, layout, 0);
        if (json_records_next(&r, head, bytes) != JSON_RECORDS_RECORD)
            return false;
        *record = head + r.record;
        *length = (size_t)(r.position - r.record);
        return true;
    }
    for (char *end; at < bytes; at = (size_t)(end - head) + 1) {
        end = memchr(head + at, '\n', bytes - at);
        if (!end)
            end = head + bytes;
        *record = head + at;
        *length = (size_t)(end - *record);
        if (!lines_blank(*record, *length))
            return true;
    }
    return false;
}

/* Writes the text of a record; nothing for a record that will be rejected. */
static enum leat_status put_field(char *out, size_t room, const char *field, const char *json, size_t bytes,
                                  struct leat_error *err)
{
    struct record_fields fields = { 0 };
    struct record record = { 0 };
    const char *text;
    enum leat_status s = record_want_texts(&fields, field, NULL, err);

    if (s == LEAT_OK)
        s = record_make(&record, &fields, err);
    if (s == LEAT_OK && record_read(&record, json, bytes, NULL) == LEAT_OK && record_check(&record, NULL) == LEAT_OK) {
        text = record_take_text(&record, &bytes);
        copy_characters(out, room, text, bytes);
    }
    record_free(&record);
    record_fields_free(&fields);
    return s;
}

/* Writes the first text of a table; nothing if it cannot be found. */
static enum leat_status put_csv(char *out, size_t room, const struct input *in, const char *field, char *head,
                                size_t bytes, struct leat_error *err)
{
    struct record_fields fields = { 0 };
    struct record record = { 0 };
    struct csv_header *header = NULL;
    struct csv_records r;
    const char *text;
    enum leat_status s = record_want_texts(&fields, field, NULL, err);

    csv_records_begin(&r, in->format->delimiter, lines_mark(head, bytes));
    if (s == LEAT_OK)
        s = record_make(&record, &fields, err);
    if (s == LEAT_OK &&
        csv_header_read(&header, &fields, in->path, in->format->delimiter, head, bytes, false, NULL) == LEAT_OK &&
        header && csv_records_next(&r, head + r.position, bytes - (size_t)r.position) == CSV_RECORD &&
        csv_records_next(&r, head + r.position, bytes - (size_t)r.position) == CSV_RECORD) {
        record.header = header;
        if (csv_read(&record, head + r.record, (size_t)(r.position - r.record), NULL) == LEAT_OK) {
            text = record_take_text(&record, &bytes);
            copy_characters(out, room, text, bytes);
        }
    }
    csv_header_free(header);
    record_free(&record);
    record_fields_free(&fields);
    return s;
}

static enum leat_status of_stream(const struct input *in, const char *field, const struct input_stop *stop, char *out,
                                  size_t room, struct leat_error *err)
{
    char *head = malloc(HEAD_BYTES), *record;
    struct byte_stream *stream;
    size_t bytes = 0;
    enum leat_status s;

    if (!head)
        return status_no_memory(err, HEAD_BYTES);
    s = byte_stream_open_stoppable(&stream, in->place, in->path, in->object, NULL, stop, err);
    if (s == LEAT_OK)
        s = byte_stream_read(stream, head, HEAD_BYTES, &bytes, err);
    byte_stream_close(stream);
    if (s == LEAT_OK && in->format->delimiter)
        s = put_csv(out, room, in, field, head, bytes, err);
    else if (s == LEAT_OK && !in->format->is_json)
        copy_characters(out, room, head, bytes);
    else if (s == LEAT_OK && first_record(head, bytes, &record, &bytes))
        s = put_field(out, room, field, record, bytes, err);
    free(head);
    return s;
}

/* ---- Rows ---- */

struct file {
    struct input_file of;
    struct fetch *fetch; /* reader of an object; else NULL */
    const struct input_stop *stop;
};

static enum leat_status read_file(void *context, uint64_t offset, void *out, uint64_t count, struct leat_error *err)
{
    const struct file *f = context;

    return f->fetch ? fetch_read_all(f->fetch, offset, out, count, f->stop, err)
                    : input_read_at(&f->of, offset, out, count, f->stop, err);
}

/* Writes the first text of a row group. *found: the group has one. */
static enum leat_status of_group(const struct parquet_file *file, uint64_t group, char *out, size_t room, bool *found,
                                 struct leat_error *err)
{
    struct parquet_value values[PARQUET_MAX_COLUMNS] = { { NULL, 0 } };
    struct parquet_reader *reader;
    bool row = true;
    enum leat_status s = parquet_reader_open(&reader, file, NULL, group, 0, err);

    if (s == LEAT_OK)
        parquet_reader_limit(reader, PAGE_BYTES, false);
    while (s == LEAT_OK && row && !*found) {
        s = parquet_reader_next(reader, values, &row, err);
        *found = s == LEAT_OK && row && values[0].bytes;
    }
    if (*found)
        copy_characters(out, room, values[0].bytes, values[0].size);
    if (s == LEAT_E_NO_MEMORY && reader && parquet_reader_outgrew(reader)) {
        *found = true; /* the text is too large, and is not shown */
        s = LEAT_OK;
    }
    parquet_reader_close(reader);
    return s;
}

static enum leat_status of_rows(const struct input *in, const char *field, const struct input_stop *stop, char *out,
                                size_t room, struct leat_error *err)
{
    struct parquet_want want = { .path = field, .use = PARQUET_TEXT, .hint = LEAT_HINT_TEXT };
    struct file f = { .of = inputs_file(in, -1), .stop = stop };
    struct parquet_source source = { .read = read_file, .context = &f, .name = in->path, .most = PAGE_BYTES };
    struct parquet_file *file = NULL;
    bool found = false;
    enum leat_status s;

    if (in->object)
        s = fetch_open(&f.fetch, in->object, err);
    else
        s = input_open(&f.of.fd, &source.size, in->place, stop, err);
    if (in->object)
        source.size = in->size;
    if (s == LEAT_OK)
        s = parquet_open(&file, &source, &want, 1, err);
    for (uint64_t g = 0; s == LEAT_OK && !found && g < parquet_groups(file); g++)
        s = of_group(file, g, out, room, &found, err);
    parquet_close(file);
    file_close(&f.of.fd);
    fetch_close(f.fetch);
    return s;
}

enum leat_status first_text(const struct input *in, const char *field, const struct input_stop *stop, char *out,
                            size_t room, struct leat_error *err)
{
    out[0] = '\0';
    return in->format->rows ? of_rows(in, field, stop, out, room, err) : of_stream(in, field, stop, out, room, err);
}
