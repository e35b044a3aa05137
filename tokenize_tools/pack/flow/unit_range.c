/*
 * unit_range.c: units that are ranges of a plain file of lines. A line belongs to the range that has its first byte,
 * so that ranges do not depend on each other. The thread that encodes a range reads it, with one byte before it to
 * see whether a line starts there, and reads on to the end of its last line. The pages that start in the range are
 * hashed on the way.
 */
#include <string.h>

#include "base/clock.h"
#include "base/status.h"
#include "base/tiny.h"
#include "corpus/lines.h"
#include "corpus/streams/raw_input.h"
#include "lane.h"
#include "steps.h"
#include "unit_kinds.h"

/* The bytes of a step in which a line's end is looked for beyond the range. This is at least a page, since the last
 * page is hashed here, too. */
#define BEYOND ((size_t)TINY_OR(4096, 64 << 10))

struct range {
    struct pack_worker *w;
    struct unit *u;
    const struct input *in;
    int fd;
    uint64_t at; /* place in the file of the buffer's first byte */
};

/* Reads some bytes, which the file must have. */
static enum leat_status read_some(const struct range *r, uint8_t *to, size_t room, uint64_t at, size_t *got,
                                  struct leat_error *err)
{
    const struct input_file file = inputs_file(r->in, r->fd);
    enum leat_status s = input_read_some(&file, at, to, room, got, &r->w->setup->stop, err);

    return s == LEAT_OK && *got == 0 ? inputs_check_end(r->in, at, err) : s;
}

/* Reads on until the buffer holds the file up to `to` (or up to its end as it was when packing began). */
static enum leat_status read_up_to(struct range *r, uint64_t to, struct leat_error *err)
{
    struct buffer *b = &r->w->text;
    uint64_t began = clock_cpu_ns();
    enum leat_status s = LEAT_OK;
    size_t got;

    to = to < r->in->size ? to : r->in->size;
    if (r->at + b->size < to)
        s = buffer_reserve(b, (size_t)(to - r->at) - b->size, err);
    while (s == LEAT_OK && r->at + b->size < to) {
        s = read_some(r, b->bytes + b->size, (size_t)(to - r->at) - b->size, r->at + b->size, &got, err);
        b->size += got;
    }
    r->u->spent_ns[PACK_STEP_READ] += clock_cpu_ns() - began;
    return s;
}

/* Hashes the pages that begin in the range and in the input's share. */
static enum leat_status hash_pages(struct range *r, struct leat_error *err)
{
    uint64_t first = (r->u->offset + CHECKSUM_PAGE - 1) / CHECKSUM_PAGE;
    uint64_t last = (r->u->offset + r->u->length + CHECKSUM_PAGE - 1) / CHECKSUM_PAGE, end = last * CHECKSUM_PAGE;
    enum leat_status s;

    if (first >= last)
        return LEAT_OK;
    s = read_up_to(r, end, err);
    end = end < r->in->size ? end : r->in->size;
    if (s == LEAT_OK)
        checksum_kernels()->pages(&r->u->sum, r->w->text.bytes + (first * CHECKSUM_PAGE - r->at),
                                  (size_t)(end - first * CHECKSUM_PAGE), first, NULL);
    return s;
}

/* Finds the end of the line that the range's last byte lies in; sets *is_long if it is too far away to keep the line
 * in memory. */
static enum leat_status find_end(struct range *r, uint64_t line, uint64_t *end, bool *is_long, struct leat_error *err)
{
    uint64_t from = r->u->offset + r->u->length - 1; /* a newline at this place ends the last line */
    uint64_t step = BEYOND;

    *is_long = false;
    for (;;) {
        const struct buffer *b = &r->w->text;
        const uint8_t *newline = memchr(b->bytes + (from - r->at), '\n', b->size - (size_t)(from - r->at));
        enum leat_status s;

        *end = newline ? r->at + (uint64_t)(newline - b->bytes) + 1 : r->at + b->size;
        if (newline || *end == r->in->size)
            return LEAT_OK;
        if (*end - line > r->w->setup->long_bytes) {
            *is_long = true;
            return LEAT_OK;
        }
        from = *end;
        s = read_up_to(r, from + step, err);
        if (s != LEAT_OK)
            return s;
        step = 2 * step < r->w->setup->long_bytes ? 2 * step : step;
    }
}

/* Finds the newline of a long line without keeping the line. */
static enum leat_status find_far_end(struct range *r, uint64_t from, uint64_t *end, struct leat_error *err)
{
    struct buffer *b = &r->w->narrow;
    enum leat_status s = buffer_reserve(b, LONG_CHUNK, err);

