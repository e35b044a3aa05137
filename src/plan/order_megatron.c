/*
 * order_megatron.c: Megatron's order (docs/ORDER.md): opens a plan as megatron-core's builder of blended datasets does:
 * the sequences of the split, how many samples each source is built for, its order, and the order of sources.
 */
#include "order_megatron.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

typedef unsigned long long ull;

#define STARTS_AT_ONCE 4096u

/* ---- Sources ---- */

static enum leat_status find_sequences(const struct leat_plan *plan, size_t number, struct leat_error *err)
{
    struct megatron_order *o = plan->derived;
    struct megatron_part *p = &o->sources[number];
    const struct plan_megatron *rules = &plan->rules.megatron;
    struct leat_info info = LEAT_INFO_INIT;
    uint64_t end;
    enum leat_status s = leat_dataset_starts(plan->sources[number].dataset, 0, 0, NULL, err); /* that it knows them */

    if (s != LEAT_OK)
        return s;
    leat_dataset_info(plan->sources[number].dataset, &info);
    p->documents = info.sequences == info.documents;
    p->first = 0;
    end = info.sequences;
    if (rules->ratio_count > 0 && !megatron_split(rules->ratios, rules->ratio_count, plan_megatron_used(&plan->rules),
                                                  info.sequences, &p->first, &end))
        return status_set(err, LEAT_E_ARGUMENT, "the split gives nothing to \"%s\": Megatron makes no dataset of it",
                          plan->rules.use);
    p->count = end - p->first;
    return LEAT_OK;
}

/* The lengths of the used sequences. */
static enum leat_status read_lengths(const struct leat_dataset *d, const struct megatron_part *p, uint32_t *lengths,
                                     struct leat_error *err)
{
    uint64_t starts[STARTS_AT_ONCE + 1];
    enum leat_status s = LEAT_OK;

    for (uint64_t at = 0; s == LEAT_OK && at < p->count; at += STARTS_AT_ONCE) {
        uint64_t here = p->count - at < STARTS_AT_ONCE ? p->count - at : STARTS_AT_ONCE;

        s = leat_dataset_sequence_starts(d, p->first + at, here + 1, starts, err);
        for (uint64_t i = 0; s == LEAT_OK && i < here; i++) {
            uint64_t length = starts[i + 1] - starts[i];

            if (length > INT32_MAX)
                return status_set(err, LEAT_E_UNSUPPORTED,
                                  "its sequence %llu has %llu tokens; Megatron's lengths are below 2^31",
                                  (ull)(p->first + at + i), (ull)length);
            lengths[at + i] = (uint32_t)length;
        }
    }
    return s;
}

/* The share of a small dataset may be none of its documents. */
static enum leat_status no_sequences(const struct leat_plan *plan, size_t number, struct leat_error *err)
{
    const struct megatron_part *p = &((const struct megatron_order *)plan->derived)->sources[number];
    const char *what = p->documents ? "documents" : "sequences", *name = plan->rules.sources[number].name;
    struct leat_info info = LEAT_INFO_INIT;

    leat_dataset_info(plan->sources[number].dataset, &info);
    if (plan->rules.megatron.ratio_count == 0)
        return status_set(err, LEAT_E_ARGUMENT, "%.300s has no %s to make samples of", name, what);
    return status_set(err, LEAT_E_ARGUMENT,
                      "the split gives \"%.100s\" none of the %llu %s of %.300s (it begins and ends at number %llu): "
                      "give it a larger share, or use more documents",
                      plan->rules.use, (ull)info.sequences, what, name, (ull)p->first);
}

static enum leat_status make_source(const struct leat_plan *plan, size_t number, struct leat_error *err)
{
    struct megatron_order *o = plan->derived;
    struct megatron_part *p = &o->sources[number];
    struct plan_source *source = &plan->sources[number];
    enum leat_status s = LEAT_OK;
    uint32_t *lengths;

    if (p->count == 0)
        return no_sequences(plan, number, err);
    if (p->count > MEGATRON_MAX_ENTRIES)
        return status_set(err, LEAT_E_UNSUPPORTED, "%.300s has %llu sequences, too many for Megatron's index",
                          plan->rules.sources[number].name, (ull)p->count);
    lengths = malloc((size_t)(p->count + 1) * sizeof *lengths);
    if (!lengths)
        return status_no_memory(err, p->count * sizeof *lengths);
    s = read_lengths(source->dataset, p, lengths, err);
    if (s == LEAT_OK)
        s = megatron_source_make(&p->order, lengths, p->count, plan->rules.seq_len, p->wanted,
                                 (uint32_t)plan->rules.seed, err);
    free(lengths);
    if (s == LEAT_E_ARGUMENT || s == LEAT_E_UNSUPPORTED)
        return status_before(err, s, "%.300s", plan->rules.sources[number].name);
    source->blocks = p->order.samples;
    source->tokens = p->order.tokens;
    source->dropped = s == LEAT_OK ? p->order.tokens * p->order.epochs - p->order.samples * plan->rules.seq_len : 0;
    return s;
}

