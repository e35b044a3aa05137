/*
 * shuffle_plan.h: how many buckets there are, and how large their buffers. Half of the memory is for filling buckets;
 * half is for the bucket that is written, with an index of 24 bytes per document.
 */
#ifndef LEAT_ARRANGE_SHUFFLE_PLAN_H
#define LEAT_ARRANGE_SHUFFLE_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/tiny.h"
#include "sorting/triple.h"

#define SHUFFLE_INDEX_BYTES        sizeof(struct triple)

#define SHUFFLE_MAX_BITS           12u
#define SHUFFLE_MAX_BITS_IN_MEMORY 8u
#define SHUFFLE_MIN_BLOCK          TINY_OR((size_t)64, (size_t)4096)
#define SHUFFLE_GOOD_BLOCK         TINY_OR((size_t)128, (size_t)64 << 10) /* large enough for a disk */
#define SHUFFLE_MAX_BLOCK          TINY_OR((size_t)4096, (size_t)512 << 10)

/* Buckets of about this size lie in the processor's caches while they are written: for ten million documents of six
 * tokens, 2 to 4 s instead of 6 s (x86-64) in buckets of half a GiB. */
#define SHUFFLE_CACHED_BYTES TINY_OR((uint64_t)1024, (uint64_t)4 << 20)

/*
 * How many bits of a key choose the bucket, if all take `bytes` bytes; at least one, at most `left`. Buckets come out
 * half as large as can be written at once, so that few are too large; or smaller, if their blocks stay large enough.
 */
static inline unsigned shuffle_plan_bits(uint64_t bytes, uint64_t memory, size_t outputs, unsigned left)
{
    uint64_t max = memory / 2 / SHUFFLE_MIN_BLOCK / outputs, good = memory / 2 / SHUFFLE_GOOD_BLOCK / outputs;
    unsigned bits = 1;

    while (bits < SHUFFLE_MAX_BITS && bits < left &&
           ((bytes >> bits > memory / 4 && (uint64_t)2 << bits <= max) ||
            (bytes >> bits > SHUFFLE_CACHED_BYTES && (uint64_t)2 << bits <= good)))
        bits++;
    return bits;
}

/* The same without a file. */
static inline unsigned shuffle_plan_bits_in_memory(uint64_t bytes)
{
    unsigned bits = 0;

    while (bits < SHUFFLE_MAX_BITS_IN_MEMORY && bytes >> bits > SHUFFLE_CACHED_BYTES)
        bits++;
    return bits;
}

static inline size_t shuffle_plan_block(uint64_t memory, size_t buckets)
{
    uint64_t bytes = memory / 2 / buckets / SHUFFLE_MIN_BLOCK * SHUFFLE_MIN_BLOCK;

    return bytes < SHUFFLE_MIN_BLOCK   ? SHUFFLE_MIN_BLOCK
           : bytes > SHUFFLE_MAX_BLOCK ? SHUFFLE_MAX_BLOCK
                                       : (size_t)bytes;
}

/* The bucket for a key whose first `passed` bits have been used; bits may be 0, and passed + bits is at most 64. */
static inline size_t shuffle_plan_bucket(size_t output, uint64_t key, unsigned bits, unsigned passed)
{
    return bits == 0 ? output : output << bits | (size_t)(key << passed >> (64 - bits));
}

#endif
