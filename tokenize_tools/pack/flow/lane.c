/* lane.c: see lane.h. */
#include "lane.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/status.h"
#include "steps.h"
#include "unit_kinds.h"

struct lane *lane_new_for_puts(struct pack_setup *setup)
{
    struct lane *l = calloc(1, sizeof *l);

    if (!l)
        return NULL;
    l->setup = setup;
    l->fd = -1;
    return l;
}

struct lane *lane_new(struct pack_setup *setup, size_t input, const struct lane_start *start)
{
    struct lane *l = lane_new_for_puts(setup);

    if (!l)
        return NULL;
    l->input = input;
    l->kind = unit_kind_of(&setup->inputs.items[input]);
    l->input_end = l->kind->group ? l->kind->group(setup, input) : input + 1;
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

/* Reads up to where the units written so far end. */
static enum leat_status skip_to_next(struct lane *l, struct leat_error *err)
{
    enum leat_status s = buffer_reserve(&l->carry, LONG_CHUNK, err);

    while (s == LEAT_OK && byte_stream_text_position(l->stream) < l->next) {
        uint64_t left = l->next - byte_stream_text_position(l->stream);
        size_t got;

        s = byte_stream_read(l->stream, l->carry.bytes, left < LONG_CHUNK ? (size_t)left : LONG_CHUNK, &got, err);
        if (s == LEAT_OK && got == 0)
            s = status_set(err, LEAT_E_CHECKPOINT, "%s is shorter than when the killed run read it",
                           byte_stream_name(l->stream));
    }
    return s;
}

enum leat_status lane_open(struct lane *l, struct leat_error *err)
{
    const struct input *in = &l->setup->inputs.items[l->input];
    bool resumed = l->next > 0;
    enum leat_status s;
    uint64_t size;

    if (l->opened)
        return LEAT_OK;
    l->opened = true;
    s = resumed && (in->compressed || l->mark.raw_offset > 0) ? byte_stream_open_at(&l->stream, in->path, &l->mark, err)
                                                              : byte_stream_open(&l->stream, in->path, err);
    if (s != LEAT_OK)
        return s;
    if (byte_stream_form(l->stream) != BYTE_FORM_PLAIN || byte_stream_size(l->stream) == UINT64_MAX)
        return skip_to_next(l, err);
    byte_stream_close(l->stream);
    l->stream = NULL;
    s = file_open_read(&l->fd, &size, in->path, err);
    return s == LEAT_OK ? inputs_check_end(in, size, err) : s;
}

void lane_cut(struct lane *l, struct unit *u)
{
    uint64_t began = pack_cpu_ns();

    u->kind = l->kind;
    u->input = l->input;
    u->input_end = l->input_end;
    u->offset = l->next;
    u->status = l->kind->cut(l, u, &u->error);
    l->ended = l->ended || u->status != LEAT_OK;
    u->spent_ns[STAGE_READ] += pack_cpu_ns() - began;
}
