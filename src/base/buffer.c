#include "buffer.h"

#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "status.h"
#include "utf8.h"

/* ---- The string -------------------------------------------------------------------------------------------------- */

/* Small rooms double; larger ones grow by half, and shrink when only a quarter is in use. */
#define LARGE ((size_t)1 << 20)

static size_t next_room(size_t room, size_t need)
{
    room = room < 64 ? 64 : room;
    while (room < need) {
        size_t more = room < LARGE ? room : room / 2;

        room = room <= SIZE_MAX - more ? room + more : SIZE_MAX;
    }
    return room;
}

/* Reallocates the buffer's bytes to `allocated`, unless it has as many already. */
static enum leat_status move(struct buffer *b, uint64_t allocated, struct leat_error *err)
{
    uint8_t *bytes = allocated > b->allocated ? realloc(b->bytes, allocated) : b->bytes;

    if (!bytes)
        return status_no_memory(err, allocated);
    b->bytes = bytes;
    b->allocated = allocated;
    return LEAT_OK;
}

enum leat_status buffer_reserve(struct buffer *b, size_t more, struct leat_error *err)
{
    size_t need = b->size + more, room;
    uint64_t allocated = b->allocated;
    enum leat_status s;

    if (b->room - b->size >= more)
        return LEAT_OK;
    if (more > SIZE_MAX - b->size)
        return status_no_memory(err, more);
    room = bound_take_growth(b->bound, next_room(b->room, need), need, &allocated);
    if (room == 0)
        return bound_refuse(b->bound, need, err);
    s = move(b, allocated, err);
    bound_give(b->bound, s == LEAT_OK ? b->room : room);
    if (s == LEAT_OK)
        b->room = room;
    return s;
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

enum leat_status buffer_append_line(struct buffer *b, const char *text, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (; s == LEAT_OK && *text; text++) {
        if (*text == '\n')
            s = buffer_append(b, "\\n", 2, err);
        else if (*text == '\\')
            s = buffer_append(b, "\\\\", 2, err);
        else
            s = buffer_append(b, text, 1, err);
    }
    return s == LEAT_OK ? buffer_append(b, "\n", 1, err) : s;
}

enum leat_status buffer_append_repaired(struct buffer *b, const uint8_t *text, size_t size, uint64_t *replaced,
                                        struct leat_error *err)
{
    uint64_t count = 0;
    size_t at = 0;

    while (at < size) {
        size_t good = utf8_valid_prefix(text + at, size - at);
        enum leat_status s = buffer_append(b, text + at, good, err);

        at += good;
        if (s == LEAT_OK && at < size) {
            s = buffer_append(b, UTF8_REPLACEMENT, 3, err);
            at += utf8_malformed_part(text + at, size - at);
            count++;
        }
        if (s != LEAT_OK)
            return s;
    }
    if (replaced)
        *replaced = count;
    return LEAT_OK;
}

void buffer_trim(struct buffer *b)
{
    uint8_t *bytes;

    if (b->room <= LARGE || b->size > b->room / 4)
        return;
    if (b->size == 0) {
        buffer_free(b);
    } else if ((bytes = realloc(b->bytes, b->size))) {
        bound_give(b->bound, b->room - b->size);
        b->bytes = bytes;
        b->room = b->allocated = b->size;
    }
}

enum leat_status buffer_read(struct buffer *b, const char *path, uint64_t max, struct leat_error *err)
{
    uint64_t size = 0;
    int fd = -1;
    enum leat_status s = file_open_read(&fd, &size, path, err);

    if (s == LEAT_OK && size > max)
        s = status_too_large(err, path, max);
    if (s == LEAT_OK)
        s = buffer_reserve(b, (size_t)size + 1, err);
    if (s == LEAT_OK)
        s = file_read_at(fd, 0, b->bytes, size, path, err);
    file_close(&fd);
    if (s == LEAT_OK) {
        b->size = (size_t)size;
        b->bytes[b->size] = '\0';
    }
    return s;
}

void buffer_free(struct buffer *b)
{
    bound_give(b->bound, b->room);
    free(b->bytes);
    *b = (struct buffer) { .bound = b->bound };
}

/* ---- The bound --------------------------------------------------------------------------------------------------- */

enum leat_status bound_refuse(const struct bound *b, uint64_t bytes, struct leat_error *err)
{
    return status_set(err, LEAT_E_PRETOKEN,
                      "a stretch of at least %" PRIu64
                      " bytes cannot be cut, and needs more memory than the limit of %" PRIu64 " KiB",
                      bytes, b->max >> 10);
}
