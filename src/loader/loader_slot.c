/*
 * loader_slot.c: what several stages do: adding a read or a stretch, gaps, where parts and rows of a slot lie. And the
 * last stage, the job for the kernels that make outputs of a slot.
 */
#include "base/bytes.h"
#include "base/grow.h"
#include "base/status.h"
#include "loader.h"
#include "loader_segments.h"

#define ALIGNMENT 64u

uint32_t loader_gap_after(const struct loader_shape *shape, uint64_t places)
{
    uint64_t align = shape->plan->rules.fit[PLAN_FIT_ALIGN], over = align > 0 ? places % align : 0;

    return over > 0 ? (uint32_t)(align - over) : 0;
}

uint32_t loader_places_gap(const struct loader_shape *shape, const struct leat_piece *piece)
{
    return loader_gap_after(shape, shape->options.outputs.unshifted ? piece->count : piece->count - 1);
}

uint32_t loader_places_tokens(const struct loader_shape *shape, const struct loader_places *places, uint32_t row)
{
    uint64_t tokens = 0;

    for (uint32_t k = places->first[row]; k < places->first[row + 1]; k++)
        tokens += places->pieces[k].count + loader_places_gap(shape, &places->pieces[k]);
    return (uint32_t)tokens;
}

uint32_t loader_places_inputs(const struct loader_shape *shape, const struct loader_places *places, uint32_t row)
{
    return shape->options.outputs.unshifted ? loader_places_tokens(shape, places, row)
                                            : places->step.samples[row].length;
}

enum leat_status loader_reads_add(const struct loader_shape *shape, struct loader_reads *reads,
                                  const struct leat_piece *piece, uint64_t first, uint32_t count, uint8_t *to,
                                  struct leat_error *err)
{
    return loader_reads_put(reads, shape->first_file[piece->source] + piece->part,
                            (piece->offset + first) * shape->token_width, (uint64_t)count * shape->token_width, to,
                            err);
}

enum leat_status loader_reads_put(struct loader_reads *reads, uint32_t file, uint64_t offset, uint64_t bytes,
                                  uint8_t *to, struct leat_error *err)
{
    uint64_t number = reads->job.count;
    struct gather_piece *read;
    enum leat_status s;

    if (number >= UINT32_MAX / 2)
        return status_set(err, LEAT_E_RANGE, "a batch of more than %" PRIu64 " reads is too large; take fewer rows",
                          number);
    s = GROW(reads->job.pieces, number + 1, reads->room, err);
    if (s != LEAT_OK)
        return s;
    read = &reads->job.pieces[reads->job.count++]; /* gather_begin() fills in the rest */
    read->file = file;
    read->offset = offset;
    read->bytes = bytes;
    read->to = to;
    read->span = NULL;
    return s;
}

enum leat_status loader_stretch_add(struct loader_stretches *x, const struct leat_piece *piece, uint64_t first,
                                    uint32_t row, uint32_t place, uint32_t count, struct leat_error *err)
{
    enum leat_status s = GROW(x->items, x->count + 1, x->room, err);

    if (s == LEAT_OK)
        x->items[x->count++] = (struct loader_stretch) { .row = row,
                                                         .place = place,
                                                         .count = count,
                                                         .source = piece->source,
                                                         .part = piece->part,
                                                         .token = piece->token + first,
                                                         .offset = piece->offset + first };
    return s;
}

bool loader_slot_add(uint64_t *size, uint64_t bytes, size_t *at)
{
    uint64_t aligned = bytes_divide_up(bytes, ALIGNMENT);

    *at = (size_t)*size;
    return aligned <= SIZE_MAX / 4 / ALIGNMENT && bytes_add(*size, aligned * ALIGNMENT, size) && *size <= SIZE_MAX / 4;
}

void loader_slot_fill(const struct loader_shape *shape, uint8_t *to, uint64_t tokens, uint32_t token)
{
    for (uint64_t i = 0; i < tokens; i++, to += shape->token_width) {
        to[0] = (uint8_t)token;
        to[1] = (uint8_t)(token >> 8);
        if (shape->token_width == 4) {
            to[2] = (uint8_t)(token >> 16);
            to[3] = (uint8_t)(token >> 24);
        }
    }
}

uint8_t *loader_slot_row(const struct loader_places *places, const struct loader_memory *m, uint32_t row)
{
    const struct rows_layout *y = &m->layout;

    if (y->segments_at)
        return m->base + y->tokens_at + (size_t)places->segments->rows[row].token * y->token_width;
    if (y->rows_at)
        return m->base + ((const uint64_t *)(const void *)(m->base + y->rows_at))[row];
    return m->base + y->tokens_at + (size_t)row * y->width * y->token_width;
}

struct rows_job loader_job(const struct loader_slot *slot, const struct leat_outputs *o)
{
    return (struct rows_job) { .base = slot->memory.base,
                               .layout = slot->memory.layout,
                               .rows = o->rows ? (uint32_t)o->rows : slot->memory.layout.rows,
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
    const struct loader_shape *shape = &slot->loader->shape;
    const struct leat_loader_outputs *o = &shape->options.outputs;

    *out = (struct leat_outputs) { .size = sizeof *out,
                                   .number_bytes = o->number_bytes,
                                   .unshifted = o->unshifted,
                                   .mask_first = o->mask_first,
                                   .rows = slot->batch.rows,
                                   .length = slot->batch.length };
#define POINT(field, name, kind, documents)                                                                            \
    if (o->wanted & LEAT_OUTPUT_##name)                                                                                \
        out->field = (void *)(base + shape->sizes.outputs[ROWS_OUTPUT_##name]);
    ROWS_OUTPUTS(POINT, POINT)
#undef POINT
    if (out->cu_seqlens)
        out->cu_seqlens_room = o->cu_seqlens_room;
}
