/*
 * loader_loss.c: takes the loss of labels by what a row's tokens are (struct leat_loader_outputs): of its first place,
 * of begin tokens, of all of it if an n-gram is repeated too often. It clears the mask of these tokens in the slot, so
 * that host and GPU follow.
 *
 * A row has 32 copies of p tokens in a row if 31 p tokens, one after another, are each the token p places before them.
 * Such a stretch has a token whose number is a multiple of 31 p: only those are looked at, and their neighbours only
 * where one is repeated.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/status.h"
#include "loader.h"

#define MAX_PERIOD 13u /* as InstanceFilterConfig of OLMo-core has them */
#define MAX_COPIES 32u

enum leat_status loader_loss_open(struct leat_loader *l, struct leat_error *err)
{
    const struct leat_loader_outputs *o = &l->options.outputs;
    struct leat_info info = LEAT_INFO_INIT;

    leat_dataset_info(l->plan->sources[0].dataset, &info);
    l->ignored = o->ignore_index != 0 ? o->ignore_index : -100;
    l->loss.begin_token = o->mask_begin ? info.begin_token : LEAT_NONE;
    if (l->ignored >= 0)
        return status_argument(err, "ignore_index", "ignore_index must be below 0, not %d: other numbers are tokens",
                               (int)l->ignored);
    if (o->mask_begin && info.begin_token == LEAT_NONE)
        return status_argument(err, "mask_begin", "the datasets have no begin token: leave mask_begin out");
    l->masks |= o->mask_row_first || o->mask_begin || o->mask_repeats;
    return LEAT_OK;
}

static uint32_t token_at(const struct leat_loader *l, const uint8_t *tokens, uint64_t i)
{
    const uint8_t *p = tokens + i * l->token_width;
    uint32_t t = p[0] | (uint32_t)p[1] << 8;

    return l->token_width == 2 ? t : t | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

void loader_loss_tokens(const struct leat_loader *l, const uint8_t *tokens, uint64_t count, uint64_t second,
                        uint8_t *mask)
{
    if (l->options.outputs.mask_row_first && second < count)
        mask[second] = 0;
    for (uint64_t i = 0; l->loss.begin_token != LEAT_NONE && i < count; i++)
        if (token_at(l, tokens, i) == l->loss.begin_token)
            mask[i] = 0;
}

/* Whether `length` tokens in a row, one of them number `at`, are the tokens `period` places before them. */
static bool is_repeated(const uint32_t *ids, uint64_t count, uint64_t at, uint64_t period, uint64_t length)
{
    uint64_t first = at, end = at + 1;

    if (ids[at] != ids[at - period])
        return false;
    while (first > period && ids[first - 1] == ids[first - 1 - period])
        first--;
    while (end < count && end - first < length && ids[end] == ids[end - period])
        end++;
    return end - first >= length;
}

static bool has_repeats(const uint32_t *ids, uint64_t count)
{
    for (uint64_t period = 1; period <= MAX_PERIOD; period++)
        for (uint64_t step = (MAX_COPIES - 1) * period, at = step; at < count; at += step)
            if (is_repeated(ids, count, at, period, step))
                return true;
    return false;
}

/* Tokens of a row that has come whole, without the gaps between its pieces. */
static enum leat_status take_row(struct leat_loader *l, const struct loader_slot *slot, uint32_t row, uint64_t *count,
                                 struct leat_error *err)
{
    const uint8_t *tokens = loader_layout_row(slot, row);
    enum leat_status s = GROW(l->loss.ids, slot->samples[row].tokens, l->loss.room, err);

    *count = 0;
    for (uint32_t k = slot->first_piece[row]; s == LEAT_OK && k < slot->first_piece[row + 1]; k++) {
        const struct leat_piece *p = &slot->pieces[k];

        for (uint32_t i = 0; i < p->count; i++)
            l->loss.ids[(*count)++] = token_at(l, tokens, i);
        tokens += ((size_t)p->count + loader_pieces_gap(l, p)) * l->token_width;
    }
    return s;
}

/* Tokens of a row in segments, which has not come whole, or with more than it has: read where they are. */
static enum leat_status read_row(struct leat_loader *l, const struct leat_sample *x, uint64_t *count,
                                 struct leat_error *err)
{
    struct loader_loss *loss = &l->loss;
    uint64_t stretches = 0, more;
    enum leat_status s = leat_plan_row(l->plan, x, loss->row, loss->row_room, &stretches, err);

    *count = 0;
    if (s == LEAT_OK && stretches > loss->row_room) {
        s = GROW(loss->row, stretches, loss->row_room, err);
        if (s == LEAT_OK)
            s = leat_plan_row(l->plan, x, loss->row, loss->row_room, &more, err);
    }
    for (uint64_t k = 0; s == LEAT_OK && k < stretches; k++) {
        const struct leat_stretch *t = &loss->row[k];

        s = GROW(loss->ids, *count + t->count, loss->room, err);
        if (s == LEAT_OK && t->literal)
            loss->ids[*count] = (uint32_t)t->token;
        else if (s == LEAT_OK)
            s = leat_dataset_read_u32(l->plan->sources[t->source].dataset, t->token, t->count, loss->ids + *count, err);
        *count += t->count;
    }
    return s;
}

enum leat_status loader_loss_repeats(struct leat_loader *l, const struct loader_slot *slot, uint32_t row, bool *repeats,
                                     struct leat_error *err)
{
    const struct leat_sample *x = &slot->samples[row];
    enum leat_status s;
    uint64_t count;

    *repeats = false;
    if (!l->options.outputs.mask_repeats)
        return LEAT_OK;
    s = l->segmented ? read_row(l, x, &count, err) : take_row(l, slot, row, &count, err);
    /* of rows of documents all tokens are looked through, of others the inputs */
    if (!l->plan->order->own_labels && !l->plan->order->longest_first && count > x->length)
        count = x->length;
    *repeats = s == LEAT_OK && has_repeats(l->loss.ids, count);
    return s;
}

enum leat_status loader_loss_row(struct leat_loader *l, const struct loader_slot *slot, uint32_t row, uint8_t *mask,
                                 struct leat_error *err)
{
    uint32_t tokens = loader_pieces_tokens(l, slot, row);
    bool repeats;
    enum leat_status s = loader_loss_repeats(l, slot, row, &repeats, err);

    if (repeats)
        memset(mask, 0, tokens);
    if (s == LEAT_OK)
        loader_loss_tokens(l, loader_layout_row(slot, row), tokens, 1, mask);
    return s;
}
