/*
 * loader_slot.c: what all stages ask of a slot: room for its pieces and reads, where its parts and rows lie, and the
 * job for the kernels that make outputs of it.
 */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/grow.h"
#include "base/status.h"
#include "loader.h"

#define ALIGNMENT 64u

enum leat_status loader_pieces_room(struct loader_slot *slot, uint64_t count, struct leat_error *err)
{
    struct leat_piece *pieces;

    if (count <= slot->piece_room)
        return LEAT_OK;
    if (count > UINT32_MAX)
        return status_set(err, LEAT_E_RANGE, "a batch of %" PRIu64 " pieces is too large; take fewer rows", count);
    pieces = realloc(slot->pieces, (size_t)count * sizeof *pieces);
    if (!pieces)
        return status_no_memory(err, count * sizeof *pieces);
    slot->pieces = pieces;
    slot->piece_room = (uint32_t)count;
    return loader_reads_room(slot, count, err);
}

enum leat_status loader_reads_room(struct loader_slot *slot, uint64_t count, struct leat_error *err)
{
    size_t room = slot->read_room;
    enum leat_status s;

    if (count > UINT32_MAX / 2)
        return status_set(err, LEAT_E_RANGE, "a batch of %" PRIu64 " reads is too large; take fewer rows", count);
    s = GROW(slot->reads, count, room, err);
    slot->read_room = (uint32_t)room;
    slot->job.pieces = slot->reads;
    return s;
}

bool loader_slot_add(uint64_t *size, uint64_t bytes, size_t *at)
{
    uint64_t aligned = bytes_divide_up(bytes, ALIGNMENT);

    *at = (size_t)*size;
    return aligned <= SIZE_MAX / 4 / ALIGNMENT && bytes_add(*size, aligned * ALIGNMENT, size) && *size <= SIZE_MAX / 4;
}

void loader_slot_fill(const struct leat_loader *l, uint8_t *to, uint64_t tokens, uint32_t token)
{
    for (uint64_t i = 0; i < tokens; i++, to += l->shape.token_width) {
        to[0] = (uint8_t)token;
        to[1] = (uint8_t)(token >> 8);
        if (l->shape.token_width == 4) {
            to[2] = (uint8_t)(token >> 16);
            to[3] = (uint8_t)(token >> 24);
        }
    }
}

const uint8_t *loader_slot_row(const struct loader_slot *slot, uint32_t row)
{
    const struct rows_layout *y = &slot->layout;

    if (y->segments_at)
        return slot->memory + y->tokens_at + (size_t)slot->segments.rows[row].token * y->token_width;
    if (y->rows_at)
        return slot->memory + ((const uint64_t *)(const void *)(slot->memory + y->rows_at))[row];
    return slot->memory + y->tokens_at + (size_t)row * y->width * y->token_width;
}

struct rows_job loader_job(const struct loader_slot *slot, const struct leat_outputs *o)
{
    return (struct rows_job) { .base = slot->memory,
                               .layout = slot->layout,
                               .rows = o->rows ? (uint32_t)o->rows : slot->layout.rows,
                               .length = o->length ? (uint32_t)o->length : slot->batch.length,
                               .number_bytes = o->number_bytes,
                               .unshifted = o->unshifted,
                               .mask_first = o->mask_first || slot->loader->shape.masks_first,
                               .pad = slot->loader->shape.pad,
                               .ignored = slot->loader->shape.ignored,
#define TAKE(field, name, kind, documents) .field = o->field,
                               ROWS_OUTPUTS(TAKE, TAKE)
#undef TAKE
                                   .cu_seqlens_room = o->cu_seqlens_room };
}

void loader_borrowed(const struct loader_slot *slot, uint8_t *base, struct leat_outputs *out)
{
    const struct leat_loader *l = slot->loader;
    const struct loader_sizes *z = &l->sizes;
    uint32_t wanted = l->options.outputs.wanted;

    *out = (struct leat_outputs) { .size = sizeof *out,
                                   .number_bytes = l->options.outputs.number_bytes,
                                   .unshifted = l->options.outputs.unshifted,
                                   .mask_first = l->options.outputs.mask_first,
                                   .rows = slot->batch.rows,
                                   .length = slot->batch.length };
#define POINT(field, name, kind, documents)                                                                            \
    if (wanted & LEAT_OUTPUT_##name)                                                                                   \
        out->field = (void *)(base + z->outputs[ROWS_OUTPUT_##name]);
    ROWS_OUTPUTS(POINT, POINT)
#undef POINT
    if (out->cu_seqlens)
        out->cu_seqlens_room = l->options.outputs.cu_seqlens_room;
}
