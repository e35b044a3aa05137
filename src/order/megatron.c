/*
 * megatron.c: computes Megatron's numbers, and for a source its documents' order, where samples begin, and their order.
 *
 * Doubles are computed as Python, numpy and Megatron's C++ do on x86: each operation rounded by itself. The Makefile
 * keeps the compiler from joining a product and a sum (-ffp-contract=off).
 */
#include "megatron.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"

/* ---- numpy's generator ------------------------------------------------------------------------------------------- */

/*
 * A shuffle of many numbers waits for memory: each step exchanges two numbers, one of them anywhere. Which ones does
 * not depend on the numbers, so some steps are drawn ahead and their places fetched.
 */

#define MIDDLE 397u /* distance in MT19937's state */
#define DRAWS  32u

void numpy_random_seed(struct numpy_random *r, uint32_t seed)
{
    for (uint32_t i = 0; i < NUMPY_RANDOM_WORDS; i++) {
        r->words[i] = seed;
        seed = 1812433253u * (seed ^ seed >> 30) + i + 1;
    }
    r->next = NUMPY_RANDOM_WORDS;
}

static uint32_t twist(uint32_t high, uint32_t low, uint32_t middle)
{
    return middle ^ ((high & 0x80000000u) | (low & 0x7fffffffu)) >> 1 ^ (low & 1 ? 0x9908b0dfu : 0);
}

static void make_words(struct numpy_random *r)
{
    uint32_t *w = r->words, i;

    for (i = 0; i < NUMPY_RANDOM_WORDS - MIDDLE; i++)
        w[i] = twist(w[i], w[i + 1], w[i + MIDDLE]);
    for (; i < NUMPY_RANDOM_WORDS - 1; i++)
        w[i] = twist(w[i], w[i + 1], w[i - (NUMPY_RANDOM_WORDS - MIDDLE)]);
    w[i] = twist(w[i], w[0], w[MIDDLE - 1]);
    r->next = 0;
}

static uint32_t draw(struct numpy_random *r)
{
    uint32_t x;

    if (r->next == NUMPY_RANDOM_WORDS)
        make_words(r);
    x = r->words[r->next++];
    x ^= x >> 11;
    x ^= x << 7 & 0x9d2c5680u;
    x ^= x << 15 & 0xefc60000u;
    return x ^ x >> 18;
}

/* Returns a number of [0, max], 0 < max: the first draw that, cut to the bits of max, is not above it. */
static uint32_t draw_to(struct numpy_random *r, uint32_t max)
{
    uint32_t mask = UINT32_MAX >> __builtin_clz(max), x;

    do
        x = draw(r) & mask;
    while (x > max);
    return x;
}

void numpy_random_shuffle(struct numpy_random *r, uint32_t *items, uint64_t count)
{
    uint32_t others[DRAWS];

    while (count > 1) {
        uint32_t steps = count - 1 < DRAWS ? (uint32_t)(count - 1) : DRAWS;

        for (uint32_t i = 0; i < steps; i++) {
            others[i] = draw_to(r, (uint32_t)(count - 1 - i));
            __builtin_prefetch(&items[others[i]], 1);
        }
        for (uint32_t i = 0; i < steps; i++) {
            uint32_t last = items[--count];

            items[count] = items[others[i]];
            items[others[i]] = last;
        }
    }
}

/* ---- Numbers, and a source --------------------------------------------------------------------------------------- */

#define AHEAD 16u /* entries whose lengths are fetched before they are needed */

double megatron_double(struct decimal d)
{
    char text[32];

    /* written without a decimal point, whose character a locale may change */
    snprintf(text, sizeof text, "%" PRIu64 "e%d", d.digits, d.exponent);
    return strtod(text, NULL);
}

