/*
 * loader_sources.c: the sources of a batch's rows: their numbers and weights in the slot, and what of each was given to
 * the consumer. A row has one source in every order.
 *
 * How many labels of a row have a loss is found by the stage, as soon as the slot says so: for a row without a mask it
 * is the number of its predictions. The consumer's side adds it up when it gives the batch.
 */
#include <stdlib.h>

#include "base/counter.h"
#include "base/status.h"
#include "loader.h"

/* the least weight: products with the weights of masks are normal floats */
#define LEAST_WEIGHT 1e-30
#define MOST_WEIGHT  1e30

/* Takes the weights over, since the caller's are valid only while opening. */
static enum leat_status take_weights(struct leat_loader *l, struct leat_error *err)
{
    uint64_t sources = l->shape.plan->rules.source_count, count = l->shape.options.source_weight_count;
    const double *weights = l->shape.options.source_weights;

    if (!weights || count == 0)
        return LEAT_OK;
    if (count > sources)
        return status_argument(err, "source_weights",
                               "%" PRIu64 " weights are too many for a plan of %" PRIu64 " sources", count, sources);
    l->shape.weights.each = malloc((size_t)count * sizeof *l->shape.weights.each);
    if (!l->shape.weights.each)
        return status_no_memory(err, count * sizeof *l->shape.weights.each);
    l->shape.weights.count = count;
    for (uint64_t i = 0; i < count; i++) {
        if (!(weights[i] == 0 || (weights[i] >= LEAST_WEIGHT && weights[i] <= MOST_WEIGHT)))
            return status_argument(
                err, "source_weights",
                "the weight of a source in the loss is 0, or 1e-30 to 1e30; source %" PRIu64 " has %g", i, weights[i]);
        l->shape.weights.each[i] = (float)weights[i];
    }
    return LEAT_OK;
}

enum leat_status loader_sources_open(struct leat_loader *l, struct leat_error *err)
{
    enum leat_status s = loader_sources_room(l, l->shape.plan->rules.source_count, err);

    return s == LEAT_OK ? take_weights(l, err) : s;
}

/* Statistics may be reading the counts that there are: these stay until the loader is closed. */
enum leat_status loader_sources_room(struct leat_loader *l, uint64_t count, struct leat_error *err)
{
    struct loader_sources *before = atomic_load(&l->sources), *now;
    size_t bytes = sizeof *now + (size_t)count * sizeof *now->each;

    if (before && count <= before->count)
        return LEAT_OK;
    now = calloc(1, bytes);
    if (!now)
        return status_no_memory(err, bytes);
    for (uint64_t i = 0; before && i < before->count; i++) {
        counter_bump(&now->each[i].rows, counter_value(&before->each[i].rows));
        counter_bump(&now->each[i].tokens, counter_value(&before->each[i].tokens));
        counter_bump(&now->each[i].loss_tokens, counter_value(&before->each[i].loss_tokens));
    }
    now->count = count;
    now->before = before;
    atomic_store(&l->sources, now);
    return LEAT_OK;
}

void loader_sources_put(const struct loader_shape *shape, const struct loader_step *step, const struct loader_memory *m)
{
    int32_t *sources = (int32_t *)(void *)(m->base + shape->sizes.sources_at);
    float *weights = (float *)(void *)(m->base + shape->sizes.source_weights_at);
    const struct loader_weights *w = &shape->weights;

    for (uint32_t row = 0; row < step->rows; row++)
        sources[row] = row < step->filled ? (int32_t)step->samples[row].source : -1;
    for (uint32_t row = 0; w->each && row < step->rows; row++)
        weights[row] = sources[row] >= 0 && (uint32_t)sources[row] < w->count ? w->each[sources[row]] : 1;
}

void loader_sources_learn(const struct leat_loader *l, struct loader_slot *slot)
{
    struct leat_outputs usual = LEAT_OUTPUTS_INIT;
    struct rows_job job;
    bool all;

    usual.unshifted = l->shape.options.outputs.unshifted;
    usual.mask_first = l->shape.options.outputs.mask_first;
    job = loader_job(slot, &usual);
    all = !l->shape.masks && !job.mask_first && !l->shape.segmented;
    for (uint32_t row = 0; row < slot->places.step.filled; row++)
        slot->learned[row] = all ? slot->places.step.samples[row].length : rows_learned(&job, row);
}

void loader_sources_count(struct leat_loader *l, const struct loader_slot *slot)
{
    struct loader_sources *sources = atomic_load_explicit(&l->sources, memory_order_relaxed);

    atomic_store_explicit(&l->consumer.cursor, slot->batch.cursor, memory_order_relaxed);
    for (uint32_t row = 0; row < slot->places.step.filled; row++) {
        struct loader_source *source = &sources->each[slot->places.step.samples[row].source];

        if (slot->batch.flags[row] != 0)
            continue;
        counter_bump(&source->rows, 1);
        counter_bump(&source->tokens, slot->batch.lengths[row]);
        counter_bump(&source->loss_tokens, slot->learned[row]);
    }
}

/* Returns the weights, as integers, of the phase of the last sample before a position; *sum is 0 if there are none. */
static const uint64_t *weights_at(const struct leat_plan *plan, uint64_t position, uint64_t *sum)
{
    uint64_t number = leat_plan_number(plan, position > 0 ? position - 1 : 0), count = plan->rules.source_count;
    size_t phase = plan->rules.phase_count;
    const uint64_t *weights;

    while (phase > 0 && plan_phase_begin(plan, phase) > number)
        phase--;
    weights = plan->weights + phase * count;
    *sum = 0;
    for (uint64_t i = 0; (plan->order->weights || plan->order->megatron) && i < count; i++)
        *sum += weights[i];
    return weights;
}

uint64_t leat_loader_sources(const struct leat_loader *l, uint64_t first, uint64_t count,
                             struct leat_loader_source *sources)
{
    const struct loader_sources *all = atomic_load(&l->sources);
    uint64_t of_plan = l->shape.plan->rules.source_count, left = first < of_plan ? of_plan - first : 0, sum;
    const uint64_t *weights = weights_at(l->shape.plan, counter_value(&l->consumer.cursor), &sum);

    if (count > left)
        count = left;
    for (uint64_t i = 0; i < count; i++)
        sources[i] = (struct leat_loader_source) { .rows = counter_value(&all->each[first + i].rows),
                                                   .tokens = counter_value(&all->each[first + i].tokens),
                                                   .loss_tokens = counter_value(&all->each[first + i].loss_tokens),
                                                   .share = sum ? (double)weights[first + i] / (double)sum : 0 };
    return count;
}

void loader_sources_close(struct leat_loader *l)
{
    for (struct loader_sources *at = atomic_load(&l->sources), *before; at; at = before) {
        before = at->before;
        free(at);
    }
    free(l->shape.weights.each);
}
