/*
 * raw_input.h: the bytes of a file or of standard input as they are, with their page sum. A decompressor takes them
 * from a buffer and says how many it has used; plain text bypasses that buffer and is read to where it is wanted.
 */
#ifndef LEAT_TOKENIZE_TOOLS_RAW_INPUT_H
#define LEAT_TOKENIZE_TOOLS_RAW_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat.h"
#include "page_sum.h"

#define RAW_HEAD 4u /* so many first bytes tell the form */

struct raw_input {
    char *name;    /* for messages */
    int fd;        /* -1: standard input, which is not ours to close */
    bool seekable; /* a regular file, opened by name */
    uint64_t size; /* UINT64_MAX: unknown */
    uint8_t head[RAW_HEAD];
    size_t head_bytes; /* fewer than RAW_HEAD only if the input has no more */
    uint8_t *buffer;
    size_t at, held, room; /* buffer[at..held) is not used yet */
    bool ended;            /* nothing will come after that */
    struct page_sum sum;   /* of the bytes used; sum.bytes is the place in the file */
};

/* Opens `path` ("-": standard input) and reads its head, which is still to be used. */
enum leat_status raw_input_open(struct raw_input *in, const char *path, struct leat_error *err);

/* Goes to a place of a seekable input that was just opened; `pages` is the page sum of the whole pages before it. */
enum leat_status raw_input_seek(struct raw_input *in, uint64_t offset, struct hash128 pages, struct leat_error *err);

/* Gets a buffer of RAW_BLOCK bytes, for a decompressor. */
enum leat_status raw_input_buffer(struct raw_input *in, struct leat_error *err);

/* Reads more bytes after those not used yet, which are moved to the front; or in->ended. The buffer is never full. */
enum leat_status raw_input_fill(struct raw_input *in, struct leat_error *err);

/* `count` bytes of the buffer are used. */
void raw_input_use(struct raw_input *in, size_t count);

/* Past the buffer: some bytes, used at once; *got is 0 only at the end. */
enum leat_status raw_input_read(struct raw_input *in, void *out, size_t room, size_t *got, struct leat_error *err);

/* Accepts one that is half open, or all zero with fd -1. */
void raw_input_close(struct raw_input *in);

static inline uint64_t raw_input_position(const struct raw_input *in)
{
    return in->sum.bytes;
}

#endif
