/*
 * unit_files.c: inputs that are one text each.
 *
 * cut_files() groups small ones by size into one unit, so that a unit is worth a thread's turn; a large one is a unit
 * of its own. encode_files() reads the unit's files one after another: read_start() reads as much as may be in memory
 * at once. If that is all of the text, it is encoded whole; otherwise it goes through the encoder chunk by chunk while
 * the rest is read (long_text.c). Before either, the first bytes decide whether it is text at all; if not, it is a
 * reject.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file_kind.h"
#include "base/status.h"
#include "corpus/lines.h"
#include "lane.h"
#include "steps.h"
#include "unit_kinds.h"

#define FILES_IN_A_UNIT 256

struct text_file {
    struct pack_worker *w;
    struct unit *u;
    const struct input *in;
    struct byte_stream *stream;
    struct buffer *start; /* first bytes of the text, or all of it */
    bool start_given;
    bool damaged; /* true if the file is cut off or broken, for the reason `why`; the text before the damage counts */
    struct leat_error why;
};

/*
 * Returns how much may still be read. A plain file is read up to the size that it had when it was found, without
 * what was added since, because other code counts on that size. But a size of 0 says nothing: files whose contents
 * are made while they are read, as in /proc, have it.
 */
static size_t room_left(const struct text_file *f, size_t room)
{
    uint64_t at = byte_stream_raw_position(f->stream);
    bool known = byte_stream_form(f->stream) == BYTE_FORM_PLAIN && byte_stream_size(f->stream) != UINT64_MAX;

    return known && f->in->size > 0 && room > f->in->size - at ? (size_t)(f->in->size - at) : room;
}

/* Reads some bytes. Damage of compressed data counts as the end, and is noted. */
static enum leat_status read_some(struct text_file *f, uint8_t *to, size_t room, size_t *got, struct leat_error *err)
{
    uint64_t began = clock_cpu_ns();
    enum leat_status s;

    *got = 0;
    if (f->damaged)
        return LEAT_OK;
    s = byte_stream_read(f->stream, to, room_left(f, room), got, &f->why);
    f->u->spent_ns[PACK_STEP_READ] += clock_cpu_ns() - began;
    if (s == LEAT_E_TRUNCATED || s == LEAT_E_TEXT)
        f->damaged = true;
    else if (s != LEAT_OK)
        *err = f->why;
    return f->damaged ? LEAT_OK : s;
}

/* Reads as much as may be in memory at once; sets *whole if that is all. Compressed texts may be much longer than
 * the files by which units were grouped: once a unit has many ids, its other texts are encoded in chunks, too. */
static enum leat_status read_start(struct text_file *f, bool *whole, struct leat_error *err)
{
    struct buffer *b = f->start;
    uint64_t max = f->w->setup->long_bytes;
    size_t room = LONG_CHUNK, got = 1;
    enum leat_status s = LEAT_OK;

    if (f->u->docs.tokens.size > 2 * max)
        max = 0;
    b->size = 0;
    while (s == LEAT_OK && got > 0 && b->size <= max) {
        s = buffer_reserve(b, room, err);
        if (s == LEAT_OK)
            s = read_some(f, b->bytes + b->size, room, &got, err);
        if (s == LEAT_OK)
            b->size += got;
        room = b->size < room ? room : b->size;
    }
    *whole = got == 0;
    return s;
}

static size_t mark_bytes(const struct buffer *b)
{
    return lines_mark((const char *)b->bytes, b->size);
}

/* Gets the chunks of a long text: first the bytes that have been read, then the rest. */
static enum leat_status next_chunk(void *context, const uint8_t **bytes, size_t *count, struct leat_error *err)
{
    struct text_file *f = context;
    enum leat_status s;

    if (!f->start_given) {
        size_t skip = mark_bytes(f->start);

        f->start_given = true;
        *bytes = f->start->bytes + skip;
        *count = f->start->size - skip;
        return LEAT_OK;
    }
    f->start->size = 0;
    s = buffer_reserve(f->start, LONG_CHUNK, err);
    *bytes = f->start->bytes;
    return s == LEAT_OK ? read_some(f, f->start->bytes, LONG_CHUNK, count, err) : s;
}

/* Returns the kind of a file that is not text. A name like that of a text, or a chosen format, proves nothing. */
static const struct file_kind *kind_of_start(const struct text_file *f)
{
    size_t skip = mark_bytes(f->start), bytes = f->start->size - skip;

    return file_kind_of_bytes(f->start->bytes + skip, bytes < FILE_KIND_HEAD ? bytes : FILE_KIND_HEAD);
}

