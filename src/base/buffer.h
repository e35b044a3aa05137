/*
 * buffer.h: a growing string of bytes, for text whose final length is not known. All zero is an empty one.
 */
#ifndef LEAT_BASE_BUFFER_H
#define LEAT_BASE_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#include "bound.h"
#include "leat.h"

struct buffer {
    uint8_t *bytes;      /* owned; NULL while room is 0 */
    size_t size;         /* bytes in use */
    size_t room;         /* bytes that it may use without asking */
    uint64_t allocated;  /* bytes allocated: more than `room` near the bound */
    struct bound *bound; /* counts the room, or NULL; set it while the room is 0; outlives the buffer */
};

/* Makes room for `more` bytes after those in use; what is in use may move. On failure the buffer is as it was. */
enum leat_status buffer_reserve(struct buffer *b, size_t more, struct leat_error *err);

/* Copies `size` bytes to the end; they must not be the buffer's own. */
enum leat_status buffer_append(struct buffer *b, const void *bytes, size_t size, struct leat_error *err);

/* Adds a text as one line: with \n and \\ for line feeds and backslashes, and a line feed at the end. */
enum leat_status buffer_append_line(struct buffer *b, const char *text, struct leat_error *err);

/* Gives memory back if much of the room is unused. */
void buffer_trim(struct buffer *b);

/* Frees the bytes; an empty buffer remains. */
void buffer_free(struct buffer *b);

#endif
