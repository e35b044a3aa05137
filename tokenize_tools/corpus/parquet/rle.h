/*
 * rle.h: small numbers of a fixed width, as definition levels and places in a dictionary are stored: runs of one
 * number, and runs of numbers packed bit by bit, mixed.
 */
#ifndef LEAT_PARQUET_RLE_H
#define LEAT_PARQUET_RLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rle {
    const uint8_t *at, *end;
    unsigned width; /* in bits, at most 32 */
    uint64_t left;  /* numbers of the run */
    bool packed;
    uint32_t value; /* of a run of one number */
    uint64_t bit;   /* of a packed run: the next one after `at` */
};

void rle_open(struct rle *r, const uint8_t *bytes, size_t count, unsigned width);

/* Takes a number; false: there are no more. */
bool rle_next(struct rle *r, uint32_t *value);

/* Whether no further run follows. */
bool rle_ended(const struct rle *r);

/* The `width` bits (at most 64) from bit `bit` of `bytes` on; the byte of the last one is before `end`. */
uint64_t rle_bits(const uint8_t *bytes, const uint8_t *end, uint64_t bit, unsigned width);

/* Takes a number in groups of seven bits; false: it is cut off or too long. */
bool rle_varint(const uint8_t **at, const uint8_t *end, uint64_t *value);

#endif