static enum leat_status reject_kind(struct text_file *f, struct unit *u, const struct packer_document *d,
                                    const struct file_kind *kind, struct leat_error *err)
{
    char reason[256];
    size_t skip = mark_bytes(f->start);

    snprintf(reason, sizeof reason, "the input is %s: %s", kind->name, kind->cure);
    return documents_reject(&u->docs, d, reason, "", f->start->bytes + skip, f->start->size - skip, err);
}

static enum leat_status encode_file(struct text_file *f, struct unit *u, size_t input, struct leat_error *err)
{
    struct packer_document *d = documents_add(&u->docs, err);
    struct leat_error why;
    const struct file_kind *kind;
    bool whole, rejected = false;
    enum leat_status s;

    if (!d)
        return LEAT_E_NO_MEMORY;
    d->input = input;
    d->line = LEAT_NONE;
    s = read_start(f, &whole, err);
    if (s != LEAT_OK)
        return s;
    kind = f->w->setup->allow_binary ? NULL : kind_of_start(f);
    if (kind) {
        rejected = true;
        s = reject_kind(f, u, d, kind, err);
    } else if (whole) {
        const char *text = (const char *)f->start->bytes + mark_bytes(f->start);
        size_t bytes = f->start->size - mark_bytes(f->start);

        s = step_encode_text(f->w, u, d, text, bytes, &rejected, err);
    } else {
        char sample[REJECT_SAMPLE];
        size_t skip = mark_bytes(f->start), left = f->start->size - skip;
        size_t sample_bytes = left < sizeof sample ? left : sizeof sample;

        memcpy(sample, f->start->bytes + skip, sample_bytes);
        s = long_text_encode(f->w, u, d, next_chunk, f, &rejected, &why);
        if (rejected)
            long_text_sample(f->w, sample, &sample_bytes);
        if (s != LEAT_OK)
            *err = why;
        else if (rejected)
            s = documents_reject(&u->docs, d, why.message, why.field, sample, sample_bytes, err);
    }
    if (rejected)
        u->docs.count--;
    return s;
}

static enum leat_status read_file(struct pack_worker *w, struct unit *u, size_t input, struct leat_error *err)
{
    struct text_file f = { .w = w, .u = u, .in = &w->setup->inputs.items[input], .start = &w->text };
    enum leat_status s =
        byte_stream_open_stoppable(&f.stream, f.in->place, f.in->path, f.in->object, NULL, &w->setup->stop, err);

    if (s == LEAT_OK) {
        lane_limit(w->setup, f.stream, u->flow.turn);
        s = encode_file(&f, u, input, err);
    }
    /* If a text was rejected midway, the rest still counts as bytes of the input. */
    while (s == LEAT_OK) {
        size_t got;

        s = buffer_reserve(&w->text, LONG_CHUNK, err);
        w->text.size = 0;
        if (s == LEAT_OK)
            s = read_some(&f, w->text.bytes, LONG_CHUNK, &got, err);
        if (s != LEAT_OK || got == 0)
            break;
    }
    if (s == LEAT_OK)
        s = inputs_check_read(f.in, byte_stream_raw_position(f.stream), f.damaged ? &f.why : NULL, err);
    if (s == LEAT_OK)
        s = unit_end_stream(u, input, f.stream, f.damaged ? &f.why : NULL, NULL, err);
    if (s == LEAT_E_NO_MEMORY && f.stream && byte_stream_outgrew(f.stream)) {
        u->flow.later = !u->flow.turn;
        pack_setup_refuse_stream(w->setup, f.stream, err);
    }
    byte_stream_close(f.stream);
    return s;
}

static enum leat_status encode_files(struct pack_worker *w, struct unit *u, int fd, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    (void)fd;
    for (size_t i = u->input; s == LEAT_OK && i < u->input_end; i++)
        s = read_file(w, u, i, err);
    return s;
}

/* ---- Cutting ---- */

static bool takes_texts(const struct input *in)
{
    return in->format->whole;
}

/* Returns the end of a group of small texts that go into one unit. */
static size_t end_of_group(const struct pack_setup *setup, size_t input)
{
    const struct input_list *list = &setup->inputs;
    uint64_t bytes = 0;
    size_t end = input;

    do
        bytes += list->items[end++].size;
    while (end < list->count && end - input < FILES_IN_A_UNIT && takes_texts(&list->items[end]) &&
           bytes + list->items[end].size <= setup->unit_bytes / 2);
    return end;
}

static enum leat_status cut_files(struct lane *l, struct unit *u, struct leat_error *err)
{
    (void)err;
    for (size_t i = l->input; i < l->input_end; i++)
        u->disk_bytes += l->setup->inputs.items[i].size;
    l->ended = true;
    return LEAT_OK;
}

const struct unit_kind unit_files = {
    .takes = takes_texts, .group = end_of_group, .cut = cut_files, .encode = encode_files
};