/* Computes numpy.sum() of consecutive doubles. */
static double numpy_sum(const double *x, uint64_t count)
{
    double sums[8], sum = 0;
    uint64_t half, i;

    if (count < 8) {
        for (i = 0; i < count; i++)
            sum += x[i];
        return sum;
    }
    if (count > 128) {
        half = count / 2 - count / 2 % 8;
        return numpy_sum(x, half) + numpy_sum(x + half, count - half);
    }
    memcpy(sums, x, sizeof sums);
    for (i = 8; i < count - count % 8; i++)
        sums[i % 8] += x[i];
    sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    for (; i < count; i++)
        sum += x[i];
    return sum;
}

void megatron_normalize(double *weights, uint64_t count)
{
    double sum = numpy_sum(weights, count);

    for (uint64_t i = 0; i < count; i++)
        weights[i] /= sum;
}

/* Rounds a number of sequences as Python's round() does: to the nearest integer, and halves to the even one. */
static uint64_t round_to_even(double x)
{
    uint64_t below = (uint64_t)x;
    double rest = x - (double)below;

    return below + (rest > 0.5 || (rest == 0.5 && below % 2 == 1));
}

bool megatron_split(const struct decimal *ratios, unsigned count, unsigned used, uint64_t sequences, uint64_t *first,
                    uint64_t *end)
{
    double x[3] = { 0, 0, 0 }, begin = 0, after;

    for (unsigned i = 0; i < count; i++)
        x[i] = megatron_double(ratios[i]);
    megatron_normalize(x, 3);
    for (unsigned i = 0; i < used; i++)
        begin += x[i];
    after = begin + x[used];
    *first = round_to_even(begin * (double)sequences);
    *end = round_to_even(after * (double)sequences);
    return after > begin;
}

static uint64_t round_up(double x)
{
    uint64_t below = (uint64_t)x;

    return below + ((double)below < x);
}

uint64_t megatron_target(uint64_t samples, double weight)
{
    return round_up((double)samples * weight);
}

uint64_t megatron_wanted(uint64_t target, double surplus)
{
    return round_up((double)target * (1 + surplus));
}

/* ---- How many epochs and samples ---- */

/* Sets everything but the arrays. */
static enum leat_status count_samples(struct megatron_source *s, uint64_t count, uint64_t seq_len, uint64_t wanted,
                                      struct leat_error *err)
{
    uint64_t tokens, before, per_epoch;

    if (s->tokens == 0)
        return status_argument(err, "sources", "it has no tokens to make samples of");
    if (wanted == MEGATRON_NO_SAMPLES)
        tokens = 0;
    else if (!bytes_multiply(wanted, seq_len, &tokens) || !bytes_add(tokens, 1, &tokens))
        tokens = UINT64_MAX;
    s->epochs = tokens > s->tokens ? bytes_divide_up(tokens, s->tokens) : 1;
    if (!bytes_multiply(s->epochs, count, &s->entries) || s->entries > MEGATRON_MAX_ENTRIES ||
        !bytes_multiply(s->epochs, s->tokens, &tokens) || (tokens - 1) / seq_len > MEGATRON_MAX_ENTRIES)
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "its index is too large: %" PRIu64 " epochs of %" PRIu64 " sequences with %" PRIu64
                          " tokens; at most 2^32 - 3 entries and samples are supported",
                          s->epochs, count, s->tokens);
    s->samples = s->separate = (tokens - 1) / seq_len;
    if (s->samples == 0)
        return status_argument(err, "sources", "it has %" PRIu64 " tokens, too few for a sample of %" PRIu64, s->tokens,
                               seq_len + 1);
    if (s->epochs == 1)
        return LEAT_OK;
    before = (tokens - s->tokens - 1) / seq_len;
    per_epoch = (s->tokens - 1) / seq_len;
    if (wanted - before < (uint64_t)(0.80 * (double)per_epoch))
        s->separate = before;
    return LEAT_OK;
}

/* ---- Its arrays ---- */

static void order_sequences(struct megatron_source *s, uint64_t count, struct numpy_random *random)
{
    uint64_t first = s->separate < s->samples ? s->entries - count : s->entries;

    for (uint64_t i = 0, sequence = 0; i < s->entries; i++) {
        s->sequences[i] = (uint32_t)sequence;
        if (++sequence == count)
            sequence = 0;
    }
    numpy_random_shuffle(random, s->sequences, first);
    if (first < s->entries)
        numpy_random_shuffle(random, s->sequences + first, s->entries - first);
}

