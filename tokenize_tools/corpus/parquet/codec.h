/*
 * codec.h: how pages are compressed: a row per codec. A new one is a function that decompresses a page, and its row.
 */
#ifndef LEAT_PARQUET_CODEC_H
#define LEAT_PARQUET_CODEC_H

#include "block.h"

/* A page to decompress. */
struct codec_page {
    uint8_t *in; /* not changed */
    size_t bytes;
    uint8_t *out;
    size_t room;                         /* bytes that the page must have when it is decompressed */
    const struct block *packed, *all;    /* blocks of `in` and `out` if one is mapped, so that they rest; else NULL */
    const struct parquet_source *source; /* source of the page, which is asked whether to stop when the page rests */
};

struct codec {
    const char *name;
    const char *refused; /* reason, after a column's name, why columns with this codec are refused; else NULL */

    /* Open and close a state that is kept from page to page; NULL for codecs without one. */
    void *(*open)(void); /* returns NULL if there is no memory */
    void (*close)(void *state);

    /* Decompresses a page. Returns a sentence about what is wrong with it, or NULL; codec_no_memory if memory runs out.
     * NULL if pages are not compressed. */
    const char *(*unpack)(void *state, const struct codec_page *p);
};

extern const char codec_no_memory[];

static inline bool parquet_stopped(const struct parquet_source *source)
{
    return source->stopped && source->stopped(source->context);
}

/* Returns the codec with this number in files, or NULL. */
const struct codec *codec_number(uint64_t number);

/* Decompresses a page of Snappy (codec_snappy.c). */
const char *codec_snappy(void *state, const struct codec_page *p);

/* Returns the place in `out` at which a codec must call codec_rest() for the first time. */
static inline size_t codec_first_rest(const struct codec_page *p)
{
    return p->packed ? BLOCK_STRETCH : SIZE_MAX;
}

/* Lets the page rest, and returns the next place to call this. Returns 0 if reading is stopped; then the codec returns
 * any text but NULL. */
static inline size_t codec_rest(const struct codec_page *p, size_t at)
{
    block_rest(p->packed);
    block_rest(p->all);
    return parquet_stopped(p->source) ? 0 : at + BLOCK_STRETCH;
}

#endif
