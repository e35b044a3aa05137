/* long_record.c: encodes a record of JSON that does not fit in memory. It is in a file and is read twice: first to
 * check it and find its text, then to take the text out. A record of CSV has a limit, and is read whole. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/status.h"
#include "corpus/json/json_unescape.h"
#include "corpus/lines.h"
#include "corpus/streams/raw_input.h"
#include "steps.h"

struct long_record {
    struct pack_worker *w;
    const struct packer_document *as_read;
    struct input_file file;
    const char *name;
    bool is_json;
    uint64_t at, left;    /* place of the rest of the string between its quotes, and its bytes */
    struct buffer values; /* values of the fields that judges look at, and the id */
    struct json_unescape state;
    char raw[LONG_CHUNK / 2];
    char text[LONG_CHUNK / 2 + JSON_UNESCAPE_HELD];
};

static enum leat_status read_at(const struct long_record *r, uint64_t at, void *to, uint64_t count,
                                struct leat_error *err)
{
    return input_read_at(&r->file, at, to, count, &r->w->setup->stop, err);
}

static enum leat_status read_chunk(struct long_record *r, uint64_t at, size_t count, struct leat_error *err)
{
    enum leat_status s = pack_setup_check_stop(r->w->setup, r->name, err);

    return s == LEAT_OK ? read_at(r, at, r->raw, count, err) : s;
}

/* Reads the values that judging the record needs. */
static enum leat_status read_values(struct long_record *r, uint64_t at, struct leat_error *err)
{
    struct record *record = &r->w->record;
    size_t needs = 1, used = 0; /* one byte more, so that values without bytes have a place */
    enum leat_status s;

    for (uint32_t i = 0; i < record->fields->count; i++)
        needs += record_needs(record, i);
    s = buffer_reserve(&r->values, needs, err);
    for (uint32_t i = 0; s == LEAT_OK && i < record->fields->count; i++) {
        char *to = (char *)r->values.bytes + used;
        size_t count = record_needs(record, i);

        if (count > 0)
            s = read_at(r, at + record_value(record, i)->begin, to, count, err);
        record_hold(record, i, to, count);
        used += count;
    }
    return s;
}

/* Finds the values that the record has, or why it is rejected. Sets *blank if it is a line of nothing but white
 * space, which is no record. */
static enum leat_status find_values(struct long_record *r, uint64_t at, uint64_t bytes, bool *blank,
                                    struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    bool good = true;

    *blank = true;
    record_begin(&r->w->record);
    for (uint64_t done = 0; s == LEAT_OK && good && done < bytes;) {
        size_t count = bytes - done < sizeof r->raw ? (size_t)(bytes - done) : sizeof r->raw;

        s = read_chunk(r, at + done, count, err);
        *blank = *blank && s == LEAT_OK && lines_blank(r->raw, count);
        good = s == LEAT_OK && record_feed(&r->w->record, r->raw, count);
        done += count;
    }
    if (s == LEAT_OK)
        s = record_end(&r->w->record, err);
    return s == LEAT_OK ? read_values(r, at, err) : s;
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
            json_unescape_chunk(r->w->setup->fields.paths.kernels, &r->state, r->raw, raw, r->left == 0, r->text,
                                count);
    }
    return s;
}

/* Makes the text at `at`, and the id, the unit's last document. */
static enum leat_status encode(struct long_record *r, struct unit *u, const struct packer_document *judged, uint64_t at,
                               bool *rejected, struct leat_error *err)
{
    struct record *record = &r->w->record;
    const struct record_value *text = record_value(record, record->fields->text);
    struct packer_document *d = documents_add(&u->docs, err);
    const char *id;
    size_t bytes;
    enum leat_status s;

    if (!d)
        return LEAT_E_NO_MEMORY;
    *d = *judged;
    r->at = at + text->begin;
    r->left = text->bytes;
    id = record_take_id(record, &bytes);
    s = step_keep_id(r->w->setup, u, &r->w->verdict, d, id ? id : "", bytes, err);
    if (s == LEAT_OK)
        s = long_text_encode(r->w, u, d, next_chunk, r, rejected, err);
    if (s == LEAT_OK && *rejected)
        u->docs.count--;
    else if (s == LEAT_OK)
        u->docs.counts[COUNT_NOT_JSON] += record->has_nan;
    return s;
}

static enum leat_status encode_record(struct long_record *r, struct unit *u, uint64_t at, uint64_t bytes,
                                      struct leat_error *err)
{
    struct packer_document judged = *r->as_read;
    struct pack_worker *w = r->w;
    struct leat_error why;
    char sample[REJECT_SAMPLE];
    size_t sample_bytes = bytes < sizeof sample ? (size_t)bytes : sizeof sample; /* leaves out white space before the
                                                                                    record, of which there may be
                                                                                    much */
    bool rejected = false, blank = false;
    enum leat_status s = read_at(r, at, sample, sample_bytes, &why);

