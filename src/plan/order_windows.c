/*
 * order_windows.c: the orders of windows, shuffled and sequential: a sample is a block of a source, or a slice of one,
 * and the sampler of src/order says which. The inverse goes from tokens to blocks, and from each block to its place in
 * every epoch.
 */
#include <stdlib.h>

#include "base/search.h"
#include "base/status.h"
#include "order/sampler.h"
#include "plan.h"

#define SAMPLES_AT_ONCE 64

/* ---- Opening ---- */

/* Sets how many blocks are in a stretch of each source. Refuses stretches that hold no block, and stretches and pools
 * that no source fills. */
static enum leat_status size_stretches(const struct leat_plan *plan, const uint64_t *blocks, uint64_t *sizes,
                                       struct leat_error *err)
{
    const uint64_t *o = plan->rules.stretches;
    uint64_t block_bytes = plan->rules.base_len * plan->token_width, size = o[PLAN_STRETCH] / block_bytes, there;
    size_t largest = 0;

    if (size == 0)
        return status_argument(err, "stretch",
                               "a stretch of %" PRIu64 " bytes is smaller than a row: %" PRIu64 " tokens of %" PRIu32
                               " bytes are %" PRIu64 " bytes",
                               o[PLAN_STRETCH], plan->rules.base_len, plan->token_width, block_bytes);
    for (size_t i = 0; i < plan->rules.source_count; i++) {
        largest = blocks[i] > blocks[largest] ? i : largest;
        sizes[i] = blocks[i] == 0 || size < blocks[i] ? size : blocks[i];
    }
    if (size > blocks[largest])
        return status_argument(err, "stretch",
                               "a stretch of %" PRIu64 " bytes is more than the largest source has: %s has %" PRIu64
                               " rows of %" PRIu64 " bytes",
                               o[PLAN_STRETCH], plan->rules.sources[largest].name, blocks[largest], block_bytes);
    there = blocks[largest] / size + (blocks[largest] % size > 0);
    if (o[PLAN_LANES] > there || o[PLAN_MIX] > there / o[PLAN_LANES])
        return status_argument(err, o[PLAN_LANES] > there ? "lanes" : "mix",
                               "a mix of %" PRIu64 " stretches in each of %" PRIu64 " lane%s is more than the largest "
                               "source has: %s has %" PRIu64 " stretches; take a smaller mix, or smaller stretches",
                               o[PLAN_MIX], o[PLAN_LANES], o[PLAN_LANES] == 1 ? "" : "s",
                               plan->rules.sources[largest].name, there);
    return LEAT_OK;
}

static enum leat_status make_sampler(struct leat_plan *plan, uint64_t *blocks, uint64_t *sizes,
                                     struct sampler_phase_rule *phases, struct leat_error *err)
{
    const struct plan_rules *r = &plan->rules;
    struct stretches_rule stretches = { .sizes = sizes,
                                        .mix = r->stretches[PLAN_MIX],
                                        .lanes = r->stretches[PLAN_LANES] };
    struct sampler_rules rules = { .source_count = (uint32_t)r->source_count,
                                   .blocks = blocks,
                                   .limits = plan->limits,
                                   .phases = phases,
                                   .phase_count = (uint32_t)r->phase_count + 1,
                                   .seed = r->seed,
                                   .sequential = plan->order->sequential,
                                   .stop_first = r->stop == LEAT_STOP_FIRST };
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; i < r->source_count; i++)
        blocks[i] = plan->sources[i].blocks;
    for (size_t i = 0; i <= r->phase_count; i++)
        phases[i] = (struct sampler_phase_rule) { .begin = plan_phase_begin(plan, i),
                                                  .slices = r->base_len / plan->lengths[i],
                                                  .weights = plan->weights + i * r->source_count };
    if (r->stretches[PLAN_STRETCH] > 0) {
        rules.stretches = &stretches;
        s = size_stretches(plan, blocks, sizes, err);
    }
    if (s == LEAT_OK)
        s = sampler_make(plan->derived, &rules, err);
    plan->end = ((struct sampler *)plan->derived)->end;
    return s;
}

static enum leat_status windows_open(struct leat_plan *plan, struct leat_error *err)
{
    size_t sources = plan->rules.source_count, phase_count = plan->rules.phase_count + 1;
    uint64_t *blocks = calloc(sources, 2 * sizeof *blocks); /* of each source, then of its stretches */
    struct sampler_phase_rule *phases = calloc(phase_count, sizeof *phases);
    enum leat_status s;

