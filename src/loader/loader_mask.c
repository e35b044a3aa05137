/*
 * loader_mask.c: the masks that datasets store beside their tokens (leat_dataset_mask()): read with the rows of a slot,
 * in the order of their tokens. They are few bytes, and come through the page cache, whatever reads the tokens. They
 * follow the tokens in the slot, so that one copy brings both to a device. Context and gaps in rows of whole documents
 * have no loss (struct leat_piece): as a mask of 0, whatever the datasets store.
 */
#include <string.h>

#include "base/status.h"
#include "dataset/part_index.h"
#include "loader.h"

void loader_mask_open(struct leat_loader *l)
{
    l->masks = l->plan->rules.fit[PLAN_FIT_ALIGN] > 0 || l->plan->rules.fit[PLAN_FIT_OVERLAP] > 0;
    for (uint64_t i = 0; i < l->plan->rules.source_count && !l->masks; i++) {
        struct leat_info info = LEAT_INFO_INIT;

        leat_dataset_info(l->plan->sources[i].dataset, &info);
        l->masks = info.stores_mask;
    }
}

void loader_mask_put(const struct leat_loader *l, struct loader_slot *slot)
{
    uint64_t width = 0;

    for (uint32_t i = 0; i < slot->places; i++)
        if (loader_pieces_tokens(l, slot, i) > width)
            width = loader_pieces_tokens(l, slot, i);
    slot->layout.masks_at = slot->bytes;
    slot->layout.mask_width = (uint32_t)width;
    slot->bytes += (size_t)(slot->batch.rows * width);
}

/* The first tokens of a piece whose labels are context: all up to the label of the last prediction of the overlap. */
static enum leat_status find_context(const struct leat_loader *l, const struct leat_piece *p, uint64_t *tokens,
                                     struct leat_error *err)
{
    uint64_t overlap = l->plan->rules.fit[PLAN_FIT_OVERLAP], start = p->token;
    enum leat_status s = LEAT_OK;

    if (overlap > 0)
        s = leat_dataset_starts(l->plan->sources[p->source].dataset, p->document, 1, &start, err);
    *tokens = start < p->token ? overlap + 1 : 0;
    return s;
}

enum leat_status loader_mask_row(struct leat_loader *l, const struct loader_slot *slot, uint32_t row,
                                 struct leat_error *err)
{
    uint8_t *to = slot->memory + slot->layout.masks_at + (size_t)row * slot->layout.mask_width;
    enum leat_status s = LEAT_OK;

    for (uint32_t k = slot->first_piece[row]; s == LEAT_OK && k < slot->first_piece[row + 1]; k++) {
        const struct leat_piece *p = &slot->pieces[k];
        uint64_t context, gap = loader_pieces_gap(l, p);

        s = part_mask(dataset_part(l->plan->sources[p->source].dataset, p->part), p->offset, p->count, to, err);
        if (s == LEAT_OK)
            s = find_context(l, p, &context, err);
        if (s != LEAT_OK)
            break;
        memset(to, 0, context);
        memset(to + p->count, 0, gap);
        to += p->count + gap;
    }
    return s;
}
