/*
 * megatron_blend.c: the order of sources, of megatron.h: each sample goes to the source that is furthest behind its
 * share, of several to the first. That depends on all samples before, and on how doubles are rounded, so it is computed
 * once from the first sample on, and kept.
 */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/status.h"
#include "megatron.h"

typedef unsigned long long ull;

#define MIN_STEP 1024u

/* What the samples so far were. */
struct shares {
    double *weights; /* of sources that have all of their samples: below every other */
    double *counts;
    uint32_t *live; /* the sources that may get a sample, in rising order */
    uint32_t live_count;
};

static uint32_t next_source(const struct shares *x, uint64_t n)
{
    double factor = n > 1 ? (double)n : 1, most = 0;
    uint32_t found = 0;

    for (uint32_t i = 0; i < x->live_count; i++) {
        uint32_t source = x->live[i];
        double behind = x->weights[source] * factor - x->counts[source];

        if (i == 0 || behind > most) {
            most = behind;
            found = i;
        }
    }
    return found;
}

static void leave_out(struct shares *x, uint32_t place)
{
    x->live_count--;
    for (uint32_t i = place; i < x->live_count; i++)
        x->live[i] = x->live[i + 1];
}

static enum leat_status too_many(uint32_t source, uint64_t size, uint64_t n, struct leat_error *err)
{
    return status_set(err, LEAT_E_ARGUMENT,
                      "the blend takes more samples of source %lu than the %llu that were built for it, from sample "
                      "%llu on, and Megatron fails, too; give a larger mid-level-dataset-surplus",
                      (unsigned long)source, (ull)size, (ull)n);
}

/* Megatron's loop; `all`: each source gives all samples that it has. */
static enum leat_status fill(struct megatron_blend *b, struct shares *x, const uint64_t *sizes, bool all,
                             struct leat_error *err)
{
    uint64_t *counts = b->counts;

    for (uint64_t n = 0; n < b->samples; n++) {
        uint32_t place, source;

        if (n % b->step == 0)
            for (uint32_t i = 0; i < b->source_count; i++)
                *counts++ = (uint64_t)x->counts[i];
        place = next_source(x, n);
        source = x->live[place];
        if ((uint64_t)x->counts[source] == sizes[source])
            return too_many(source, sizes[source], n, err);
        b->sources[n] = (uint16_t)source;
        x->counts[source] += 1;
        if (all && (uint64_t)x->counts[source] == sizes[source])
            leave_out(x, place);
    }
    return LEAT_OK;
}

static enum leat_status make_shares(struct shares *x, const double *weights, const uint64_t *sizes, uint32_t count,
                                    uint64_t samples, struct leat_error *err)
{
    x->weights = calloc(count, sizeof *x->weights);
    x->counts = calloc(count, sizeof *x->counts);
    x->live = calloc(count, sizeof *x->live);
    x->live_count = count;
    if (!x->weights || !x->counts || !x->live)
        return status_no_memory(err, count * (2 * sizeof *x->weights + sizeof *x->live));
    for (uint32_t i = 0; i < count; i++) {
        x->weights[i] = weights ? weights[i] : (double)sizes[i] / (double)samples;
        x->live[i] = i;
    }
    return LEAT_OK;
}

enum leat_status megatron_blend_make(struct megatron_blend *b, const double *weights, const uint64_t *sizes,
                                     uint32_t source_count, uint64_t samples, uint64_t *taken, struct leat_error *err)
{
    struct shares x = { NULL, NULL, NULL, 0 };
    uint64_t marks;
    enum leat_status s;

    *b = (struct megatron_blend) { .samples = samples,
                                   .source_count = source_count,
                                   .step = source_count > MIN_STEP / 8 ? 8 * source_count : MIN_STEP };
    marks = bytes_divide_up(samples, b->step);
    s = make_shares(&x, weights, sizes, source_count, samples, err);
    if (s == LEAT_OK) {
        b->sources = samples <= SIZE_MAX / sizeof *b->sources ? malloc((size_t)samples * sizeof *b->sources) : NULL;
        b->counts = b->sources ? malloc((size_t)marks * source_count * sizeof *b->counts) : NULL;
        s = b->counts ? fill(b, &x, sizes, !weights, err)
                      : status_no_memory(err, samples * sizeof *b->sources + marks * source_count * sizeof *b->counts);
    }
    for (uint32_t i = 0; s == LEAT_OK && i < source_count; i++)
        taken[i] = (uint64_t)x.counts[i];
    free(x.weights);
    free(x.counts);
    free(x.live);
    return s;
}

void megatron_blend_free(struct megatron_blend *b)
{
    free(b->sources);
    free(b->counts);
    *b = (struct megatron_blend) { .samples = 0 };
}

uint64_t megatron_blend_count(const struct megatron_blend *b, uint64_t n, uint32_t source)
{
    uint64_t mark = n / b->step, count = b->counts[mark * b->source_count + source];

    for (uint64_t i = mark * b->step; i < n; i++)
        count += b->sources[i] == source;
    return count;
}
