/*
 * long_record.c: a record of JSON lines that is too big for memory. It is in a file and is read twice: once to check
 * it and find its text, once to take the text out.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/status.h"
#include "corpus/json/json_push.h"
#include "corpus/lines.h"
#include "steps.h"

struct long_record {
    struct pack_worker *w;
    int fd;
    const char *name;
    uint64_t at, left; /* what comes next of the string between its quotes */
    struct json_unescape state;
    char raw[LONG_CHUNK / 2];
    char text[LONG_CHUNK / 2 + JSON_UNESCAPE_HELD];
};

static enum leat_status read_chunk(struct long_record *r, uint64_t at, size_t count, struct leat_error *err)
{
    enum leat_status s = pack_setup_check_stop(r->w->setup, r->name, err);

    return s == LEAT_OK ? file_read_at(r->fd, at, r->raw, count, r->name, err) : s;
}

/* Feeds the whole record; *pushed then says what it holds, or `err` why it is rejected. A line of nothing but white
 * space (*blank) is not a record. */
static enum leat_status check(struct long_record *r, struct json_push *push, uint64_t at, uint64_t bytes,
                              struct json_pushed *pushed, bool *blank, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    bool enough = false;

    *blank = true;
    for (uint64_t done = 0; s == LEAT_OK && !enough && done < bytes;) {
        size_t count = bytes - done < sizeof r->raw ? (size_t)(bytes - done) : sizeof r->raw;

        s = read_chunk(r, at + done, count, err);
        *blank = *blank && s == LEAT_OK && lines_blank(r->raw, count);
        if (s == LEAT_OK)
            s = json_push_feed(push, r->raw, count, &enough, err);
        done += count;
    }
    return s == LEAT_OK ? json_push_end(push, pushed, err) : s;
}

/* Scans the record once more for other fields. */
static enum leat_status scan_again(struct long_record *r, const struct json_fields *fields, uint64_t at, uint64_t bytes,
                                   struct json_scan *scan, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    json_scan_begin(scan, fields);
    for (uint64_t done = 0; s == LEAT_OK && done < bytes;) {
        size_t count = bytes - done < sizeof r->raw ? (size_t)(bytes - done) : sizeof r->raw;

        s = read_chunk(r, at + done, count, err);
        if (s == LEAT_OK)
            json_scan_feed(scan, r->raw, count);
        done += count;
    }
    return s;
}

/* *holds: the conditions of a pair hold, or the record will be rejected. */
static enum leat_status check_pair(struct long_record *r, size_t pair, uint64_t at, uint64_t bytes, bool *holds,
                                   struct leat_error *err)
{
    const struct json_keep *keep = r->w->setup->keep;
    struct json_scan scan;
    enum leat_status s = scan_again(r, json_keep_pair(keep, pair), at, bytes, &scan, err);

    for (unsigned i = 0; s == LEAT_OK && *holds && i < 2 && json_scan_is_object(&scan); i++) {
        size_t count = json_keep_bytes(keep, pair, i, &scan.place[i]);

        s = read_chunk(r, at + scan.place[i].begin, count, err); /* conditions are shorter than the room */
        *holds = s == LEAT_OK && json_keep_place_holds(keep, pair, i, &scan.place[i], r->raw, count);
    }
    return s;
}

/* Finds the value that the record's dataset is chosen by. */
static enum leat_status find_by(struct long_record *r, uint64_t at, uint64_t bytes, struct leat_error *err)
{
    const struct json_fields *field = r->w->setup->by;
    struct json_scan scan;
    const struct json_place *place = &scan.place[JSON_TEXT];
    enum leat_status s = scan_again(r, field, at, bytes, &scan, err);

    r->w->by.bytes = 0;
    if (s != LEAT_OK || !json_scan_is_object(&scan))
        return s;
    s = json_by_check(field, place, err);
    if (s == LEAT_OK) /* values are shorter than the room */
        s = read_chunk(r, at + place->begin, (size_t)place->bytes, err);
    return s == LEAT_OK ? json_by_take(&r->w->by, field, place, r->raw, err) : s;
}

static enum leat_status next_chunk(void *context, const uint8_t **bytes, size_t *count, struct leat_error *err)
{
    struct long_record *r = context;
    enum leat_status s = LEAT_OK;

    *bytes = (const uint8_t *)r->text;
    *count = 0;
    while (s == LEAT_OK && *count == 0 && r->left > 0) {
        size_t raw = r->left < sizeof r->raw ? (size_t)r->left : sizeof r->raw;

        s = read_chunk(r, r->at, raw, err);
        r->at += raw;
        r->left -= raw;
        if (s == LEAT_OK)
            json_unescape_chunk(&r->w->setup->fields, &r->state, r->raw, raw, r->left == 0, r->text, count);
    }
    return s;
}

static enum leat_status encode(struct long_record *r, struct unit *u, const struct json_pushed *pushed, uint64_t offset,
                               uint64_t line, bool *rejected, struct leat_error *err)
{
    struct unit_document *d = unit_add_document(u, err);
    enum leat_status s;

    if (!d)
        return LEAT_E_NO_MEMORY;
    d->input = u->input;
    d->offset = offset;
    d->line = line;
    s = step_keep_id(r->w, u, d, pushed->id, pushed->id_bytes, err);
    if (s == LEAT_OK)
        s = long_text_encode(r->w, u, d, next_chunk, r, rejected, err);
    if (s == LEAT_OK && *rejected)
        u->document_count--;
    else if (s == LEAT_OK)
        u->not_json += pushed->has_nan;
    return s;
}