    if (s == LEAT_OK)
        s = find_values(r, at, bytes, &blank, &why);
    if (s == LEAT_OK)
        s = step_judge(w->setup, u, &w->record, &w->verdict, &judged, &why);
    if (s == LEAT_OK && w->verdict.kept_out) {
        u->docs.counts[w->verdict.count]++;
        return LEAT_OK;
    }
    if (s == LEAT_OK)
        s = record_check(&w->record, &why);
    if (s == LEAT_OK) {
        s = encode(r, u, &judged, at, &rejected, &why);
        if (rejected)
            long_text_sample(w, sample, &sample_bytes);
    } else if (s == LEAT_E_TEXT) {
        rejected = !blank;
        s = LEAT_OK;
    }
    if (s != LEAT_OK && err)
        *err = why;
    return s == LEAT_OK && rejected
               ? documents_reject(&u->docs, r->as_read, why.message, why.field, sample, sample_bytes, err)
               : s;
}

/* Reads the record into memory, and does what is done with shorter records. */
static enum leat_status scan_whole(struct long_record *r, struct unit *u, char *text, uint64_t at, size_t bytes,
                                   struct leat_error *err)
{
    size_t before = u->docs.count;
    struct packer_document *d;
    bool rejected;
    enum leat_status s = read_at(r, at, text, bytes, err);

    if (s == LEAT_OK && r->is_json && lines_blank(text, bytes))
        return LEAT_OK;
    if (s == LEAT_OK)
        s = step_scan_record(r->w, u, text, (struct stretch) { 0, bytes }, r->as_read->offset, r->as_read->line, err);
    if (s == LEAT_OK)
        s = step_chat_end(r->w, u, err);
    if (s != LEAT_OK || u->docs.count == before)
        return s;
    d = &u->docs.items[before];
    if (d->encoded)
        return LEAT_OK;
    s = step_encode_text(r->w, u, d, text + d->text.begin, d->text.bytes, &rejected, err);
    u->docs.count -= s == LEAT_OK && rejected;
    return s;
}

/* Rejects a record that is not read whole, if it is a record at all. */
static enum leat_status refuse_whole(struct long_record *r, struct unit *u, uint64_t at, uint64_t bytes,
                                     struct leat_error *err)
{
    char sample[REJECT_SAMPLE];
    bool blank = true;
    enum leat_status s = read_at(r, at, sample, sizeof sample, err);

    for (uint64_t done = 0; s == LEAT_OK && blank && done < bytes;) {
        size_t count = bytes - done < sizeof r->raw ? (size_t)(bytes - done) : sizeof r->raw;

        s = read_chunk(r, at + done, count, err);
        blank = s == LEAT_OK && lines_blank(r->raw, count);
        done += count;
    }
    return s == LEAT_OK && !blank
               ? documents_reject(&u->docs, r->as_read, STEP_WHOLE_REASON, "", sample, sizeof sample, err)
               : s;
}

static enum leat_status run_whole(struct long_record *r, struct unit *u, uint64_t at, uint64_t bytes,
                                  struct leat_error *err)
{
    struct buffer text = { 0 };
    enum leat_status s;

    if (bytes > r->w->setup->whole_bytes)
        return refuse_whole(r, u, at, bytes, err);
    s = buffer_reserve(&text, (size_t)bytes, err);
    if (s == LEAT_OK)
        s = scan_whole(r, u, (char *)text.bytes, at, (size_t)bytes, err);
    buffer_free(&text);
    return s;
}

enum leat_status long_record_encode(struct pack_worker *w, struct unit *u, int fd, uint64_t at, uint64_t bytes,
                                    const struct packer_document *as_read, struct leat_error *err)
{
    const struct input *in = &w->setup->inputs.items[u->input];
    struct long_record *r;
    char begin[3] = { 0 };
    size_t mark;
    enum leat_status s;

    r = malloc(sizeof *r);
    if (!r)
        return status_no_memory(err, sizeof *r);
    memset(r, 0, offsetof(struct long_record, raw));
    r->w = w;
    r->as_read = as_read;
    r->name = in->path;
    /* a record of a stream lies in a file of the run's own */
    r->file = fd == u->record.fd ? (struct input_file) { .fd = fd, .name = r->name } : inputs_file(in, fd);
    r->is_json = in->format->is_json;
    s = as_read->offset == 0 && bytes >= sizeof begin ? read_at(r, at, begin, sizeof begin, err) : LEAT_OK;
    mark = lines_mark(begin, sizeof begin);
    if (s == LEAT_OK && (w->setup->whole_records || !r->is_json))
        s = run_whole(r, u, at + mark, bytes - mark, err);
    else if (s == LEAT_OK)
        s = encode_record(r, u, at + mark, bytes - mark, err);
    buffer_free(&r->values);
    free(r);
    return s;
}
