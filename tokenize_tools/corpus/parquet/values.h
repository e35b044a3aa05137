/*
 * values.h: the values of a page, one after another, in the encodings that columns of bytes and integers have. A new
 * encoding is a row of the table in values.c.
 */
#ifndef LEAT_PARQUET_VALUES_H
#define LEAT_PARQUET_VALUES_H

#include "block.h"
#include "delta.h"
#include "rle.h"
#include "schema.h"

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
