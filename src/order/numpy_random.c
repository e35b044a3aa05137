/*
 * numpy_random.c: see numpy_random.h.
 *
 * A shuffle of many numbers waits for memory: each step exchanges two numbers, one of them anywhere. Which ones does
 * not depend on the numbers, so some steps are drawn ahead and their places fetched.
 */
#include "numpy_random.h"

#include <stddef.h>

#define MIDDLE 397u /* of MT19937 */
#define AHEAD  32u

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

/* A number of [0, max], 0 < max: the first draw, cut to the bits of max, that is not above it. */
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
    uint32_t others[AHEAD];

    while (count > 1) {
        uint32_t steps = count - 1 < AHEAD ? (uint32_t)(count - 1) : AHEAD;

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