static enum leat_status run(struct long_record *r, struct unit *u, uint64_t at, uint64_t bytes, uint64_t offset,
                            uint64_t line, struct leat_error *err)
{
    struct json_pushed pushed;
    struct json_push *push;
    struct leat_error why;
    char sample[UNIT_SAMPLE];
    size_t sample_bytes = bytes < sizeof sample ? (size_t)bytes : sizeof sample; /* much white space may be before it */
    bool rejected = false, blank = false, kept = true;
    enum leat_status s = json_push_open(&push, &r->w->setup->fields, err);

    if (s != LEAT_OK)
        return s;
    s = file_read_at(r->fd, at, sample, sample_bytes, r->name, &why);
    for (size_t i = 0; s == LEAT_OK && kept && r->w->setup->keep && json_keep_pair(r->w->setup->keep, i); i++)
        s = check_pair(r, i, at, bytes, &kept, &why);
    if (s == LEAT_OK && !kept) {
        u->kept_out++;
        json_push_close(push);
        return LEAT_OK;
    }
    if (s == LEAT_OK)
        s = check(r, push, at, bytes, &pushed, &blank, &why);
    if (s == LEAT_OK && r->w->setup->by)
        s = find_by(r, at, bytes, &why);
    if (s == LEAT_OK) {
        r->at = at + pushed.text_begin;
        r->left = pushed.text_raw_bytes;
        s = encode(r, u, &pushed, offset, line, &rejected, &why);
        if (rejected)
            long_text_sample(r->w, sample, &sample_bytes);
    } else if (s == LEAT_E_TEXT) {
        rejected = !blank;
        s = LEAT_OK;
    }
    json_push_close(push);
    if (s != LEAT_OK && err)
        *err = why;
    return s == LEAT_OK && rejected ? unit_reject(u, u->input, offset, line, why.message, sample, sample_bytes, err)
                                    : s;
}

/* Reads the record into memory, and does with it what is done with shorter ones. */
static enum leat_status scan_whole(struct long_record *r, struct unit *u, char *text, uint64_t at, size_t bytes,
                                   uint64_t offset, uint64_t line, struct leat_error *err)
{
    size_t before = u->document_count;
    struct unit_document *d;
    bool rejected;
    enum leat_status s = file_read_at(r->fd, at, text, bytes, r->name, err);

    if (s == LEAT_OK && lines_blank(text, bytes))
        return LEAT_OK;
    if (s == LEAT_OK)
        s = step_scan_record(r->w, u, text, (struct stretch) { 0, bytes }, offset, line, err);
    if (s == LEAT_OK)
        s = step_chat_end(r->w, u, err);
    if (s != LEAT_OK || u->document_count == before)
        return s;
    d = &u->documents[before];
    if (d->encoded)
        return LEAT_OK;
    s = step_encode_text(r->w, u, d, text + d->text.begin, d->text.bytes, &rejected, err);
    u->document_count -= s == LEAT_OK && rejected;
    return s;
}

/* The same for one that is not read whole: all that counts is whether it is a record. */
static enum leat_status refuse_whole(struct long_record *r, struct unit *u, uint64_t at, uint64_t bytes,
                                     uint64_t offset, uint64_t line, struct leat_error *err)
{
    char sample[UNIT_SAMPLE];
    bool blank = true;
    enum leat_status s = file_read_at(r->fd, at, sample, sizeof sample, r->name, err);

    for (uint64_t done = 0; s == LEAT_OK && blank && done < bytes;) {
        size_t count = bytes - done < sizeof r->raw ? (size_t)(bytes - done) : sizeof r->raw;

        s = read_chunk(r, at + done, count, err);
        blank = s == LEAT_OK && lines_blank(r->raw, count);
        done += count;
    }
    return s == LEAT_OK && !blank
               ? unit_reject(u, u->input, offset, line, STEP_WHOLE_REASON, sample, sizeof sample, err)
               : s;
}

static enum leat_status run_whole(struct long_record *r, struct unit *u, uint64_t at, uint64_t bytes, uint64_t offset,
                                  uint64_t line, struct leat_error *err)
{
    struct buffer text = { 0 };
    enum leat_status s;

    if (bytes > r->w->setup->whole_bytes)
        return refuse_whole(r, u, at, bytes, offset, line, err);
    s = buffer_reserve(&text, (size_t)bytes, err);
    if (s == LEAT_OK)
        s = scan_whole(r, u, (char *)text.bytes, at, (size_t)bytes, offset, line, err);
    buffer_free(&text);
    return s;
}

enum leat_status long_record_encode(struct pack_worker *w, struct unit *u, int fd, uint64_t at, uint64_t bytes,
                                    uint64_t offset, uint64_t line, struct leat_error *err)
{
    const struct input *in = &w->setup->inputs.items[u->input];
    struct long_record *r;
    char begin[3] = { 0 };
    size_t mark;
    enum leat_status s;

    if (!in->format->is_json)
        return unit_reject(u, u->input, offset, line, "the record is too long: only JSON is taken in chunks", "", 0,
                           err);
    r = malloc(sizeof *r);
    if (!r)
        return status_no_memory(err, sizeof *r);
    memset(r, 0, offsetof(struct long_record, raw));
    r->w = w;
    r->fd = fd;
    r->name = in->path;
    s = offset == 0 && bytes >= sizeof begin ? file_read_at(fd, at, begin, sizeof begin, r->name, err) : LEAT_OK;
    mark = lines_mark(begin, sizeof begin);
    if (s == LEAT_OK && w->setup->whole_records)
        s = run_whole(r, u, at + mark, bytes - mark, offset, line, err);
    else if (s == LEAT_OK)
        s = run(r, u, at + mark, bytes - mark, offset, line, err);
    free(r);
    return s;
}
