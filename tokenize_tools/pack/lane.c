/* lane.c: see lane.h. */
#include "lane.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/status.h"
#include "corpus/lines.h"
#include "pack_worker.h"

#define FILES_IN_A_UNIT 256

/* ---- Making ---- */

/* Small texts go together. */
static size_t end_of_group(const struct pack_setup *setup, size_t input)
{
    const struct input_list *list = &setup->inputs;
    uint64_t bytes = 0;
    size_t end = input;

    do
        bytes += list->items[end++].size;
    while (end < list->count && end - input < FILES_IN_A_UNIT && !list->items[end].format->find &&
           bytes + list->items[end].size <= setup->unit_bytes / 2);
    return end;
}

struct lane *lane_new_for_puts(struct pack_setup *setup)
{
    struct lane *l = calloc(1, sizeof *l);

    if (!l)
        return NULL;
    l->setup = setup;
    l->fd = -1;
    return l;
}

struct lane *lane_new(struct pack_setup *setup, size_t input, const struct flow_start *start)
{
    struct lane *l = lane_new_for_puts(setup);

    if (!l)
        return NULL;
    l->input = input;
    l->input_end = input + 1;
    if (!setup->inputs.items[input].format->find)
        l->input_end = end_of_group(setup, input);
    if (start->input == input) {
        l->next = start->offset;
        l->mark = start->mark;
    }
    return l;
}

void lane_append(struct lane *l, struct unit *u)
{
    if (l->last)
        l->last->next = u;
    else
        l->first = u;
    l->last = u;
    l->waiting++;
}

void lane_free(struct lane *l)
{
    if (!l)
        return;
    while (l->first) {
        struct unit *u = l->first;

        l->first = u->next;
        unit_free(u);
    }
    byte_stream_close(l->stream);
    buffer_free(&l->carry);
    file_close(&l->fd);
    free(l);
}

/* ---- Opening ---- */

/* Reads up to where the units written so far end. */
static enum leat_status skip_to_next(struct lane *l, struct leat_error *err)
{
    enum leat_status s = buffer_reserve(&l->carry, LONG_PART, err);

    while (s == LEAT_OK && byte_stream_text_position(l->stream) < l->next) {
        uint64_t left = l->next - byte_stream_text_position(l->stream);
        size_t got;

        s = byte_stream_read(l->stream, l->carry.bytes, left < LONG_PART ? (size_t)left : LONG_PART, &got, err);
        if (s == LEAT_OK && got == 0)
            s = status_set(err, LEAT_E_CHECKPOINT, "%s is shorter than when the killed run read it",
                           byte_stream_name(l->stream));
    }
    return s;
}

static enum leat_status open_lane(struct lane *l, struct leat_error *err)
{
    const struct input *in = &l->setup->inputs.items[l->input];
    bool resumed = l->next > 0 && in->format->find;
    enum leat_status s = resumed && (in->compressed || l->mark.raw_offset > 0)
                             ? byte_stream_open_at(&l->stream, in->path, &l->mark, err)
                             : byte_stream_open(&l->stream, in->path, err);
    uint64_t size;

    l->opened = true;
    if (s != LEAT_OK)
        return s;
    if (byte_stream_form(l->stream) != BYTE_FORM_PLAIN || byte_stream_size(l->stream) == UINT64_MAX)
        return skip_to_next(l, err);
    byte_stream_close(l->stream);
    l->stream = NULL;
    s = file_open_read(&l->fd, &size, in->path, err);
    return s == LEAT_OK ? inputs_check_end(in, size, err) : s;
}

/* ---- Cutting ---- */

/* The next range of a plain file: first those before the share, of which only the lines are counted. */
static enum leat_status cut_range(struct lane *l, struct unit *u, struct leat_error *err)
{
    const struct input *in = &l->setup->inputs.items[l->input];
    bool before = l->next < in->begin;
    uint64_t end = before ? in->begin : in->end, length = l->setup->unit_bytes - l->next % CHECKSUM_PAGE;

    u->kind = before ? UNIT_COUNT : UNIT_RANGE;
    u->length = length < end - l->next ? length : end - l->next;
    u->disk_bytes = before ? 0 : u->length;
    l->next += u->length;
    l->ended = l->next == in->end;
    if (u->length == 0)
        u->kind = UNIT_IDS; /* an empty file: nothing to read */
    return !l->ended || unit_add_end(u, l->input, in->size, err) ? LEAT_OK : LEAT_E_NO_MEMORY;
}

static enum leat_status end_stream(struct lane *l, struct unit *u, const struct leat_error *damage,
                                   struct leat_error *err)
{
    uint64_t at = byte_stream_raw_position(l->stream);
    enum leat_status s = inputs_check_read(&l->setup->inputs.items[l->input], at, damage, err);

    l->ended = true;
    return s == LEAT_OK ? unit_end_stream(u, l->input, l->stream, damage, err) : s;
}

