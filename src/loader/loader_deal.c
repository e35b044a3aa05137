/*
 * loader_deal.c: which samples of a global batch are this rank's: consecutive ones, or those that it is dealt
 * (`balance`). For a deal, every rank computes the samples of the whole batch; what is read from files is only its own.
 */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "loader.h"

enum leat_status loader_deal_open(struct leat_loader *l, struct leat_error *err)
{
    struct loader_deal *d = &l->deal;
    uint64_t batch = l->options.batch;
    enum leat_status s;

    if (l->options.ranks.balance == LEAT_BALANCE_NONE)
        return LEAT_OK;
    s = plan_deal_check(l->plan, batch, l->options.ranks.world, err);
    if (s != LEAT_OK)
        return s;
    d->samples = calloc(batch, sizeof *d->samples);
    d->ranks = calloc(batch, sizeof *d->ranks);
    d->costs = calloc(batch, sizeof *d->costs);
    d->sums = calloc(2 * l->options.ranks.world, sizeof *d->sums);
    return d->samples && d->ranks && d->costs && d->sums ? LEAT_OK : status_no_memory(err, batch * sizeof *d->samples);
}

void loader_deal_close(struct leat_loader *l)
{
    free(l->deal.samples);
    free(l->deal.ranks);
    free(l->deal.costs);
    free(l->deal.sums);
}

enum leat_status loader_deal_rows(struct leat_loader *l, uint64_t position, struct leat_sample *samples, uint64_t *got,
                                  struct leat_error *err)
{
    const struct leat_loader_options *o = &l->options;
    struct loader_deal *d = &l->deal;
    enum leat_status s;
    uint64_t all;

    if (!d->samples)
        return plan_samples(l->plan, position + l->shape.first_row, l->shape.rows, samples, got, err);
    *got = 0;
    s = plan_deal(l->plan, position, o->batch, o->ranks.world, d->samples, &all, d->ranks, d->costs, err);
    for (uint64_t i = 0; s == LEAT_OK && i < all; i++)
        if (d->ranks[i] == o->ranks.rank)
            samples[(*got)++] = d->samples[i];
    return s;
}

/* How far apart sums are: (greatest - least) / greatest, in millionths. */
static uint64_t apart(const uint64_t *sums, uint64_t count)
{
    uint64_t least = sums[0], most = sums[0];

    for (uint64_t r = 1; r < count; r++) {
        least = sums[r] < least ? sums[r] : least;
        most = sums[r] > most ? sums[r] : most;
    }
    return most > 0 ? (uint64_t)((double)(most - least) / (double)most * LOADER_DEAL_ONE) : 0;
}

void loader_deal_count(struct leat_loader *l)
{
    struct loader_deal *d = &l->deal;
    uint64_t world = l->options.ranks.world, *chance, spread;

    if (!d->samples)
        return;
    chance = d->sums + world;
    memset(d->sums, 0, 2 * world * sizeof *d->sums);
    for (uint64_t i = 0; i < l->options.batch; i++) {
        d->sums[d->ranks[i]] += d->costs[i];
        chance[i / l->shape.rows] += d->costs[i];
    }
    spread = apart(d->sums, world);
    atomic_store_explicit(&d->last, spread, memory_order_relaxed);
    counter_bump(&d->spread, spread);
    counter_bump(&d->chance, apart(chance, world));
    counter_bump(&d->batches, 1);
}
