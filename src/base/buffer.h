/*
 * buffer.h: a growing string of bytes, for text whose final length is not known, and the bound on the memory that an
 * encoder may use for a text.
 */
#ifndef LEAT_BASE_BUFFER_H
#define LEAT_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat.h"

/* ---- The bound --------------------------------------------------------------------------------------------------- */

/*
 * How much memory an encoder may use for a text. Everything that grows with the text is counted here before it is
 * allocated, including both copies while an allocation grows. Near the bound, what grows may allocate all that is left,
 * but count only what it needs: it no longer moves, and what it does not use stays free for others. Memory that nobody
 * has written to yet is not in use.
 */

struct bound {
    uint64_t max, held; /* bytes */
};

/* Counts `bytes` more; false, with nothing counted, if that exceeds the bound. NULL is no bound. */
static inline bool bound_take(struct bound *b, uint64_t bytes)
{
    if (b && (b->held > b->max || bytes > b->max - b->held))
        return false;
    if (b)
        b->held += bytes;
    return true;
}

static inline void bound_give(struct bound *b, uint64_t bytes)
{
    if (b)
        b->held -= bytes;
}

/*
 * Counts `wanted` bytes for an allocation that grows, or else `needed` ones; returns which, or 0 if neither fits. If
 * more than *allocated are counted, *allocated becomes what to allocate: at least that.
 */
static inline uint64_t bound_take_growth(struct bound *b, uint64_t wanted, uint64_t needed, uint64_t *allocated)
{
    uint64_t left = b && b->max >= b->held ? b->max - b->held : 0;

    if (bound_take(b, wanted)) {
        *allocated = wanted > *allocated ? wanted : *allocated;
        return wanted;
    }
    if (!bound_take(b, needed))
        return 0;
    *allocated = needed > *allocated ? left : *allocated; /* less than wanted */
    return needed;
}

/* LEAT_E_PRETOKEN, with a sentence on a stretch of text of at least `bytes` that does not fit. */
enum leat_status bound_refuse(const struct bound *b, uint64_t bytes, struct leat_error *err);

/* ---- The string -------------------------------------------------------------------------------------------------- */

/* A growing string of bytes, for text whose final length is not known. All zero is an empty one. */

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

/*
 * Appends the text with one U+FFFD for each part that is malformed (utf8_malformed_part()). An unfinished character at
 * the end is replaced too, so cut it off if more of the text follows. Sets *replaced (may be NULL) to the number of
 * U+FFFD inserted. Returns LEAT_E_NO_MEMORY on failure, with some of the text appended.
 */
enum leat_status buffer_append_repaired(struct buffer *b, const uint8_t *text, size_t size, uint64_t *replaced,
                                        struct leat_error *err);

/* Reads a file of at most `max` bytes into an empty buffer, and writes a zero after it. Returns LEAT_E_UNSUPPORTED
 * if it is larger. */
#define BUFFER_TEXT_MAX ((uint64_t)64 << 20) /* longest file of lines: a list or a plan of a run */
enum leat_status buffer_read(struct buffer *b, const char *path, uint64_t max, struct leat_error *err);

/* Gives memory back if much of the room is unused. */
void buffer_trim(struct buffer *b);

/* Frees the bytes; an empty buffer remains. */
void buffer_free(struct buffer *b);

#endif
