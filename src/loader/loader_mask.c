/*
 * loader_mask.c: the masks that datasets store beside their tokens (leat_dataset_mask()): read with the rows of a slot,
 * in the order of their tokens. They are few bytes, and come through the page cache, whatever reads the tokens.
 */
#include "base/status.h"
#include "dataset/part_index.h"
#include "loader.h"

enum leat_status loader_mask_open(struct leat_loader *l, struct leat_error *err)
{
    bool masked = false;

    for (uint64_t i = 0; i < l->plan->rules.source_count && !masked; i++) {
        struct leat_info info = LEAT_INFO_INIT;

        leat_dataset_info(l->plan->sources[i].dataset, &info);
        masked = info.stores_mask;
        if (masked && !l->ops->masks)
            return status_set(err, LEAT_E_UNSUPPORTED,
                              "%.300s stores a mask, which batches on a device do not apply yet: take batches on the "
                              "host",
                              l->plan->rules.sources[i].name);
    }
    if (masked)
        l->mask_width = (uint64_t)l->max_length + (l->plan->order->own_labels ? l->plan->max_pieces : 1);
    return LEAT_OK;
}

enum leat_status loader_mask_row(struct leat_loader *l, const struct loader_slot *slot, uint32_t row,
                                 struct leat_error *err)
{
    uint8_t *to = slot->mask + row * l->mask_width;
    enum leat_status s = LEAT_OK;

    for (uint32_t k = slot->first_piece[row]; s == LEAT_OK && k < slot->first_piece[row + 1]; k++) {
        const struct leat_piece *p = &slot->pieces[k];

        s = part_mask(dataset_part(l->plan->sources[p->source].dataset, p->part), p->offset, p->count, to, err);
        to += p->count;
    }
    return s;
}
