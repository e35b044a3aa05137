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
    size_t room;                         /* it must give so many bytes */
    const struct block *packed, *all;    /* that these lie in, if one is mapped: they rest; else NULL */
    const struct parquet_source *source; /* whether it is stopped is asked where the page rests */
};

struct codec {
    const char *name;
    const char *refused; /* why a column with this codec is refused, after its name; NULL: it is not */

    /* For codecs that keep something from page to page; NULL: nothing. */
    void *(*open)(void); /* NULL: no memory */
    void (*close)(void *state);

    /* Decompresses a page. Returns what is wrong with it, or NULL; codec_no_memory if memory runs out. NULL: pages are
     * not compressed. */
    const char *(*unpack)(void *state, const struct codec_page *p);
};

extern const char codec_no_memory[];

static inline bool parquet_stopped(const struct parquet_source *source)
{
    return source->stopped && source->stopped(source->context);
}

/* The codec with this number in files; NULL: unknown. */
const struct codec *codec_number(uint64_t number);

/* Its own file. */
const char *codec_snappy(void *state, const struct codec_page *p);

/* For codecs, once they come to such a place in `out`: where a page rests, and again after so many bytes; 0: it is
 * stopped, and what they then return, which is not NULL, means nothing. */
static inline size_t codec_first_rest(const struct codec_page *p)
{
    return p->packed ? BLOCK_STRETCH : SIZE_MAX;
}

static inline size_t codec_rest(const struct codec_page *p, size_t at)
{
    block_rest(p->packed);
    block_rest(p->all);
    return parquet_stopped(p->source) ? 0 : at + BLOCK_STRETCH;
}

#endif
