/*
 * values.h: the values of a page, one after another, in the encodings that columns of bytes and integers have. A new
 * encoding is a row of the table in values.c.
 */
#ifndef LEAT_PARQUET_VALUES_H
#define LEAT_PARQUET_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block.h"
#include "schema.h"

/* ---- Runs and packed bits ---------------------------------------------------------------------------------------- */

/*
 * Small numbers of a fixed width, as definition levels and places in a dictionary are stored: runs of one number, and
 * runs of numbers packed bit by bit, mixed.
 */

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

/* ---- Differences ------------------------------------------------------------------------------------------------- */

/*
 * Integers as differences (DELTA_BINARY_PACKED): a first number, then blocks, each with the least of its differences
 * and miniblocks of what they are above it, packed bit by bit.
 */

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

/* ---- Values of a page -------------------------------------------------------------------------------------------- */

/* The values of a dictionary page, which is PLAIN. */
struct dictionary {
    const uint8_t *bytes, *end;
    uint32_t count;
    const uint32_t *places; /* of values of different lengths: where each begins; NULL if all have one */
};

struct values;

struct value_encoding {
    const char *name;
    bool bytes, fixed, integers, floats; /* for which types it is */
    bool uses_all; /* the last value ends with the page: some writers leave bytes after PLAIN ones */
    bool holds;    /* values are put together in `held` */

    /* For a page whose values are at [at, end); both return what is wrong with it, or NULL. */
    const char *(*open)(struct values *v);
    const char *(*next)(struct values *v, struct parquet_value *value);
};

struct values {
    const struct value_encoding *encoding;
    enum parquet_type type;
    uint32_t type_bytes;
    bool unread; /* the values are empty, and no encoding is looked at */
    const uint8_t *at, *end;
    const struct block *page;            /* that they lie in */
    uint32_t count;                      /* of the page, without nulls if the page says how many these are */
    const struct dictionary *dictionary; /* NULL: the column chunk has none */
    struct rle places;                   /* in the dictionary */
    struct delta lengths, prefixes;
    struct block *held; /* a value that is not in the page as it stands; room for the page's bytes */
    uint8_t integer[8]; /* likewise */
    uint64_t number;    /* of the next value */
};

/* Sets v->encoding to that with this number in files; returns why not, or NULL. v->type is set. */
const char *values_encoding(struct values *v, uint64_t number);

#endif