/* ---- The blend ---- */

/* Sets how many samples each source is built for, and the sum of how many of each are asked for: Megatron's
 * _get_size_per_split_per_dataset(). */
static void set_wanted(const struct leat_plan *plan, uint64_t *samples)
{
    struct megatron_order *o = plan->derived;
    double surplus = megatron_double(plan->rules.megatron.surplus);

    *samples = 0;
    for (size_t i = 0; i < plan->rules.source_count; i++) {
        struct megatron_part *p = &o->sources[i];
        uint64_t target = megatron_target(plan->rules.megatron.samples, p->weight);

        p->wanted = megatron_wanted(target, surplus);
        *samples += target;
    }
}

/* Weights, as the builder has them. */
static void set_weights(const struct leat_plan *plan, double *weights)
{
    struct megatron_order *o = plan->derived;

    for (size_t i = 0; i < plan->rules.source_count; i++)
        weights[i] = megatron_double(plan->rules.sources[i].weight);
    megatron_normalize(weights, plan->rules.source_count);
    for (size_t i = 0; i < plan->rules.source_count; i++)
        o->sources[i].weight = weights[i];
}

/* Blends the sources that have been made. */
static enum leat_status make_blend(struct leat_plan *plan, double *weights, uint64_t samples, struct leat_error *err)
{
    struct megatron_order *o = plan->derived;
    size_t count = plan->rules.source_count;
    uint64_t *sizes = calloc(count, sizeof *sizes), total = 0, wanted = plan->rules.megatron.samples;
    bool weighted = plan->rules.sources[0].weighted, all;
    enum leat_status s;

    if (!sizes)
        return status_no_memory(err, count * sizeof *sizes);
    for (size_t i = 0; i < count; i++) {
        sizes[i] = o->sources[i].order.samples;
        total += sizes[i];
        if (!weighted)
            weights[i] = (double)sizes[i];
    }
    if (!weighted)
        samples = wanted > 0 && wanted < total ? wanted : total;
    all = !weighted && wanted == 0;
    megatron_normalize(weights, count); /* the builder's once more */
    s = megatron_blend_make(&o->blend, all ? NULL : weights, sizes, (uint32_t)count, samples, plan->weights, err);
    free(sizes);
    plan->end = samples;
    return s;
}

static enum leat_status make_sources(struct leat_plan *plan, double *weights, struct leat_error *err)
{
    struct megatron_order *o = plan->derived;
    size_t count = plan->rules.source_count;
    uint64_t samples = plan->rules.megatron.samples;
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        s = find_sequences(plan, i, err);
        o->sources[i].wanted = samples > 0 && !o->blends ? samples : MEGATRON_NO_SAMPLES;
    }
    if (s == LEAT_OK && o->blends && plan->rules.sources[0].weighted) {
        set_weights(plan, weights);
        set_wanted(plan, &samples);
    }
    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        s = make_source(plan, i, err);
    if (s == LEAT_OK && o->blends)
        return make_blend(plan, weights, samples, err);
    plan->end = plan->weights[0] = o->sources[0].order.samples;
    return s;
}

/* ---- The table ---- */

static enum leat_status megatron_open(struct leat_plan *plan, struct leat_error *err)
{
    size_t count = plan->rules.source_count;
    struct megatron_order *o = plan->derived = calloc(1, sizeof *o);
    double *weights = calloc(count, sizeof *weights);
    enum leat_status s = status_no_memory(err, count * (sizeof *o->sources + sizeof *weights));

    if (o)
        o->sources = calloc(count, sizeof *o->sources);
    if (o && o->sources && weights) {
        o->blends = plan_megatron_blends(&plan->rules);
        s = make_sources(plan, weights, err);
    }
    free(weights);
    return s;
}

static void megatron_close(struct leat_plan *plan)
{
    struct megatron_order *o = plan->derived;

    if (!o)
        return;
    for (size_t i = 0; o->sources && i < plan->rules.source_count; i++)
        megatron_source_free(&o->sources[i].order);
    megatron_blend_free(&o->blend);
    free(o->sources);
    free(o);
    plan->derived = NULL;
}

static unsigned megatron_settings(const struct leat_plan *plan, size_t source, uint64_t *numbers)
{
    const struct megatron_order *o = plan->derived;
    const struct megatron_part *p = &o->sources[source];

    numbers[0] = p->first;
    numbers[1] = p->first + p->count;
    numbers[2] = p->wanted;
    numbers[3] = plan->end;
    memcpy(&numbers[4], &p->weight, sizeof numbers[4]);
    return 5;
}

const struct plan_order plan_order_megatron = { .lengths = true,
                                                .megatron = true,
                                                .rule = "megatron",
                                                .rule_version = MEGATRON_VERSION,
                                                .open = megatron_open,
                                                .close = megatron_close,
                                                .settings = megatron_settings,
                                                .samples = megatron_samples,
                                                .pieces = megatron_pieces,
                                                .trace = megatron_trace };
