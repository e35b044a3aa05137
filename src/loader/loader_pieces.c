/* loader_pieces.c: finds the pieces of a slot's rows, as the plan's order gives them, and the length of the batch. */
#include "base/status.h"
#include "loader.h"

uint32_t loader_pieces_gap_after(const struct leat_loader *l, uint64_t places)
{
    uint64_t align = l->plan->rules.fit[PLAN_FIT_ALIGN], over = align > 0 ? places % align : 0;

    return over > 0 ? (uint32_t)(align - over) : 0;
}

uint32_t loader_pieces_gap(const struct leat_loader *l, const struct leat_piece *piece)
{
    return loader_pieces_gap_after(l, l->options.outputs.unshifted ? piece->count : piece->count - 1);
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
        tokens += pieces[i].count + loader_pieces_gap_after(l, pieces[i].count - 1);
        at = tokens - (l->plan->order->own_labels ? i + 1 : 0);
    }
    if (tokens == sample->tokens)
        return LEAT_OK;
    return status_set(err, LEAT_E_UNSUPPORTED,
                      "sample %" PRIu64 " has pieces with labels of their own; the loader has no room for these",
                      sample->number);
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

uint32_t loader_pieces_inputs(const struct leat_loader *l, const struct loader_slot *slot, uint32_t row)
{
    return l->options.outputs.unshifted ? loader_pieces_tokens(l, slot, row) : slot->samples[row].length;
}

/* The length of a batch that has this row of so many inputs: padding in a row belongs to it (`own_labels`). */
static uint64_t length_with(const struct leat_loader *l, const struct leat_sample *sample, uint64_t inputs)
{
    uint64_t length = l->plan->order->own_labels ? plan_length_at(l->plan, sample->number) : 0;

    return length > inputs ? length : inputs;
}

/* Finds the length of the slot's batch, whose pieces are known: that of its longest row. A rank that has no row in the
 * last batch takes the plan's last row instead: its arrays must have the shape of the other ranks', in programs with
 * collectives or of fixed shapes. */
enum leat_status loader_pieces_length(const struct leat_loader *l, struct loader_slot *slot, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    uint64_t longest = 1, got;
    struct leat_sample last;

    for (uint32_t i = 0; i < slot->places; i++) {
        uint64_t length = length_with(l, &slot->samples[i], loader_pieces_inputs(l, slot, i));

        longest = length > longest ? length : longest;
    }
    if (slot->places == 0)
        s = plan_samples(l->plan, l->shape.positions - 1, 1, &last, &got, err);
    if (s == LEAT_OK && slot->places == 0)
        longest = length_with(l, &last, l->options.outputs.unshifted ? last.tokens : last.length);
    slot->batch.length = longest > 1 ? (uint32_t)longest : 1;
    return s;
}
