/*
 * loader_tokens.c: batches by tokens: the plan's samples say which batch they belong to (docs/ORDER.md, "Batches by
 * tokens"), and each step gives consecutive batches to the ranks, one to each. So the position alone says where a run
 * is, and any number of ranks goes on from it.
 */
#include <stdlib.h>

#include "base/status.h"
#include "loader.h"

enum leat_status loader_tokens_open(struct leat_loader *l, uint64_t *rows, struct leat_error *err)
{
    const uint64_t *by_tokens = l->plan->rules.by_tokens;

    if (by_tokens[PLAN_MAX_TOKENS] == 0)
        return LEAT_OK;
    if (l->options.batch > 0)
        return status_argument(err, "batch",
                               "the plan has batches by tokens, of at most %" PRIu64
                               ": the number of rows cannot be given too; max_rows of the plan limits it",
                               by_tokens[PLAN_MAX_TOKENS]);
    l->options.io.apart = LEAT_APART_NEVER;
    *rows = by_tokens[PLAN_MAX_ROWS];
    l->tokens.samples = calloc(by_tokens[PLAN_POOL], sizeof *l->tokens.samples);
    return l->tokens.samples ? LEAT_OK : status_no_memory(err, by_tokens[PLAN_POOL] * sizeof *l->tokens.samples);
}

void loader_tokens_close(struct leat_loader *l)
{
    free(l->tokens.samples);
}

uint64_t loader_tokens_places(const struct leat_loader *l, uint64_t longest, uint64_t more)
{
    uint64_t most = l->plan->rules.by_tokens[PLAN_MAX_TOKENS];

    if (most > 0 && most + more * l->shape.rows < longest * l->shape.rows)
        return most + more * l->shape.rows;
    return longest * l->shape.rows;
}

/* Looks at the pool of sample n, which the plan has. */
static enum leat_status take_pool(struct leat_loader *l, uint64_t n, struct leat_error *err)
{
    struct loader_tokens *t = &l->tokens;
    uint64_t room = l->plan->rules.by_tokens[PLAN_POOL], first = n / room * room;
    enum leat_status s = LEAT_OK;

    if (t->count > 0 && t->first == first)
        return s;
    t->first = first;
    t->count = l->plan->end - first < room ? l->plan->end - first : room;
    s = plan_order_samples(l->plan, first, t->count, t->samples, err);
    if (s != LEAT_OK)
        t->count = 0;
    return s;
}

/* The batch from a position on, or what is left of it there; *position is then after it. *got is 0 at the end. */
static enum leat_status take_batch(struct leat_loader *l, uint64_t *position, struct leat_sample *samples,
                                   uint64_t *got, struct leat_error *err)
{
    uint64_t n = leat_plan_number(l->plan, *position), begin;
    enum leat_status s;

    *got = 0;
    if (*position >= l->shape.positions || n >= l->plan->end)
        return LEAT_OK;
    s = take_pool(l, n, err);
    if (s != LEAT_OK)
        return s;
    begin = n - l->tokens.samples[n - l->tokens.first].slice;
    while (n < l->tokens.first + l->tokens.count) {
        const struct leat_sample *x = &l->tokens.samples[n - l->tokens.first];

        if (x->number - x->slice != begin)
            break;
        if (samples)
            samples[*got] = *x;
        ++*got;
        n = leat_plan_number(l->plan, *position + *got);
    }
    *position += *got;
    return LEAT_OK;
}

enum leat_status loader_tokens_rows(struct leat_loader *l, uint64_t position, struct leat_sample *samples,
                                    uint64_t *got, uint64_t *batches, uint64_t *next, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    uint64_t rows = 1;

    *got = *batches = 0;
    for (uint64_t r = 0; s == LEAT_OK && r < l->options.ranks.world && rows > 0; r++) {
        bool mine = r == l->options.ranks.rank;

        s = take_batch(l, &position, mine ? samples : NULL, &rows, err);
        *got = mine ? rows : *got;
        *batches += rows > 0;
    }
    *next = position;
    return s;
}
