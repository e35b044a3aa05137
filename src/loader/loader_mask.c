/*
 * loader_mask.c: the masks that datasets store beside their tokens (leat_dataset_mask()): read with the rows of a slot,
 * in the order of their tokens. They are few bytes, and come through the page cache, whatever reads the tokens. They
 * follow the tokens in the slot, so that one copy brings both to a device.
 */
#include "base/status.h"
#include "dataset/part_index.h"
#include "loader.h"

void loader_mask_open(struct leat_loader *l)
{
    for (uint64_t i = 0; i < l->plan->rules.source_count && !l->masks; i++) {
        struct leat_info info = LEAT_INFO_INIT;

        leat_dataset_info(l->plan->sources[i].dataset, &info);
        l->masks = info.stores_mask;
    }
}

void loader_mask_put(struct loader_slot *slot)
{
    uint64_t width = 0;

    for (uint32_t i = 0; i < slot->places; i++)
        if (slot->samples[i].tokens > width)
            width = slot->samples[i].tokens;
    slot->layout.masks_at = slot->bytes;
    slot->layout.mask_width = (uint32_t)width;
    slot->bytes += (size_t)(slot->batch.rows * width);
}

enum leat_status loader_mask_row(struct leat_loader *l, const struct loader_slot *slot, uint32_t row,
                                 struct leat_error *err)
{
    uint8_t *to = slot->memory + slot->layout.masks_at + (size_t)row * slot->layout.mask_width;
    enum leat_status s = LEAT_OK;

    for (uint32_t k = slot->first_piece[row]; s == LEAT_OK && k < slot->first_piece[row + 1]; k++) {
        const struct leat_piece *p = &slot->pieces[k];

        s = part_mask(dataset_part(l->plan->sources[p->source].dataset, p->part), p->offset, p->count, to, err);
        to += p->count;
    }
    return s;
}
