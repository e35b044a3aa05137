/* loader_pieces.c: finds the pieces of a slot's rows, as the plan's order gives them. */
#include <stdlib.h>

#include "base/status.h"
#include "loader.h"

enum leat_status loader_pieces_room(struct loader_slot *slot, uint64_t count, struct leat_error *err)
{
    struct leat_piece *pieces;
    struct gather_piece *reads;

    if (count <= slot->piece_room)
        return LEAT_OK;
    if (count > UINT32_MAX)
        return status_set(err, LEAT_E_RANGE, "a batch of %llu pieces is too large; take fewer rows",
                          (unsigned long long)count);
    pieces = realloc(slot->pieces, (size_t)count * sizeof *pieces);
    if (pieces)
        slot->pieces = pieces;
    reads = pieces ? realloc(slot->reads, (size_t)count * sizeof *reads) : NULL;
    if (!reads)
        return status_no_memory(err, count * (sizeof *pieces + sizeof *reads));
    slot->reads = slot->job.pieces = reads;
    slot->piece_room = (uint32_t)count;
    return LEAT_OK;
}

/* The places up to the next multiple of the plan's `align`, after this many. */
static uint32_t gap_after(const struct leat_loader *l, uint64_t places)
{
    uint64_t align = l->plan->rules.fit[PLAN_FIT_ALIGN], over = align > 0 ? places % align : 0;

    return over > 0 ? (uint32_t)(align - over) : 0;
}

uint32_t loader_pieces_gap(const struct leat_loader *l, const struct leat_piece *piece)
{
    return gap_after(l, l->options.unshifted ? piece->count : piece->count - 1);
}

uint32_t loader_pieces_tokens(const struct leat_loader *l, const struct loader_slot *slot, uint32_t row)
{
    uint64_t tokens = 0;

    for (uint32_t k = slot->first_piece[row]; k < slot->first_piece[row + 1]; k++)
        tokens += slot->pieces[k].count + loader_pieces_gap(l, &slot->pieces[k]);
    return (uint32_t)tokens;
}

/* The tokens of a row lie together in a slot, so each piece must begin where the one before it ends, or, if pieces have
 * labels of their own, at that label's place, or after its gap. */
static enum leat_status check_row(const struct leat_loader *l, const struct leat_sample *sample,
                                  const struct leat_piece *pieces, struct leat_error *err)
{
    uint64_t at = 0, tokens = 0;

    for (uint32_t i = 0; i < sample->pieces && pieces[i].at == at; i++) {
        tokens += pieces[i].count + gap_after(l, pieces[i].count - 1);
        at = tokens - (l->plan->order->own_labels ? i + 1 : 0);
    }
    if (tokens == sample->tokens)
        return LEAT_OK;
    return status_set(err, LEAT_E_UNSUPPORTED,
                      "sample %llu has pieces that bring labels of their own; the loader has no room for them",
                      (unsigned long long)sample->number);
}

enum leat_status loader_pieces_find(struct leat_loader *l, struct loader_slot *slot, struct leat_error *err)
{
    enum leat_status s;
    uint64_t count = 0;

    slot->first_piece[0] = 0;
    for (uint32_t i = 0; i < slot->places; i++) {
        count += slot->samples[i].pieces;
        slot->first_piece[i + 1] = (uint32_t)count;
    }
    s = loader_pieces_room(slot, count, err); /* also refuses a count that 32 bits do not hold */
    if (s == LEAT_OK)
        s = plan_order_pieces(l->plan, slot->samples, slot->places, slot->pieces, err);
    if (!l->plan->order->pieces) /* each row is one piece */
        return s;
    for (uint32_t i = 0; s == LEAT_OK && i < slot->places; i++) {
        const struct leat_piece *pieces = slot->pieces + slot->first_piece[i];

        slot->samples[i].token = pieces->token;
        slot->samples[i].offset = pieces->offset;
        slot->samples[i].part = pieces->part;
        s = check_row(l, &slot->samples[i], pieces, err);
    }
    return s;
}
