/*
 * plan_trace.c: from tokens to the samples that show them. Tokens lie in blocks, and each block is in one place of each
 * epoch, which the inverse of the order gives.
 */
#include "base/status.h"
#include "plan.h"

typedef unsigned long long ull;

/* By this factor a sample in turn is cheaper than a block found back. */
#define SCAN_WORTH 4u

struct search {
    const struct leat_plan *plan;
    uint32_t source;
    uint64_t epochs, until;
    leat_plan_found *found;
    void *context;
    bool stopped;
};

/* The pieces of a block that hold tokens [first, end) of the block, in one epoch. False: it is not shown any more. */
static bool find_block(struct search *s, uint64_t epoch, uint64_t block, uint64_t first, uint64_t end)
{
    struct sampler_place place = { .epoch = epoch, .block = block, .source = s->source };
    struct sampler_found found;
    struct leat_sample sample;
    uint64_t length;

    if (!sampler_find(&s->plan->sampler, s->source, epoch, block, &found) || found.n >= s->until)
        return false;
    length = s->plan->rules.base_len / found.pieces;
    place.pieces = found.pieces;
    for (uint64_t piece = first / length; piece * length < end && !s->stopped; piece++) {
        uint64_t n = found.n + piece * found.step;

        if (n >= s->until)
            break;
        place.piece = (uint32_t)piece;
        plan_sample(s->plan, n, &place, &sample);
        s->stopped = s->found(s->context, &sample) != 0;
    }
    return true;
}

/* One epoch of all tokens; false: none of them was shown in it, nor will be later. */
static bool find_epoch(struct search *s, uint64_t epoch, uint64_t first, uint64_t end)
{
    const struct plan_source *source = &s->plan->sources[s->source];
    uint64_t base = s->plan->rules.base_len;
    bool any = false;

    for (uint32_t i = 0; i < source->part_count && !s->stopped; i++) {
        const struct plan_part *p = &source->parts[i];
        uint64_t begin = p->list_token + p->begin, size = p->blocks * base;
        uint64_t low = first > begin ? first - begin : 0, high = end > begin ? end - begin : 0;

        if (high > size)
            high = size;
        for (uint64_t block = low / base; low < high && block * base < high && !s->stopped; block++) {
            uint64_t from = block * base < low ? low - block * base : 0;
            uint64_t to = high - block * base < base ? high - block * base : base;

            any |= find_block(s, epoch, p->first_block + block, from, to);
        }
    }
    return any;
}

/* The other way: all samples in turn. Better where they are fewer than the blocks of the tokens. */
static void scan_samples(struct search *s, uint64_t first, uint64_t end)
{
    struct sampler_cursor at = { .phase = NULL };
    struct sampler_place place;
    struct leat_sample sample;

    for (uint64_t n = 0; n < s->until && !s->stopped; n++) {
        sampler_at(&s->plan->sampler, &at, n, &place);
        if (place.source != s->source || place.epoch >= s->epochs)
            continue;
        plan_sample(s->plan, n, &place, &sample);
        if (sample.token < end && sample.token + sample.length > first)
            s->stopped = s->found(s->context, &sample) != 0;
    }
}

enum leat_status leat_plan_trace(const struct leat_plan *plan, uint64_t source, uint64_t first, uint64_t count,
                                 uint64_t epochs, uint64_t until, leat_plan_found *found, void *context,
                                 struct leat_error *err)
{
    struct search s = { plan, (uint32_t)source, epochs, until, found, context, false };
    struct leat_info info = LEAT_INFO_INIT;

    if (source >= plan->rules.source_count)
        return status_set(err, LEAT_E_RANGE, "there is no source %llu: the plan has %llu, numbered from 0", (ull)source,
                          (ull)plan->rules.source_count);
    leat_dataset_info(plan->sources[source].dataset, &info);
    if (first > info.tokens || count > info.tokens - first)
        return status_set(err, LEAT_E_RANGE, "tokens %llu to %llu are not all in %.300s, which has %llu", (ull)first,
                          (ull)(first + count), plan->rules.sources[source].name, (ull)info.tokens);
    if (epochs == LEAT_NONE && until == LEAT_NONE && plan->sampler.end >= SAMPLER_MAX)
        return status_set(err, LEAT_E_ARGUMENT,
                          "the plan has no end: say up to which epoch or up to which sample is to be searched");
    if (count == 0)
        return LEAT_OK;
    if (s.until > plan->sampler.end)
        s.until = plan->sampler.end;
    if (s.until / SCAN_WORTH <= count / plan->rules.base_len) {
        scan_samples(&s, first, first + count);
        return LEAT_OK;
    }
    /* a block's sample of one epoch comes before its sample of the next, so an epoch with none is the last */
    for (uint64_t epoch = 0; epoch < epochs && !s.stopped; epoch++)
        if (!find_epoch(&s, epoch, first, first + count))
            break;
    return LEAT_OK;
}
