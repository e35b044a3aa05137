/* block.h: memory for a page after the other: what it held before is not kept when it grows. */
#ifndef LEAT_PARQUET_BLOCK_H
#define LEAT_PARQUET_BLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/status.h"

struct block {
    uint8_t *bytes; /* owned */
    size_t size;    /* bytes in use */
    size_t room;
};

/* The room that it will have with so many bytes: some to spare, as pages have about the same size; less than it has if
 * much of that would be unused. */
static inline uint64_t block_room(const struct block *b, size_t size)
{
    return !b->bytes || size > b->room || size < b->room / 4 ? size + (uint64_t)size / 8 : b->room;
}

/* Gets room for `size` bytes, all in use. */
static inline enum leat_status block_fit(struct block *b, size_t size, struct leat_error *err)
{
    size_t room = (size_t)block_room(b, size);

    if (!b->bytes || room != b->room) {
        free(b->bytes);
        b->bytes = malloc(room > 0 ? room : 1);
        b->room = b->bytes ? room : 0;
    }
    b->size = b->bytes ? size : 0;
    return b->bytes ? LEAT_OK : status_no_memory(err, size);
}

/* Makes room for `room` bytes, and keeps what it holds. */
static inline enum leat_status block_grow(struct block *b, size_t room, struct leat_error *err)
{
    uint8_t *bytes = realloc(b->bytes, room);

    if (!bytes)
        return status_no_memory(err, room);
    b->bytes = bytes;
    b->room = room;
    return LEAT_OK;
}

#endif
