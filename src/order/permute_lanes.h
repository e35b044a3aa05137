/* permute_lanes.h: the network of permute.c: a round of it, and all rounds of 16 draws side by side. */
#ifndef LEAT_PERMUTE_LANES_H
#define LEAT_PERMUTE_LANES_H

#include <stdint.h>

#include "base/wide.h"

/* Constants of a round of the permutation's network, for all instruction sets. */

#define PERMUTE_GOLDEN 0x9e3779b97f4a7c15u /* 2^64 / golden ratio, odd: from one round's key to the next */
#define PERMUTE_FIRST  0xd6e8feb86659fd93u
#define PERMUTE_SECOND 0xff51afd7ed558ccdu

/* Returns a number in [0, limit): a function of one coordinate and the round's key. */
static inline uint64_t permute_shift(uint64_t coordinate, uint64_t key, uint64_t limit)
{
    uint64_t v = (coordinate ^ key) * PERMUTE_FIRST;

    v = (v ^ v >> 32) * PERMUTE_SECOND;
    return wide_high(v, limit);
}

/*
 * Add and subtract coordinates below `limit`, modulo `limit`. The carry of a subtraction picks the result: without a
 * jump, which would be mispredicted half of the time, and without one more comparison for each round to wait for.
 * Written like this, gcc and clang make no jump; by __builtin_sub_overflow(), gcc -O3 makes one for the sum.
 */
static inline uint64_t permute_plus(uint64_t a, uint64_t b, uint64_t limit)
{
    uint64_t sum = a + b, less = sum - limit;

    if (sum < limit)
        less = sum;
    return less;
}

static inline uint64_t permute_minus(uint64_t a, uint64_t b, uint64_t limit)
{
    uint64_t less;

    return __builtin_sub_overflow(a, b, &less) ? less + limit : less;
}

/* ---- Lanes ------------------------------------------------------------------------------------------------------- */

/*
 * The network of permute.c for 16 draws side by side, as this processor does it fastest. One draw is a long chain of
 * dependent products, so that a processor has time for others meanwhile.
 */

#define PERMUTE_LANES 16

struct permute_lanes {
    uint64_t row[PERMUTE_LANES], column[PERMUTE_LANES];   /* coordinates before the rounds, and after */
    uint64_t rows[PERMUTE_LANES], columns[PERMUTE_LANES]; /* at most 2^24 + 2 */
    uint64_t key[PERMUTE_LANES];                          /* keys of the first round */
};

/* Runs this many rounds, an even number. */
typedef void permute_rounds(struct permute_lanes *lanes, unsigned rounds);

#endif
