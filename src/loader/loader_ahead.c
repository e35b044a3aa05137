/*
 * loader_ahead.c: rows of datasets on servers are announced long before their batch is begun: slots hold what a disk
 * needs, and a server takes a hundred times as long. The plan knows every place, so that a step waits for the network
 * only if all of it is slower than training.
 */
#include <string.h>

#include "base/tiny.h"
#include "loader.h"

#define AHEAD_BYTES    TINY_OR((uint64_t)64 << 10, (uint64_t)32 << 20) /* 42 batches of 64 windows of 4 Ki */
#define AHEAD_BATCHES  TINY_OR(3u, 64u)
#define BATCHES_AT_ONE 4u /* most that one call announces: a batch that is due does not wait for all */

enum leat_status loader_ahead_open(struct leat_loader *l, struct leat_error *err)
{
    struct loader_ahead *a = &l->ahead;
    uint64_t row = ((uint64_t)l->shape.max_length + 1) * l->shape.token_width + GATHER_PAGE,
             fit = AHEAD_BYTES / row / l->shape.rows;

    if (!l->gather.has_holes || l->steps.tokens.samples)
        return LEAT_OK;
    a->batches = fit < 1 ? 1 : fit < AHEAD_BATCHES ? fit : AHEAD_BATCHES;
    a->on = true;
    return loader_places_open(&l->shape, &a->places, &a->reads, err);
}

/* Announces the next batch. Returns false if the plan ends, or fails; the call that begins the batch says which. */
static bool announce(struct leat_loader *l, struct loader_ahead *a)
{
    struct leat_error unsaid;
    uint64_t got = 0;
    enum leat_status s =
        loader_deal_rows(&l->shape, &l->steps.deal, a->position, a->places.step.samples, &got, &unsaid);

    a->places.step.rows = a->places.step.filled = (uint32_t)got;
    if (s == LEAT_OK && got > 0)
        s = loader_places_find(&l->shape, &a->places, &a->reads, NULL, &unsaid);
    for (uint32_t i = 0; s == LEAT_OK && got > 0 && i < a->reads.job.count; i++)
        if (a->reads.job.pieces[i].bytes > 0)
            gather_announce(&l->gather, &a->reads.job.pieces[i]);
    a->position += l->shape.options.batch;
    return s == LEAT_OK && got == l->shape.rows;
}

void loader_ahead(struct leat_loader *l)
{
    struct loader_ahead *a = &l->ahead;
    const uint64_t batch = l->shape.options.batch, next = l->stage.position;

    if (a->position < next)
        a->position = next;
    for (unsigned i = 0; i < BATCHES_AT_ONE && a->on && a->position - next < a->batches * batch; i++)
        if (!announce(l, a))
            loader_ahead_close(l);
}

void loader_ahead_close(struct leat_loader *l)
{
    loader_places_close(&l->ahead.places, &l->ahead.reads);
    memset(&l->ahead, 0, sizeof l->ahead);
}
