/*
 * megatron.c: see megatron.h. Numbers, and a source: its documents' order, where samples begin, their order.
 *
 * Doubles are computed as Python, numpy and Megatron's C++ do on x86: each operation rounded by itself. The Makefile
 * keeps the compiler from joining a product and a sum (-ffp-contract=off).
 */
#include "megatron.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"

#define AHEAD 16u /* entries whose lengths are fetched before they are needed */

typedef unsigned long long ull;

/* ---- Numbers ---- */

double megatron_double(struct decimal d)
{
    char text[32];

    /* without a decimal point, whose character a locale may change */
    snprintf(text, sizeof text, "%llue%d", (ull)d.digits, d.exponent);
    return strtod(text, NULL);
}

/* numpy.sum() of doubles that lie together. */
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

/* Python's round() of a number of sequences: to the nearest, of two to the even one. */
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
        return status_set(err, LEAT_E_ARGUMENT, "it has no tokens to make samples of");
    if (wanted == MEGATRON_NO_SAMPLES)
        tokens = 0;
    else if (!bytes_multiply(wanted, seq_len, &tokens) || !bytes_add(tokens, 1, &tokens))
        tokens = UINT64_MAX;
    s->epochs = tokens > s->tokens ? bytes_divide_up(tokens, s->tokens) : 1;
    if (!bytes_multiply(s->epochs, count, &s->entries) || s->entries > MEGATRON_MAX_ENTRIES ||
        !bytes_multiply(s->epochs, s->tokens, &tokens) || (tokens - 1) / seq_len > MEGATRON_MAX_ENTRIES)
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "its index is too large: %llu epochs of %llu sequences with %llu tokens; at most 2^32 - 3 "
                          "entries and samples are supported",
                          (ull)s->epochs, (ull)count, (ull)s->tokens);
    s->samples = s->separate = (tokens - 1) / seq_len;
    if (s->samples == 0)
        return status_set(err, LEAT_E_ARGUMENT, "it has %llu tokens, too few for a sample of %llu", (ull)s->tokens,
                          (ull)seq_len + 1);
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

/* Sample j begins at token j L of the documents in their order. */
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
