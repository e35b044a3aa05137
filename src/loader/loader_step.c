/*
 * loader_step.c: the first stage: which samples a step has for this rank, and how many rows its batch has.
 *
 * If batches have a number of rows, they are consecutive samples of the global batch, or those that the rank is dealt.
 * For a deal, every rank computes the samples of the whole batch; what is read from files is only its own.
 *
 * If batches are by tokens, the plan's samples say which batch they belong to (docs/ORDER.md, "Batches by tokens"), and
 * each step gives consecutive batches to the ranks, one to each. So the position alone says where a run is, and any
 * number of ranks goes on from it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/counter.h"
#include "base/status.h"
#include "loader_stages.h"

enum leat_status loader_steps_open(struct loader_shape *shape, struct loader_steps *x, uint64_t *rows,
                                   struct leat_error *err)
{
    const uint64_t *by_tokens = shape->plan->rules.by_tokens;
    uint64_t batch = shape->options.batch, world = shape->options.ranks.world;
    struct loader_deal *d = &x->deal;
    enum leat_status s;

    if (by_tokens[PLAN_MAX_TOKENS] > 0 && batch > 0)
        return status_argument(err, "batch",
                               "the plan has batches by tokens, of at most %" PRIu64
                               ": the number of rows cannot be given too; max_rows of the plan limits it",
                               by_tokens[PLAN_MAX_TOKENS]);
    if (by_tokens[PLAN_MAX_TOKENS] > 0) {
        shape->options.io.apart = LEAT_APART_NEVER;
        *rows = by_tokens[PLAN_MAX_ROWS];
        x->tokens.samples = calloc(by_tokens[PLAN_POOL], sizeof *x->tokens.samples);
        if (!x->tokens.samples)
            return status_no_memory(err, by_tokens[PLAN_POOL] * sizeof *x->tokens.samples);
    }
    if (shape->options.ranks.balance == LEAT_BALANCE_NONE)
        return LEAT_OK;
    s = plan_deal_check(shape->plan, shape->options.ranks.balance, batch, world, err);
    if (s != LEAT_OK)
        return s;
    d->samples = calloc(batch, sizeof *d->samples);
    d->ranks = calloc(batch, sizeof *d->ranks);
    d->costs = calloc(batch, sizeof *d->costs);
    d->sums = calloc(2 * world, sizeof *d->sums);
    return d->samples && d->ranks && d->costs && d->sums ? LEAT_OK : status_no_memory(err, batch * sizeof *d->samples);
}

void loader_steps_close(struct loader_steps *x)
{
    free(x->deal.samples);
    free(x->deal.ranks);
    free(x->deal.costs);
    free(x->deal.sums);
    free(x->tokens.samples);
}

/* ---- A number of rows ---- */

enum leat_status loader_deal_rows(const struct loader_shape *shape, struct loader_deal *d, uint64_t position,
                                  struct leat_sample *samples, uint64_t *got, struct leat_error *err)
{
    const struct leat_loader_options *o = &shape->options;
    enum leat_status s;
    uint64_t all;

    if (!d->samples)
        return plan_samples(shape->plan, position + shape->first_row, shape->rows, samples, got, err);
    *got = 0;
    s = plan_deal(shape->plan, o->ranks.balance, position, o->batch, o->ranks.world, d->samples, &all, d->ranks,
                  d->costs, err);
    for (uint64_t i = 0; s == LEAT_OK && i < all; i++)
        if (d->ranks[i] == o->ranks.rank)
            samples[(*got)++] = d->samples[i];
    return s;
}

bool loader_deal_takes(const struct loader_shape *shape, uint64_t lane)
{
    const struct leat_loader_ranks *o = &shape->options.ranks;

    return o->balance != LEAT_BALANCE_LANES || lane / (shape->plan->rules.stretches[PLAN_LANES] / o->world) == o->rank;
}

/* Returns how far apart sums are: (greatest - least) / greatest, in millionths. */
static uint64_t apart(const uint64_t *sums, uint64_t count)
{
    uint64_t least = sums[0], most = sums[0];

    for (uint64_t r = 1; r < count; r++) {
        least = sums[r] < least ? sums[r] : least;
        most = sums[r] > most ? sums[r] : most;
    }
    return most > 0 ? (uint64_t)((double)(most - least) / (double)most * LOADER_DEAL_ONE) : 0;
}

/* Counts the batch whose rows were given last in the statistics. */
static void count_deal(const struct loader_shape *shape, struct loader_deal *d)
{
    uint64_t world = shape->options.ranks.world, *chance, spread;

    if (shape->options.ranks.balance != LEAT_BALANCE_ATTENTION)
        return;
    chance = d->sums + world;
    memset(d->sums, 0, 2 * world * sizeof *d->sums);
    for (uint64_t i = 0; i < shape->options.batch; i++) {
        d->sums[d->ranks[i]] += d->costs[i];
        chance[i / shape->rows] += d->costs[i];
    }
    spread = apart(d->sums, world);
    atomic_store_explicit(&d->last, spread, memory_order_relaxed);
    counter_bump(&d->spread, spread);
    counter_bump(&d->chance, apart(chance, world));
    counter_bump(&d->batches, 1);
}

/* ---- By tokens ---- */

uint64_t loader_tokens_places(const struct loader_shape *shape, uint64_t longest, uint64_t more)
{
    uint64_t most = shape->plan->rules.by_tokens[PLAN_MAX_TOKENS];

    if (most > 0 && most + more * shape->rows < longest * shape->rows)
        return most + more * shape->rows;
    return longest * shape->rows;
}

