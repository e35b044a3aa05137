/*
 * delta.h: integers as differences (DELTA_BINARY_PACKED): a first number, then blocks, each with the least of its
 * differences and miniblocks of what they are above it, packed bit by bit.
 */
#ifndef LEAT_PARQUET_DELTA_H
#define LEAT_PARQUET_DELTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct delta {
    const uint8_t *at, *end;  /* what follows the miniblock */
    uint64_t left;            /* numbers to come */
    uint64_t value;           /* the next one; sums wrap around */
    uint64_t min;             /* difference of the block */
    uint64_t per_mini, minis; /* numbers of a miniblock, miniblocks of a block */
    const uint8_t *widths;    /* of the block's miniblocks */
    uint64_t mini;            /* the next one */
    const uint8_t *bits;      /* of the miniblock */
    uint64_t taken;           /* differences of it */
};

/* False: it is broken. */
bool delta_open(struct delta *d, const uint8_t *bytes, const uint8_t *end);
bool delta_next(struct delta *d, uint64_t *value);

/* Passes over all numbers: d->at is then what follows them. */
bool delta_pass(struct delta *d);

#endif