/* Reads text to the end of `to`; *got 0: the stream has ended, and the unit ends the input. */
static enum leat_status read_stream(struct lane *l, struct unit *u, struct buffer *to, size_t room, size_t *got,
                                    struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = buffer_reserve(to, room, err);

    *got = 0;
    if (s != LEAT_OK)
        return s;
    s = byte_stream_read(l->stream, to->bytes + to->size, room, got, &why);
    to->size += *got;
    if (s == LEAT_E_TRUNCATED || s == LEAT_E_TEXT)
        return end_stream(l, u, &why, err);
    if (s != LEAT_OK) {
        *err = why;
        return s;
    }
    return *got == 0 ? end_stream(l, u, NULL, err) : LEAT_OK;
}

/* What follows the newline at `end` - 1 belongs to the next unit. */
static enum leat_status carry_over(struct lane *l, struct buffer *text, size_t end, struct leat_error *err)
{
    enum leat_status s = buffer_append(&l->carry, text->bytes + end, text->size - end, err);

    text->size = end;
    return s;
}

/* A record that has become too long: all of it goes to a file. */
static enum leat_status spool_record(struct lane *l, struct unit *u, struct leat_error *err)
{
    enum leat_status s = spool_open(&u->record, l->setup->output, err);

    u->kind = UNIT_RECORD;
    while (s == LEAT_OK) {
        const uint8_t *newline = memchr(u->text.bytes, '\n', u->text.size);
        size_t got;

        if (newline)
            s = carry_over(l, &u->text, (size_t)(newline - u->text.bytes) + 1, err);
        if (s == LEAT_OK)
            s = spool_append(&u->record, u->text.bytes, u->text.size, err);
        if (s != LEAT_OK || newline || l->ended)
            break;
        u->text.size = 0;
        s = read_stream(l, u, &u->text, LONG_PART, &got, err);
    }
    buffer_free(&u->text);
    return s;
}

static enum leat_status cut_block(struct lane *l, struct unit *u, struct leat_error *err)
{
    const struct pack_setup *setup = l->setup;
    size_t lines = 0, seen = 0; /* bytes of whole lines; bytes looked through for newlines */
    enum leat_status s = buffer_append(&u->text, l->carry.bytes, l->carry.size, err);

    u->kind = UNIT_BLOCK;
    l->carry.size = 0;
    while (s == LEAT_OK) {
        const uint8_t *newline = u->text.size > seen ? memrchr(u->text.bytes + seen, '\n', u->text.size - seen) : NULL;
        size_t got;

        if (newline)
            lines = (size_t)(newline - u->text.bytes) + 1;
        seen = u->text.size;
        if (l->ended)
            return LEAT_OK;
        if (lines > 0 && u->text.size >= setup->unit_bytes)
            return carry_over(l, &u->text, lines, err);
        if (lines == 0 && u->text.size > setup->long_bytes)
            return spool_record(l, u, err);
        s = read_stream(l, u, &u->text,
                        u->text.size < setup->unit_bytes ? (size_t)setup->unit_bytes - u->text.size : LONG_PART, &got,
                        err);
    }
    return s;
}

/* Moves the mark on, but not beyond where the next unit begins. */
static void move_mark(struct lane *l)
{
    struct byte_mark now;

    if (l->later.text_offset > 0 && l->later.text_offset <= l->next) {
        l->mark = l->later;
        l->later.text_offset = 0;
    }
    byte_stream_mark(l->stream, &now);
    if (now.text_offset <= l->next)
        l->mark = now;
    else if (l->later.text_offset == 0)
        l->later = now;
}

static enum leat_status cut_stream(struct lane *l, struct unit *u, struct leat_error *err)
{
    uint64_t before = byte_stream_raw_position(l->stream);
    enum leat_status s;

    move_mark(l);
    u->mark = l->mark;
    s = cut_block(l, u, err);
    u->length = u->kind == UNIT_RECORD ? u->record.bytes : u->text.size;
    u->disk_bytes = byte_stream_raw_position(l->stream) - before;
    l->held = byte_stream_memory(l->stream) + l->carry.room;
    l->next += u->length;
    return s;
}

static void cut_files(struct lane *l, struct unit *u)
{
    u->kind = UNIT_FILES;
    for (size_t i = l->input; i < l->input_end; i++)
        u->disk_bytes += l->setup->inputs.items[i].size;
    l->ended = true;
}

void lane_cut(struct lane *l, struct unit *u)
{
    uint64_t began = pack_cpu_ns();
    enum leat_status s = LEAT_OK;

    u->input = l->input;
    u->input_end = l->input_end;
    u->offset = l->next;
    if (!l->setup->inputs.items[l->input].format->find) {
        cut_files(l, u);
        return;
    }
    if (!l->opened)
        s = open_lane(l, &u->error);
    if (s == LEAT_OK)
        s = l->stream ? cut_stream(l, u, &u->error) : cut_range(l, u, &u->error);
    u->status = s;
    l->ended = l->ended || s != LEAT_OK;
    u->spent_ns[STAGE_READ] += pack_cpu_ns() - began;
}
