/*
 * loader_ahead.c: rows of datasets on servers are announced long before their batch is begun: slots hold what a disk
 * needs, and a server takes a hundred times as long. The plan knows every place, so that a step waits for the network
 * only if all of it is slower than training.
 *
 * If the plan shows its sources in stretches, whole stretches are announced, one after another, while the pool before
 * theirs is shown. Only the first batch asks for its pages alone; what the next ones need of the first pool is fetched
 * in large ranges around their rows.
 */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/tiny.h"
#include "loader.h"

#define AHEAD_BYTES      TINY_OR((uint64_t)64 << 10, (uint64_t)32 << 20) /* 42 batches of 64 windows of 4 Ki */
#define AHEAD_BATCHES    TINY_OR(3u, 64u)
#define BATCHES_AT_ONE   4u /* most that one call announces: a batch that is due does not wait for all */
#define STRETCHES_AT_ONE 4u
#define RANGE            TINY_OR((uint64_t)16 << 10, (uint64_t)1 << 20) /* fetched around a row of the first pool */

enum leat_status loader_ahead_open(struct leat_loader *l, struct leat_error *err)
{
    struct loader_ahead *a = &l->ahead;
    uint64_t sources = l->shape.plan->rules.source_count;
    uint64_t row = ((uint64_t)l->shape.max_length + 1) * l->shape.token_width + GATHER_PAGE,
             fit = AHEAD_BYTES / row / l->shape.rows;

    if ((!l->gather.has_holes && !(l->gather.in_stretches && l->gather.warm)) || l->steps.tokens.samples)
        return LEAT_OK;
    a->batches = fit < 1 ? 1 : fit < AHEAD_BATCHES ? fit : AHEAD_BATCHES;
    a->on = true;
    if (l->gather.in_stretches) {
        a->stretches = calloc(sources, sizeof *a->stretches);
        if (!a->stretches)
            return status_no_memory(err, sources * sizeof *a->stretches);
    }
    return loader_places_open(&l->shape, &a->places, &a->reads, err);
}

/* Notes which stretches are due with the rows that were found last. */
static void note_stretches(const struct loader_shape *shape, struct loader_ahead *a)
{
    uint64_t first, end;

    for (uint32_t i = 0; i < a->places.step.filled; i++) {
        const struct leat_sample *sample = &a->places.step.samples[i];
        struct loader_near *x = &a->stretches[sample->source];

        plan_stretches_near(shape->plan, sample, &first, &end);
        x->next = x->next > first ? x->next : first;
        x->end = x->end > end ? x->end : end;
    }
}

/* Announces the stretch at a place. Returns false if it is to be announced again. */
static bool announce_stretch(struct leat_loader *l, uint32_t source, uint64_t place)
{
    const struct loader_shape *shape = &l->shape;
    uint64_t given = 0, width = shape->token_width;
    struct plan_range range;

    while (plan_stretches_range(shape->plan, source, place, &given, &range)) {
        struct gather_piece piece = { .file = shape->first_file[source] + range.part,
                                      .offset = range.offset * width,
                                      .bytes = range.count * width };

        if (loader_deal_takes(shape, range.lane) && !gather_announce_far(&l->gather, &piece))
            return false;
    }
    return true;
}

/* Announces the next stretches that are due. */
static void announce_stretches(struct leat_loader *l)
{
    struct loader_near *x = l->ahead.stretches;
    uint64_t sources = x ? l->shape.plan->rules.source_count : 0;
    unsigned left = STRETCHES_AT_ONE;

    for (uint32_t source = 0; source < sources; source++)
        for (; left > 0 && x[source].next < x[source].end; left--)
            x[source].next += announce_stretch(l, source, x[source].next);
}

/* Announces what lies between two places of a file, unless it was announced lately. */
static void announce_range(struct leat_loader *l, uint32_t file, uint64_t begin, uint64_t end)
{
    struct gather_piece p = { .file = file, .offset = begin, .bytes = end - begin };
    uint64_t number = ((uint64_t)file << 40 ^ begin / GATHER_PAGE) + 1;
    uint64_t *lately = &l->ahead.ranges[(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) % LOADER_ANNOUNCED];

    if (*lately != number)
        gather_announce(&l->gather, &p);
    *lately = number;
}

/* Announces the ranges around a row, as far as its stretch goes. Of a stretch that other ranks show, only the row's own
 * pages are fetched. */
static void announce_around(struct leat_loader *l, const struct leat_sample *row, const struct gather_piece *piece)
{
    uint64_t width = l->shape.token_width, end = piece->offset + piece->bytes;
    struct plan_range near = plan_stretches_around(l->shape.plan, row);

    if (!loader_deal_takes(&l->shape, near.lane)) {
        gather_announce(&l->gather, piece);
        return;
    }
    for (uint64_t range = piece->offset / RANGE; range * RANGE < end; range++) {
        uint64_t from = near.offset * width, to = from + near.count * width;

        from = from > range * RANGE ? from : range * RANGE;
        to = to < (range + 1) * RANGE ? to : (range + 1) * RANGE;
        announce_range(l, piece->file, from, to);
    }
}

/* Announces what is read for the rows that were found last. */
static void announce_rows(struct leat_loader *l, const struct loader_ahead *a)
{
    const struct gather_piece *pieces = a->reads.job.pieces;
    uint32_t next = 0;

    for (uint32_t row = 0; row < a->places.step.filled && a->stretches && l->gather.has_holes; row++)
        for (; next < a->reads.first[row + 1]; next++)
            if (pieces[next].bytes > 0)
                announce_around(l, &a->places.step.samples[row], &pieces[next]);
    for (; next < a->reads.job.count; next++)
        if (pieces[next].bytes > 0)
            gather_announce(&l->gather, &pieces[next]);
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
    if (s == LEAT_OK && got > 0)
        announce_rows(l, a);
    if (s == LEAT_OK && a->stretches)
        note_stretches(&l->shape, a);
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
    announce_stretches(l);
}

void loader_ahead_close(struct leat_loader *l)
{
    loader_places_close(&l->ahead.places, &l->ahead.reads);
    free(l->ahead.stretches);
    memset(&l->ahead, 0, sizeof l->ahead);
}