    plan->derived = calloc(1, sizeof(struct sampler));
    if (plan->derived && blocks && phases)
        s = make_sampler(plan, blocks, blocks + sources, phases, err);
    else
        s = status_no_memory(err, sizeof(struct sampler) + phase_count * sizeof *phases);
    free(blocks);
    free(phases);
    return s;
}

static void windows_close(struct leat_plan *plan)
{
    if (plan->derived)
        sampler_free(plan->derived);
    free(plan->derived);
}

/* ---- Samples ---- */

/* Turns a place of the sampler into tokens and files. */
static void fill_sample(const struct leat_plan *plan, uint64_t number, const struct sampler_place *place,
                        struct leat_sample *sample)
{
    const struct plan_source *source = &plan->sources[place->source];
    uint32_t part = source->part_count > 1 ? plan_source_part(source, place->block) : 0;
    const struct plan_part *p = &source->parts[part];
    uint64_t base = plan->rules.base_len; /* at most 2^30, like slices: a division of 32 bits is fast */
    uint32_t length = place->slices == 1 ? (uint32_t)base : (uint32_t)base / (uint32_t)place->slices;

    sample->number = number;
    sample->epoch = place->epoch;
    sample->block = place->block;
    sample->window = place->block * place->slices + place->slice;
    sample->token = p->first + (place->block - p->first_block) * base + (uint64_t)place->slice * length;
    sample->offset = sample->token - p->list_token;
    sample->source = place->source;
    sample->part = part;
    sample->length = length;
    sample->slice = place->slice;
    sample->tokens = length + 1;
    sample->pieces = 1;
}

/*
 * Computes one sample without the arrays in which many are computed: 51 ns instead of 61 (Zen 3). Nearly all of it
 * is one chain of dependent instructions, which docs/ORDER.md fixes: the epoch, its key, then 8 rounds of about 16
 * cycles, 10 of them for two products and the high half of a third. So fewer instructions beside the chain help
 * little: compiled as one with the permutation, the sampler and the blend, a sample took 49.7 ns instead of 50.0.
 */
static void one_sample(const struct leat_plan *plan, uint64_t n, struct leat_sample *sample)
{
    struct sampler_cursor at = { .phase = NULL };
    struct sampler_place place;

    sampler_at(plan->derived, &at, n, &place);
    fill_sample(plan, n, &place, sample);
}

static inline void fill_samples(const struct leat_plan *plan, struct sampler_cursor *at, uint64_t n, uint64_t count,
                                struct leat_sample *samples)
{
    struct sampler_place places[SAMPLES_AT_ONCE];

    for (uint64_t i = 0, here; i < count; i += here) {
        here = count - i < SAMPLES_AT_ONCE ? count - i : SAMPLES_AT_ONCE;
        sampler_range(plan->derived, at, n + i, (size_t)here, places);
        for (uint64_t k = 0; k < here; k++)
            fill_sample(plan, n + i + k, &places[k], &samples[i + k]);
    }
}

static enum leat_status windows_samples(const struct leat_plan *plan, uint64_t n, uint64_t count,
                                        struct leat_sample *samples, struct leat_error *err)
{
    if (count == 1)
        one_sample(plan, n, samples);
    else
        fill_samples(plan, &(struct sampler_cursor) { .phase = NULL }, n, count, samples);
    return plan->chooses ? plan_choice_samples(plan, samples, count, err) : LEAT_OK;
}

/* ---- From tokens to samples ---- */

/* Tries the slices of a block with its tokens [first, end), in one epoch. Returns false if the block is no longer
 * shown. */
static bool find_block(const struct leat_plan *plan, struct plan_search *s, uint64_t epoch, uint64_t block,
                       uint64_t first, uint64_t end, struct leat_error *err)
{
    struct sampler_place place = { .epoch = epoch, .block = block, .source = s->source };
    struct sampler_found found;
    struct leat_sample sample;
    uint64_t length;

    if (!sampler_find(plan->derived, s->source, epoch, block, &found) || found.n >= s->until)
        return false;
    length = plan->rules.base_len / found.slices;
    place.slices = found.slices;
    for (uint64_t slice = first / length; slice * length < end && !s->stopped; slice++) {
        uint64_t n = found.n + slice * found.step;

        if (n >= s->until)
            break;
        if (n < s->from)
            continue;
        if (plan->sources[s->source].choice) { /* it may not show them: own tokens may be others, too */
            s->status = plan_search_try(plan, s, n, 1, err);
            s->stopped |= s->status != LEAT_OK;
            continue;
        }
        place.slice = (uint32_t)slice;
        fill_sample(plan, n, &place, &sample);
        plan_search_report(s, &sample);
    }
    return true;
}

