/*
 * scan_records.c: `leat-bench-dev scan`: what it costs to bring records from files to the tokenizer, each step alone:
 * reading and decompressing; finding lines; scanning JSON and unescaping the text.
 *
 * Lines and records are measured on blocks that were just copied, because a packer has them in the cache of the core,
 * too. The best of several runs counts, in CPU time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/status.h"
#include "bench/measure/machine.h"
#include "bench/subcommands.h"
#include "cli/units.h"
#include "corpus/lines.h"
#include "corpus/record/record.h"
#include "corpus/streams/byte_stream.h"

#define BLOCK ((size_t)1 << 20)

struct scan_values {
    const char *field, *id;
    uint64_t runs;
    bool json;
};

const struct option_row bench_scan_options[] = {
    BENCH_FIELD(scan_values),
    { BENCH_OPTION(scan_values, "id", OPTION_TEXT, id, "FIELD", "the member that holds the id"), .standard = "id" },
    BENCH_RUNS(scan_values, "5", "runs of each step, of which the best counts"),
    BENCH_JSON(scan_values),
    OPTIONS_END,
};

/* All files' text, with a newline after each. */
struct input {
    char *bytes;
    size_t used, room;
    uint64_t raw_bytes;
};

struct rates {
    double read, lines, records; /* CPU seconds of the best run */
    uint64_t line_count, record_count, text_bytes, refused;
};

/* Reads a file; its text is kept in `in`, or if that is NULL in a block that is used again and again. */
static enum leat_status read_file(const char *path, struct input *in, char *block, struct leat_error *err)
{
    struct byte_stream *stream;
    enum leat_status s = byte_stream_open(&stream, path, err);
    size_t got = 1;

    while (s == LEAT_OK && got > 0) {
        if (in)
            s = GROW(in->bytes, in->used + BLOCK + 1, in->room, err);
        if (s == LEAT_OK)
            s = byte_stream_read(stream, in ? in->bytes + in->used : block, BLOCK, &got, err);
        if (s == LEAT_OK && in)
            in->used += got;
    }
    if (s == LEAT_OK && in) {
        in->raw_bytes += byte_stream_raw_position(stream);
        in->bytes[in->used++] = '\n';
    }
    byte_stream_close(stream);
    return s;
}

/* Bytes up to the last newline, included, which are whole lines; 0 without a newline. */
static size_t whole_lines(const char *bytes, size_t count)
{
    const char *last = count > 0 ? memrchr(bytes, '\n', count) : NULL;

    return last ? (size_t)(last - bytes) + 1 : 0;
}

/* The line that begins at *at, before `end`: its bytes without the newline. *at moves to the start of the next one. */
static size_t next_line(const char **at, const char *end)
{
    const char *line = *at, *newline = memchr(line, '\n', (size_t)(end - line));

    *at = newline ? newline + 1 : end;
    return (size_t)((newline ? newline : end) - line);
}

/* A block of whole lines of the input at `at`, copied; a line that is longer than a block makes it longer. */
static size_t next_block(const struct input *in, size_t at, char **block, size_t *room)
{
    size_t bytes = in->used - at < BLOCK ? in->used - at : BLOCK, whole = whole_lines(in->bytes + at, bytes);
    const char *newline;

    if (whole == 0) {
        newline = memchr(in->bytes + at, '\n', in->used - at);
        whole = newline ? (size_t)(newline - (in->bytes + at)) + 1 : in->used - at;
    }
    if (whole > *room) {
        free(*block);
        *block = malloc(whole);
        *room = *block ? whole : 0;
    }
    if (*block)
        memcpy(*block, in->bytes + at, whole);
    return whole;
}

static uint64_t count_lines(const char *block, size_t bytes)
{
    const char *at = block, *end = block + bytes;
    uint64_t lines = 0;

    for (; at < end; lines++)
        next_line(&at, end);
    return lines;
}

static void find_records(struct record *record, char *block, size_t bytes, struct rates *r)
{
    const char *at = block, *end = block + bytes;
    size_t text, id;

    while (at < end) {
        char *line = block + (at - block);
        size_t length = next_line(&at, end);

        if (lines_blank(line, length))
            continue;
        r->record_count++;
        if (record_read(record, line, length, NULL) != LEAT_OK || record_check(record, NULL) != LEAT_OK) {
            r->refused++;
            continue;
        }
        record_take_text(record, &text);
        record_take_id(record, &id);
        r->text_bytes += text;
    }
}