static void order_samples(struct megatron_source *s, struct numpy_random *random)
{
    for (uint64_t i = 0; i < s->samples; i++)
        s->shuffled[i] = (uint32_t)i;
    numpy_random_shuffle(random, s->shuffled, s->separate);
    if (s->separate < s->samples)
        numpy_random_shuffle(random, s->shuffled + s->separate, s->samples - s->separate);
}

/* Sets the marks. Sample j begins at token j L of the documents in their order. */
static void mark_samples(struct megatron_source *s, const uint32_t *lengths, uint64_t seq_len)
{
    uint64_t token = 0, next = 0, mark = 0, marks = bytes_divide_up(s->samples, MEGATRON_STEP);

    for (uint64_t i = 0; mark < marks; i++) {
        uint32_t length = lengths[s->sequences[i]];

        if (i + AHEAD < s->entries)
            __builtin_prefetch(&lengths[s->sequences[i + AHEAD]]);
        for (; mark < marks && next - token < length; next += MEGATRON_STEP * seq_len)
            s->marks[mark++] = (struct megatron_mark) { (uint32_t)i, (uint32_t)(next - token) };
        token += length;
    }
}

enum leat_status megatron_source_make(struct megatron_source *s, const uint32_t *lengths, uint64_t count,
                                      uint64_t seq_len, uint64_t wanted, uint32_t seed, struct leat_error *err)
{
    struct numpy_random random;
    uint64_t marks;
    enum leat_status status;

    *s = (struct megatron_source) { .tokens = 0 };
    for (uint64_t i = 0; i < count; i++)
        s->tokens += lengths[i];
    status = count_samples(s, count, seq_len, wanted, err);
    if (status != LEAT_OK)
        return status;
    marks = bytes_divide_up(s->samples, MEGATRON_STEP);
    s->sequences = malloc((size_t)s->entries * sizeof *s->sequences);
    s->shuffled = malloc((size_t)s->samples * sizeof *s->shuffled);
    s->marks = malloc((size_t)marks * sizeof *s->marks);
    if (!s->sequences || !s->shuffled || !s->marks)
        return status_no_memory(err, s->entries * sizeof *s->sequences + s->samples * sizeof *s->shuffled +
                                         marks * sizeof *s->marks);
    numpy_random_seed(&random, seed);
    order_sequences(s, count, &random);
    mark_samples(s, lengths, seq_len);
    order_samples(s, &random);
    return LEAT_OK;
}

void megatron_source_free(struct megatron_source *s)
{
    free(s->sequences);
    free(s->shuffled);
    free(s->marks);
    *s = (struct megatron_source) { .tokens = 0 };
}

/* ---- The order of sources ---------------------------------------------------------------------------------------- */

/*
 * Makes the order of sources (megatron.h). Each sample goes to the source that is furthest behind its share, and of
 * several to the first. That depends on all samples before, and on how doubles are rounded, so it is computed once
 * from the first sample on, and kept.
 */

#define MIN_STEP 1024u

/* The shares of the sources in the samples so far. */
struct shares {
    double *weights; /* weights; a source that has all of its samples is below every other */
    double *counts;
    uint32_t *live; /* sources that may get a sample, in rising order */
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
    return status_argument(err, "mid_level_dataset_surplus",
                           "the blend takes more samples of source %lu than the %" PRIu64
                           " that were built for it, from sample %" PRIu64
                           " on, and Megatron fails, too; give a larger mid-level-dataset-surplus",
                           (unsigned long)source, size, n);
}

/* Runs Megatron's loop. With `all`, each source gives all samples that it has. */
static enum leat_status fill_blend(struct megatron_blend *b, struct shares *x, const uint64_t *sizes, bool all,
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
        s = b->counts ? fill_blend(b, &x, sizes, !weights, err)
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