/* Sets [*low, *high) to the tokens of part `i` that are searched for, counted from its first block; *low >= *high if
 * there are none. */
static void wanted_tokens(const struct leat_plan *plan, const struct plan_search *s, uint32_t i, uint64_t *low,
                          uint64_t *high)
{
    const struct plan_part *p = &plan->sources[s->source].parts[i];
    uint64_t begin = p->first, size = p->blocks * plan->rules.base_len;

    *low = s->own_first > begin ? s->own_first - begin : 0;
    *high = s->own_end > begin ? s->own_end - begin : 0;
    if (*high > size)
        *high = size;
}

/* Searches one epoch for all tokens. Returns false if no sample shows any of them in this epoch or a later one. */
static bool find_epoch(const struct leat_plan *plan, struct plan_search *s, uint64_t epoch, struct leat_error *err)
{
    const struct plan_source *source = &plan->sources[s->source];
    uint64_t base = plan->rules.base_len;
    bool any = false;

    for (uint32_t i = 0; i < source->part_count && !s->stopped; i++) {
        const struct plan_part *p = &source->parts[i];
        uint64_t low, high;

        wanted_tokens(plan, s, i, &low, &high);
        for (uint64_t block = low / base; low < high && block * base < high && !s->stopped; block++) {
            uint64_t from = block * base < low ? low - block * base : 0;
            uint64_t to = high - block * base < base ? high - block * base : base;

            any |= find_block(plan, s, epoch, p->first_block + block, from, to, err);
        }
    }
    return any;
}

struct block_of_search {
    const struct leat_plan *plan;
    const struct plan_search *search;
    uint64_t block;
};

SEARCH_INLINE bool shown_before(const void *context, uint64_t epoch)
{
    const struct block_of_search *b = context;
    struct sampler_found found;

    return sampler_find(b->plan->derived, b->search->source, epoch, b->block, &found) &&
           found.n + (found.slices - 1) * found.step < b->search->from;
}

/* Returns the first epoch that may have samples from s->from on. One block decides: its last sample in an epoch
 * comes after all samples of the epochs before. */
static uint64_t first_epoch(const struct leat_plan *plan, const struct plan_search *s)
{
    const struct plan_source *source = &plan->sources[s->source];
    uint64_t low, high, last = s->epochs < plan->end ? s->epochs : plan->end, epoch;

    for (uint32_t i = 0; s->from > 0 && i < source->part_count; i++) {
        wanted_tokens(plan, s, i, &low, &high);
        if (low >= high)
            continue;
        epoch = search_first(
            0, last, shown_before,
            &(struct block_of_search) { plan, s, source->parts[i].first_block + low / plan->rules.base_len });
        return epoch > 0 ? epoch - 1 : 0;
    }
    return 0;
}

/* Trying a sample in turn is cheaper by this factor than finding the sample of a block. */
#define SCAN_WORTH 4u

static enum leat_status windows_trace(const struct leat_plan *plan, struct plan_search *s, struct leat_error *err)
{
    if ((s->until - s->from) / SCAN_WORTH <= (s->own_end - s->own_first) / plan->rules.base_len)
        return plan_search_try(plan, s, s->from, s->until - s->from, err);
    /* a block's sample in one epoch comes before its sample in the next, so an epoch without one is the last */
    for (uint64_t epoch = first_epoch(plan, s); epoch < s->epochs && !s->stopped; epoch++)
        if (!find_epoch(plan, s, epoch, err))
            break;
    return s->status;
}

#define WINDOWS                                                                                                        \
    .weights = true, .phases = true, .blocks = true, .open = windows_open, .close = windows_close,                     \
    .samples = windows_samples, .trace = windows_trace

const struct plan_order plan_order_windows = { WINDOWS };
const struct plan_order plan_order_windows_sequential = { WINDOWS, .sequential = true };