/* One run over the input in memory. */
static enum leat_status scan_once(struct record *record, const struct input *in, struct rates *r,
                                  struct leat_error *err)
{
    size_t room = BLOCK, bytes;
    char *block = malloc(room);

    r->lines = r->records = 0;
    r->line_count = r->record_count = r->text_bytes = r->refused = 0;
    for (size_t at = 0; at < in->used && block; at += bytes) {
        double began;

        bytes = next_block(in, at, &block, &room);
        if (!block)
            break;
        began = machine_thread_seconds();
        r->line_count += count_lines(block, bytes);
        r->lines += machine_thread_seconds() - began;
        began = machine_thread_seconds();
        find_records(record, block, bytes, r);
        r->records += machine_thread_seconds() - began;
    }
    if (!block)
        return status_no_memory(err, room);
    free(block);
    return LEAT_OK;
}

static double less(double a, double b)
{
    return a < b ? a : b;
}

static enum leat_status measure(const struct options_parsed *parsed, const struct scan_values *v, struct input *in,
                                struct rates *best, struct leat_error *err)
{
    struct record_fields fields = { 0 };
    struct record record = { 0 };
    char *block = malloc(BLOCK);
    enum leat_status s = block ? record_want_texts(&fields, v->field, v->id, err) : status_no_memory(err, BLOCK);

    if (s == LEAT_OK)
        s = record_make(&record, &fields, err);
    for (size_t i = 0; i < parsed->count && s == LEAT_OK; i++)
        s = read_file(parsed->words[i], in, block, err);
    for (uint64_t run = 0; run < v->runs && s == LEAT_OK; run++) {
        struct rates one = { .read = machine_thread_seconds() };

        for (size_t i = 0; i < parsed->count && s == LEAT_OK; i++)
            s = read_file(parsed->words[i], NULL, block, err);
        one.read = machine_thread_seconds() - one.read;
        if (s == LEAT_OK)
            s = scan_once(&record, in, &one, err);
        if (run > 0) {
            one.read = less(one.read, best->read);
            one.lines = less(one.lines, best->lines);
            one.records = less(one.records, best->records);
        }
        *best = one;
    }
    free(block);
    record_free(&record);
    record_fields_free(&fields);
    return s;
}

/* ---- The command ---- */

static void print_rates(const struct input *in, const struct scan_values *v, const struct rates *r)
{
    struct json j;

    if (!v->json) {
        machine_print();
        printf("files       %s (%s bytes)\n", units_bytes(in->raw_bytes).text, units_count(in->raw_bytes).text);
        printf("read        %s (%s bytes)\n", units_bytes(in->used).text, units_count(in->used).text);
        printf("records     %s in %s lines", units_count(r->record_count).text, units_count(r->line_count).text);
        printf(", %s refused\n", units_count(r->refused).text);
        printf("text        %s (%s bytes)\n", units_bytes(r->text_bytes).text, units_count(r->text_bytes).text);
        printf("reading     %s, %s of files\n", units_rate(machine_per((double)in->used, r->read), "B").text,
               units_rate(machine_per((double)in->raw_bytes, r->read), "B").text);
        printf("lines       %s\n", units_rate(machine_per((double)in->used, r->lines), "B").text);
        printf("scanning    %s\n", units_rate(machine_per((double)in->used, r->records), "B").text);
        return;
    }
    machine_json_begin(&j);
    json_u64(&j, "file_bytes", in->raw_bytes);
    json_u64(&j, "bytes", in->used);
    json_u64(&j, "lines", r->line_count);
    json_u64(&j, "records", r->record_count);
    json_u64(&j, "refused", r->refused);
    json_u64(&j, "text_bytes", r->text_bytes);
    json_double(&j, "read_mb_per_s", machine_per((double)in->used, r->read) / 1e6);
    json_double(&j, "lines_mb_per_s", machine_per((double)in->used, r->lines) / 1e6);
    json_double(&j, "scan_mb_per_s", machine_per((double)in->used, r->records) / 1e6);
    machine_json_end(&j);
}

int bench_scan(const struct command *self, int argc, char **argv)
{
    struct scan_values v = { .field = "text", .id = "id", .runs = 5 };
    struct rates best = { .read = 0 };
    struct input in = { .bytes = NULL };
    struct options_parsed parsed;
    struct leat_error err;
    enum leat_status s;
    int code;

    if (!command_parse(self, argc, argv, &v, &parsed, &code))
        return code;
    s = measure(&parsed, &v, &in, &best, &err);
    if (s == LEAT_OK)
        print_rates(&in, &v, &best);
    free(in.bytes);
    return bench_end(&parsed, s, &err);
}
