/*
 * window.h: a stretch of a file that is read piece by piece: what is parsed byte by byte, whatever its length, goes
 * through here.
 */
#ifndef LEAT_PARQUET_WINDOW_H
#define LEAT_PARQUET_WINDOW_H

#include "base/tiny.h"
#include "parquet.h"

#define WINDOW_BYTES ((size_t)TINY_OR(32, 16 << 10))

struct window {
    const struct parquet_source *source;
    uint64_t end;        /* of the stretch: nothing from here on is read */
    uint64_t likely_end; /* what begins before it is read up to here at first; 0: up to the end */
    uint64_t at;         /* the place of bytes[0] */
    size_t held;         /* bytes in it */
    uint8_t bytes[WINDOW_BYTES];
};

/* Lets the window begin with the byte at `offset`, which is before `end`. */
enum leat_status window_move(struct window *w, uint64_t offset, struct leat_error *err);

/* Copies bytes from `offset` on, all of which lie before `end`. */
enum leat_status window_copy(struct window *w, uint64_t offset, void *out, size_t count, struct leat_error *err);

#endif