/* Looks at the pool of sample n, which the plan has. */
static enum leat_status take_pool(const struct loader_shape *shape, struct loader_tokens *t, uint64_t n,
                                  struct leat_error *err)
{
    uint64_t room = shape->plan->rules.by_tokens[PLAN_POOL], first = n / room * room;
    enum leat_status s = LEAT_OK;

    if (t->count > 0 && t->first == first)
        return s;
    t->first = first;
    t->count = shape->plan->end - first < room ? shape->plan->end - first : room;
    s = plan_order_samples(shape->plan, first, t->count, t->samples, err);
    if (s != LEAT_OK)
        t->count = 0;
    return s;
}

/* Takes the batch from a position on, or what is left of it there; *position is then after it. *got is 0 at the end. */
static enum leat_status take_batch(const struct loader_shape *shape, struct loader_tokens *t, uint64_t *position,
                                   struct leat_sample *samples, uint64_t *got, struct leat_error *err)
{
    uint64_t n = leat_plan_number(shape->plan, *position), begin;
    enum leat_status s;

    *got = 0;
    if (*position >= shape->positions || n >= shape->plan->end)
        return LEAT_OK;
    s = take_pool(shape, t, n, err);
    if (s != LEAT_OK)
        return s;
    begin = n - t->samples[n - t->first].slice;
    while (n < t->first + t->count) {
        const struct leat_sample *x = &t->samples[n - t->first];

        if (x->number - x->slice != begin)
            break;
        if (samples)
            samples[*got] = *x;
        ++*got;
        n = leat_plan_number(shape->plan, *position + *got);
    }
    *position += *got;
    return LEAT_OK;
}

/* Gives the samples of this rank's batch of the step that begins at a position, how many batches the step has for all
 * ranks, and the position after them. */
static enum leat_status find_by_tokens(const struct loader_shape *shape, struct loader_tokens *t, uint64_t position,
                                       struct leat_sample *samples, uint64_t *got, uint64_t *batches, uint64_t *next,
                                       struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    uint64_t rows = 1;

    *got = *batches = 0;
    for (uint64_t r = 0; s == LEAT_OK && r < shape->options.ranks.world && rows > 0; r++) {
        bool mine = r == shape->options.ranks.rank;

        s = take_batch(shape, t, &position, mine ? samples : NULL, &rows, err);
        *got = mine ? rows : *got;
        *batches += rows > 0;
    }
    *next = position;
    return s;
}

/* ---- A step ---- */

/* Returns how many rows this rank has in the batch from a position on, `got` of them with samples; 0: the plan has
 * ended. */
static uint32_t rows_at_end(const struct loader_shape *shape, uint64_t begin, uint64_t got)
{
    uint64_t positions = shape->positions;

    if (got == shape->rows && (shape->options.last != LEAT_LAST_DROPPED || positions == LEAT_NONE))
        return shape->rows;
    if (begin >= positions)
        return 0;
    if (shape->options.last == LEAT_LAST_PADDED)
        return shape->rows;
    if (shape->options.last == LEAT_LAST_DROPPED)
        return positions - begin >= shape->options.batch ? (uint32_t)got : 0;
    return (uint32_t)got;
}

/* Sorts the longest rows first; equal ones keep their order. */
static int compare_rows(const void *a, const void *b)
{
    const struct leat_sample *x = a, *y = b;

    if (x->length != y->length)
        return x->length < y->length ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Returns how many rows this rank has of a step that has `batches` batches by tokens for all ranks. A rank without
 * one has a row of padding. */
static uint32_t rows_by_tokens(const struct loader_shape *shape, uint64_t got, uint64_t batches)
{
    if (batches == 0 || (shape->options.last == LEAT_LAST_DROPPED && batches < shape->options.ranks.world))
        return 0;
    return got == 0 && shape->options.last == LEAT_LAST_PADDED ? 1 : (uint32_t)got;
}

/* Announces the parts of an index on a file server that say where the samples of coming batches begin, before they
 * are needed: for the batches that further slots can have; for batches by tokens, which are found by pools, two
 * pools. */
static void announce_samples(const struct loader_shape *shape, struct loader_steps *x, uint64_t position)
{
    uint64_t step = shape->options.batch, ahead = x->slots * step;

    if (!shape->plan->order->announce)
        return;
    if (x->tokens.samples)
        ahead = step = shape->plan->rules.by_tokens[PLAN_POOL];
    if (x->announced < position)
        x->announced = position;
    for (; x->announced <= position + ahead; x->announced += step)
        if (x->tokens.samples)
            plan_announce(shape->plan, x->announced, 1);
        else if (x->deal.samples)
            plan_announce(shape->plan, x->announced, step);
        else
            plan_announce(shape->plan, x->announced + shape->first_row, shape->rows);
}

enum leat_status loader_step_find(const struct loader_shape *shape, struct loader_steps *x, uint64_t position,
                                  struct loader_step *step, uint64_t *next, struct leat_error *err)
{
    uint64_t got = 0, batches = 0;
    enum leat_status s;

    *next = position + shape->options.batch;
    announce_samples(shape, x, position);
    if (x->tokens.samples)
        s = find_by_tokens(shape, &x->tokens, position, step->samples, &got, &batches, next, err);
    else
        s = loader_deal_rows(shape, &x->deal, position, step->samples, &got, err);
    if (s != LEAT_OK)
        return s;
    if (shape->plan->order->longest_first && got > 1)
        qsort(step->samples, (size_t)got, sizeof *step->samples, compare_rows);
    step->rows = x->tokens.samples ? rows_by_tokens(shape, got, batches) : rows_at_end(shape, position, got);
    step->filled = (uint32_t)got < step->rows ? (uint32_t)got : step->rows;
    memset(step->samples + step->filled, 0, (step->rows - step->filled) * sizeof *step->samples);
    if (step->rows > 0)
        count_deal(shape, &x->deal);
    return s;
}
