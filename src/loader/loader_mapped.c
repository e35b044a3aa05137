/*
 * loader_mapped.c: rows that stay where their files are mapped (LEAT_APART_MAPPED): kernels, on the host or on a device
 * that reads all memory of a process, read them there, and nothing is copied.
 *
 * Only a row of one piece can stay, and only in a map on trust, since kernels read it at any time until the batch is
 * given back. Its pages are verified in the map, as ever. Each row also has a place in the slot: if its file is not
 * mapped, or it is damaged, it lies there. Rows that cannot stay come first, so that a device gets no bytes of places
 * that are not used; and before them the mask, which all batches have where there is one.
 */
#include "base/bytes.h"
#include "loader.h"

#define ALIGNMENT 64u

static bool can_stay(const struct leat_loader *l, const struct loader_slot *slot, uint32_t row)
{
    const struct leat_piece *p;

    if (row >= slot->places || slot->first_piece[row + 1] - slot->first_piece[row] != 1)
        return false;
    p = &slot->pieces[slot->first_piece[row]];
    return p->count > 0 && loader_pieces_gap(l, p) == 0;
}

void loader_mapped_put(struct leat_loader *l, struct loader_slot *slot)
{
    size_t sent;

    slot->bytes = l->sizes.tokens_at;
    if (l->masks)
        loader_mask_put(l, slot);
    slot->bytes = (size_t)bytes_divide_up(slot->bytes, ALIGNMENT) * ALIGNMENT;
    for (uint32_t row = 0; row < slot->batch.rows; row++)
        if (!can_stay(l, slot, row))
            loader_layout_put_row(l, slot, row);
    sent = slot->bytes;
    for (uint32_t row = 0; row < slot->places; row++)
        if (can_stay(l, slot, row)) {
            loader_layout_put_row(l, slot, row);
            slot->reads[slot->first_piece[row]].may_stay = true;
        }
    slot->bytes = sent;
    slot->layout.rows_at = l->sizes.rows_at;
    slot->batch.tokens = NULL;
}

bool loader_mapped_stays(const struct loader_slot *slot, uint32_t row)
{
    const struct gather_piece *first;

    if (row >= slot->places || slot->first_piece[row + 1] - slot->first_piece[row] != 1)
        return false;
    first = &slot->reads[slot->first_piece[row]];
    return first->may_stay && first->stays;
}

void loader_mapped_settle(const struct leat_loader *l, struct loader_slot *slot, uint32_t row)
{
    uint64_t *begins = (uint64_t *)(void *)(slot->memory + l->sizes.rows_at);
    size_t end = (size_t)begins[row] + (size_t)loader_pieces_tokens(l, slot, row) * l->token_width;

    if (loader_mapped_stays(slot, row))
        begins[row] = (uintptr_t)slot->reads[slot->first_piece[row]].stays - l->ops->base(l->backend, slot->number);
    else if (slot->bytes < end)
        slot->bytes = end;
}

void loader_mapped_return(const struct leat_loader *l, struct loader_slot *slot, uint32_t row)
{
    struct gather_piece *first = &slot->reads[slot->first_piece[row]];

    if (!loader_mapped_stays(slot, row))
        return;
    first->stays = NULL;
    ((uint64_t *)(void *)(slot->memory + l->sizes.rows_at))[row] = (uint64_t)(first->to - slot->memory);
    loader_mapped_settle(l, slot, row);
}
