/* loader_outputs.c: turns a slot and the wanted outputs into a job for the kernels, for both sides of the loader. */
#include "loader.h"

/* Whether a document's first token has no loss in any case: as an unshifted label, it would be predicted by the end of
 * another document, to which such a row does not connect it. */
static bool masks_first(const struct leat_loader *l)
{
    return l->plan->order->own_labels && l->options.unshifted;
}

struct rows_job loader_job(const struct loader_slot *slot, const struct leat_outputs *o)
{
    return (struct rows_job) { .base = slot->memory,
                               .layout = slot->layout,
                               .rows = o->rows ? (uint32_t)o->rows : slot->layout.rows,
                               .length = o->length ? (uint32_t)o->length : slot->batch.length,
                               .number_bytes = o->number_bytes,
                               .unshifted = o->unshifted,
                               .mask_first = o->mask_first || masks_first(slot->loader),
                               .pad = slot->loader->pad,
#define TAKE(field, name, kind, documents) .field = o->field,
                               ROWS_OUTPUTS(TAKE, TAKE)
#undef TAKE
                                   .cu_seqlens_room = o->cu_seqlens_room };
}

void loader_borrowed(const struct loader_slot *slot, uint8_t *base, struct leat_outputs *out)
{
    const struct leat_loader *l = slot->loader;
    const struct loader_sizes *z = &l->sizes;
    uint32_t wanted = l->options.outputs;

    *out = (struct leat_outputs) { .size = sizeof *out,
                                   .number_bytes = l->options.number_bytes,
                                   .unshifted = l->options.unshifted,
                                   .mask_first = l->options.mask_first,
                                   .rows = slot->batch.rows,
                                   .length = slot->batch.length };
#define POINT(field, name, kind, documents)                                                                            \
    if (wanted & LEAT_OUTPUT_##name)                                                                                   \
        out->field = (void *)(base + z->outputs[ROWS_OUTPUT_##name]);
    ROWS_OUTPUTS(POINT, POINT)
#undef POINT
    if (out->cu_seqlens)
        out->cu_seqlens_room = l->options.cu_seqlens_room;
}
