/* buffer.c: see buffer.h. */
#include "buffer.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

enum leat_status buffer_reserve(struct buffer *b, size_t more, struct leat_error *err)
{
    size_t room = b->room < 64 ? 64 : b->room;
    uint8_t *bytes;

    if (b->room - b->size >= more)
        return LEAT_OK;
    if (more > SIZE_MAX - b->size)
        return status_no_memory(err, more);
    while (room - b->size < more)
        room = room <= SIZE_MAX / 2 ? room * 2 : SIZE_MAX;
    bytes = realloc(b->bytes, room);
    if (!bytes)
        return status_no_memory(err, room);
    b->bytes = bytes;
    b->room = room;
    return LEAT_OK;
}

enum leat_status buffer_append(struct buffer *b, const void *bytes, size_t size, struct leat_error *err)
{
    enum leat_status s = buffer_reserve(b, size, err);

    if (s == LEAT_OK && size > 0) {
        memcpy(b->bytes + b->size, bytes, size);
        b->size += size;
    }
    return s;
}

void buffer_free(struct buffer *b)
{
    free(b->bytes);
    *b = (struct buffer) { NULL, 0, 0 };
}
