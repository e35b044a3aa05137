/*
 * shuffle_plan.h: how many buckets there are, and how large their buffers. Half of the memory is for filling buckets;
 * half is for a bucket that is written, with an index of 24 bytes a document.
 */
#ifndef LEAT_ARRANGE_SHUFFLE_PLAN_H
#define LEAT_ARRANGE_SHUFFLE_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/tiny.h"
#include "triple.h"

#define SHUFFLE_INDEX_BYTES sizeof(struct triple)

#define SHUFFLE_MOST_BITS   12u
#define SHUFFLE_LEAST_BLOCK TINY_OR((size_t)64, (size_t)4096)
#define SHUFFLE_MOST_BLOCK  TINY_OR((size_t)4096, (size_t)4 << 20)

/* Of a key, that choose the bucket for `bytes` bytes in all: buckets come out half as large as can be written at once,
 * so that few are larger. At least one bit, at most `left`. */
static inline unsigned shuffle_plan_bits(uint64_t bytes, uint64_t memory, size_t outputs, unsigned left)
{
    uint64_t most = memory / 2 / SHUFFLE_LEAST_BLOCK / outputs; /* buckets of an output */
    unsigned bits = 1;

    while (bits < SHUFFLE_MOST_BITS && bits < left && bytes >> bits > memory / 4 && (uint64_t)2 << bits <= most)
        bits++;
    return bits;
}

static inline size_t shuffle_plan_block(uint64_t memory, size_t buckets)
{
    uint64_t bytes = memory / 2 / buckets / SHUFFLE_LEAST_BLOCK * SHUFFLE_LEAST_BLOCK;

    return bytes < SHUFFLE_LEAST_BLOCK  ? SHUFFLE_LEAST_BLOCK
           : bytes > SHUFFLE_MOST_BLOCK ? SHUFFLE_MOST_BLOCK
                                        : (size_t)bytes;
}

/* The bucket for a key whose first `passed` bits have been used; bits may be 0, and passed + bits is at most 64. */
static inline size_t shuffle_plan_bucket(size_t output, uint64_t key, unsigned bits, unsigned passed)
{
    return bits == 0 ? output : output << bits | (size_t)(key << passed >> (64 - bits));
}

#endif
