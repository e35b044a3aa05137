/*
 * loader_loss.c: takes the loss of labels by what a row's tokens are (struct leat_loader_outputs): of its first place,
 * of begin tokens. It clears the mask of these tokens in the slot, so that host and GPU follow.
 */
#include "base/status.h"
#include "loader.h"

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
    l->masks |= o->mask_row_first || o->mask_begin;
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
