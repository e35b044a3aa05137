/*
 * stretches.h: the order of a source's blocks in which neighbours are read together: the source is cut into stretches,
 * these are permuted, and the blocks of a *pool* of some successive ones are permuted again. The rule is in
 * docs/ORDER.md, "Stretches", version 1. Pure arithmetic, in both directions.
 */
#ifndef LEAT_STRETCHES_H
#define LEAT_STRETCHES_H

#include <stddef.h>
#include <stdint.h>

#include "permute.h"

#define STRETCHES_VERSION 1u

/* The rule of all sources of a plan. */
struct stretches_rule {
    const uint64_t *sizes; /* blocks in a stretch of each source, at least 1 */
    uint64_t mix, lanes;   /* stretches in a pool; streams that take turns; at least 1 */
};

/* Kinds of lanes, which differ in their number of blocks. */
enum stretches_lane { STRETCHES_LONGER, STRETCHES_WITH_REST, STRETCHES_OTHER, STRETCHES_LANES };

struct stretches {
    uint64_t lanes, mix, blocks;
    uint64_t whole;  /* stretches that the source's end does not cut */
    uint64_t longer; /* lanes with one more of them than the others; the next lane has the stretch that is cut */
    uint64_t even;   /* blocks that each lane shows in turn with the others */
    uint64_t lengths[STRETCHES_LANES]; /* blocks of a lane */
    struct wide_divider by_size, by_lanes, by_pool;
    struct permute stretches;                         /* of the whole stretches; .n is 0 if there are none */
    struct permute pool, last_pools[STRETCHES_LANES]; /* of a pool's blocks; .n is 0 if there is no such pool */
};

/* Lays out a source's stretches: `blocks` is at most PERMUTE_MAX and not 0, `size` at most `blocks`. */
struct stretches stretches_make(uint64_t blocks, uint64_t size, const struct stretches_rule *rule, uint64_t seed,
                                uint64_t source);

/* Returns the block of draw i of an epoch, and the draw of a block. */
uint64_t stretches_forward(const struct stretches *s, uint64_t epoch, uint64_t i);
uint64_t stretches_inverse(const struct stretches *s, uint64_t epoch, uint64_t block);

/* Stretches stand at *places*, numbered through all epochs; the lanes take turns in them. */
struct stretches_at {
    uint64_t first, count; /* blocks */
    uint64_t epoch, lane;
};

/* Gets the stretch at a place; returns the place of the stretch that a block lies in. */
struct stretches_at stretches_at(const struct stretches *s, uint64_t place);
uint64_t stretches_place(const struct stretches *s, uint64_t epoch, uint64_t block);

/* Sets the places whose stretches are to be at hand while a block is shown: all of its pool, in each lane, and as much
 * of the next one as was shown of this one, so that it has come when it is needed. */
void stretches_near(const struct stretches *s, uint64_t epoch, uint64_t block, uint64_t *first, uint64_t *end);

/* Finds the blocks of many draws side by side: `at` becomes the block. */
struct stretches_draw {
    const struct stretches *stretches;
    uint64_t epoch, at;
};
void stretches_forward_many(struct stretches_draw *draws, size_t count);

#endif
