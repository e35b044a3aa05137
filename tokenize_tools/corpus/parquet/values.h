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

/* Small numbers of a fixed width, a mixture of runs of one number and runs of numbers that are packed bit by bit.
 * Definition levels and places in a dictionary are stored in this way. */
struct rle {
    const uint8_t *at, *end;
    unsigned width; /* bits per number, at most 32 */
    uint64_t left;  /* numbers that are left in the run */
    bool packed;
    uint32_t value; /* number that a run of one number repeats */
    uint64_t bit;   /* the next bit of a packed run, counted from `at` */
};

void rle_open(struct rle *r, const uint8_t *bytes, size_t count, unsigned width);

/* Takes a number; returns false if there are no more. */
bool rle_next(struct rle *r, uint32_t *value);

/* Returns true if no further run follows. */
bool rle_ended(const struct rle *r);

/* Returns the `width` bits (at most 64) that begin at bit `bit` of `bytes`. All of them must lie before `end`. */
uint64_t rle_bits(const uint8_t *bytes, const uint8_t *end, uint64_t bit, unsigned width);

/* ---- Differences ------------------------------------------------------------------------------------------------- */

/*
 * Integers as differences (DELTA_BINARY_PACKED): a first number, then blocks. Each block has its least difference,
 * which is subtracted from the others, and miniblocks of these, packed bit by bit.
 */
struct delta {
    const uint8_t *at, *end;  /* bytes after the miniblock */
    uint64_t left;            /* numbers that are left */
    uint64_t value;           /* the next number; sums wrap around */
    uint64_t min;             /* least difference of the block */
    uint64_t per_mini, minis; /* numbers per miniblock, miniblocks per block */
    const uint8_t *widths;    /* bits per difference of each miniblock */
    uint64_t mini;            /* number of the next miniblock */
    const uint8_t *bits;      /* bits of the miniblock */
    uint64_t taken;           /* differences of the miniblock that were taken */
};

/* ---- Values of a page -------------------------------------------------------------------------------------------- */

/* The values of a dictionary page, which is PLAIN. */
struct dictionary {
    const uint8_t *bytes, *end;
    uint32_t count;
    const uint32_t *places; /* start of each value; NULL if all have one length */
};

struct values;

struct value_encoding {
    const char *name;
    bool bytes, fixed, integers, floats; /* true for the types that may have this encoding */
    bool uses_all; /* true if the last value must end with the page; some writers leave bytes after PLAIN values */
    bool holds;    /* true if values are put together in `held` */

    /* Open a page whose values are at [at, end), and take a value. Both return a sentence about what is wrong, or
     * NULL. */
    const char *(*open)(struct values *v);
    const char *(*next)(struct values *v, struct parquet_value *value);
};

struct values {
    const struct value_encoding *encoding;
    enum parquet_type type;
    uint32_t type_bytes;
    bool unread; /* true if values are empty, whatever their encoding */
    const uint8_t *at, *end;
    const struct block *page;            /* block of the page */
    uint32_t count;                      /* number of values of the page, without nulls if the page counts these */
    const struct dictionary *dictionary; /* dictionary; NULL if the column chunk has none */
    struct rle places;                   /* places in the dictionary */
    struct delta lengths, prefixes;
    struct block *held; /* room for a value that does not lie in the page in one piece */
    uint8_t integer[8]; /* room for an integer that is a difference */
    uint64_t number;    /* number of the next value */
};

/* Sets v->encoding to the one with this number in files. v->type must be set. Returns a sentence about what is wrong,
 * or NULL. */
const char *values_encoding(struct values *v, uint64_t number);

#endif