    b->size = 0;
    while (s == LEAT_OK && from < r->in->size) {
        uint64_t left = r->in->size - from;
        const uint8_t *newline;
        size_t got;

        s = pack_setup_check_stop(r->w->setup, r->in->path, err);
        if (s == LEAT_OK)
            s = read_some(r, b->bytes, left < LONG_CHUNK ? (size_t)left : LONG_CHUNK, from, &got, err);
        if (s != LEAT_OK)
            return s;
        newline = memchr(b->bytes, '\n', got);
        if (newline) {
            *end = from + (uint64_t)(newline - b->bytes);
            return LEAT_OK;
        }
        from += got;
    }
    *end = r->in->size;
    return s;
}

/* Returns the place of the first line that begins in the range; the range's end if none does. */
static uint64_t first_line(const struct range *r)
{
    const struct buffer *b = &r->w->text;
    uint64_t end = r->u->offset + r->u->length;
    const uint8_t *newline;

    if (r->u->offset == 0)
        return 0;
    /* the buffer begins with the byte before the range */
    newline = memchr(b->bytes, '\n', (size_t)(end - r->at));
    return newline ? r->at + (uint64_t)(newline - b->bytes) + 1 : end;
}

/* Returns the last line that begins in the range, given that one does. */
static uint64_t last_line(const struct range *r, uint64_t first)
{
    uint64_t end = r->u->offset + r->u->length; /* a newline at end - 1 begins a line outside of the range */
    const uint8_t *from = r->w->text.bytes + (first - r->at);
    const uint8_t *newline = end - first > 1 ? memrchr(from, '\n', (size_t)(end - first) - 1) : NULL;

    return newline ? r->at + (uint64_t)(newline - r->w->text.bytes) + 1 : first;
}

static enum leat_status take_lines(struct range *r, struct leat_error *err)
{
    struct buffer *b = &r->w->text;
    uint64_t end = r->u->offset + r->u->length, first = first_line(r), last, far, lines;
    enum leat_status s;
    bool is_long;

    if (first >= end)
        return LEAT_OK;
    last = last_line(r, first);
    lines = lines_count((char *)b->bytes + (r->u->offset - r->at), (size_t)(last - r->u->offset));
    s = find_end(r, last, &far, &is_long, err);
    if (s == LEAT_OK)
        s = step_scan(r->w, r->u, (char *)b->bytes + (first - r->at), (size_t)((is_long ? last : far) - first), first,
                      err);
    if (s == LEAT_OK)
        s = step_encode(r->w, r->u, (char *)b->bytes + (first - r->at), err);
    if (s != LEAT_OK || !is_long)
        return s;
    s = find_far_end(r, far, &far, err);
    return s == LEAT_OK
               ? long_record_encode(r->w, r->u, r->fd, last, far - last,
                                    &(struct packer_document) { .input = r->u->input, .offset = last, .line = lines },
                                    err)
               : s;
}

/* ---- Cutting ---- */

/* Cuts the next range of a plain file. The ranges before the share come first; only their lines are counted. */
static enum leat_status cut_range(struct lane *l, struct unit *u, struct leat_error *err)
{
    const struct input *in = &l->setup->inputs.items[l->input];
    bool before = l->next < in->begin;
    uint64_t end = before ? in->begin : in->end, length = l->setup->unit_bytes - l->next % CHECKSUM_PAGE;

    u->kind = before ? &unit_count : &unit_range;
    u->length = length < end - l->next ? length : end - l->next;
    u->disk_bytes = before ? 0 : u->length;
    l->next += u->length;
    l->ended = l->next == in->end;
    if (u->length == 0)
        u->kind = &unit_ids; /* an empty file has nothing to read */
    return !l->ended || unit_add_end(u, l->input, in->size, err) ? LEAT_OK : LEAT_E_NO_MEMORY;
}

static bool takes_lines(const struct input *in)
{
    return in->format->read && !in->format->delimiter;
}

static enum leat_status cut_lines(struct lane *l, struct unit *u, struct leat_error *err)
{
    enum leat_status s = lane_open(l, err);

    if (s != LEAT_OK)
        return s;
    return l->layout != JSON_LINES ? unit_array.cut(l, u, err)
           : l->stream             ? unit_block.cut(l, u, err)
                                   : cut_range(l, u, err);
}

/* ---- Encoding ---- */

static enum leat_status encode_range(struct pack_worker *w, struct unit *u, int fd, struct leat_error *err)
{
    struct range r = { w, u, &w->setup->inputs.items[u->input], fd, u->offset > 0 ? u->offset - 1 : 0 };
    enum leat_status s;

    w->text.size = 0;
    s = read_up_to(&r, u->offset + u->length + (u->kind == &unit_count ? 0 : BEYOND), err);
    if (s != LEAT_OK)
        return s;
    u->newlines = lines_count((char *)w->text.bytes + (u->offset - r.at), (size_t)u->length);
    if (u->kind == &unit_count)
        return LEAT_OK;
    s = hash_pages(&r, err);
    if (s == LEAT_OK)
        s = take_lines(&r, err);
    return s;
}

const struct unit_kind unit_range = {
    .takes = takes_lines, .cut = cut_lines, .encode = encode_range, .numbers = true, .divides = true
};
const struct unit_kind unit_count = { .encode = encode_range };
