/*
 * codec.h: how pages are compressed: a row per codec. A new one is a function that decompresses a page, and its row.
 */
#ifndef LEAT_PARQUET_CODEC_H
#define LEAT_PARQUET_CODEC_H

#include <stddef.h>
#include <stdint.h>

struct codec {
    const char *name;
    const char *refused; /* why a column with this codec is refused, after its name; NULL: it is not */

    /* For codecs that keep something from page to page; NULL: nothing. */
    void *(*open)(void); /* NULL: no memory */
    void (*close)(void *state);

    /* Decompresses a page, which must give `room` bytes. Returns what is wrong with it, or NULL; codec_no_memory if
     * memory runs out. `in` is not changed. NULL: pages are not compressed. */
    const char *(*unpack)(void *state, uint8_t *in, size_t bytes, uint8_t *out, size_t room);
};

extern const char codec_no_memory[];

/* The codec with this number in files; NULL: unknown. */
const struct codec *codec_number(uint64_t number);

/* Their own files. */
const char *codec_snappy(void *state, uint8_t *in, size_t bytes, uint8_t *out, size_t room);
const char *codec_lz4(void *state, uint8_t *in, size_t bytes, uint8_t *out, size_t room);

#endif
