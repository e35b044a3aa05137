/*
 * numpy_random.h: numpy's legacy generator, numpy.random.RandomState, as far as Megatron's order needs it: MT19937
 * seeded with a number, and shuffle() of an array of 32-bit numbers. Bit for bit.
 */
#ifndef LEAT_NUMPY_RANDOM_H
#define LEAT_NUMPY_RANDOM_H

#include <stdint.h>

#define NUMPY_RANDOM_WORDS 624u

struct numpy_random {
    uint32_t words[NUMPY_RANDOM_WORDS];
    unsigned next; /* word to be drawn; NUMPY_RANDOM_WORDS: new ones are needed */
};

void numpy_random_seed(struct numpy_random *r, uint32_t seed);

/* RandomState.shuffle(); count is at most 2^32. */
void numpy_random_shuffle(struct numpy_random *r, uint32_t *items, uint64_t count);

#endif
