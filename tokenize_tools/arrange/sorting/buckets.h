/*
 * buckets.h: many strings of bytes that grow in turn and are read back one after another. They are stored in blocks of
 * one unnamed file, so that many buckets need one open file; or in memory, if no block is ever full.
 */
#ifndef LEAT_ARRANGE_BUCKETS_H
#define LEAT_ARRANGE_BUCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tiny.h"
#include "helpers.h"
#include "leat.h"

/* Smaller blocks are freed with the file. To free one takes half a ms where the file system tells the disk: with the
 * blocks of 20 KiB that little memory leads to, that was more than half of the time of a merge. */
#define BUCKETS_FREED TINY_OR((size_t)64, (size_t)256 << 10)

struct bucket {
    uint8_t *buffer; /* its end: what is not in the file */
    size_t used, room;
    uint64_t *blocks; /* numbers of its blocks in the file, in order */
    size_t block_count, block_room;
    uint64_t bytes;
    bool freed;                /* its blocks on the disk */
    uint64_t records, longest; /* the user's: how many, and the bytes of the longest */
};

/* A block that a helper writes. */
struct bucket_write {
    struct job job;
    const struct buckets *buckets;
    uint8_t *block;
    size_t bytes;
    uint64_t place;
    enum leat_status status;
    struct leat_error error;
};
#define BUCKETS_WRITES 8u

struct buckets {
    const char *path; /* the file lies on this path's disk */
    struct helpers *helpers;
    struct bucket_write *writes; /* they take turns */
    unsigned next_write;
    int fd;
    size_t block_bytes; /* BUCKETS_IN_MEMORY: no file */
    uint64_t file_blocks;
    struct bucket *items;
    size_t count;
};
#define BUCKETS_IN_MEMORY SIZE_MAX

/* `path` is kept. `helpers` write blocks, with BUCKETS_WRITES more of them in memory; NULL: none. On failure the struct
 * is as after buckets_close(). */
enum leat_status buckets_open(struct buckets *s, const char *path, size_t count, size_t block_bytes,
                              struct helpers *helpers, struct leat_error *err);
enum leat_status buckets_append(struct buckets *s, size_t i, const void *bytes, uint64_t count, struct leat_error *err);

/* After the last append: buffers go to the file, and their memory is free. */
enum leat_status buckets_seal(struct buckets *s, struct leat_error *err);

/* Bytes [at, at + count) of a sealed bucket. */
enum leat_status buckets_read(const struct buckets *s, size_t i, uint64_t at, void *out, uint64_t count,
                              struct leat_error *err);

/* Frees the space of large blocks on the disk, which the outputs may need, once the bucket has been read. Threads may
 * do that with a bucket each. */
void buckets_free_blocks(const struct buckets *s, size_t i);

/* Frees a bucket, with its space on the disk. */
void buckets_release(struct buckets *s, size_t i);

/* A zeroed struct with fd -1 is fine. */
void buckets_close(struct buckets *s);

/* ---- From its start to its end, in steps ---- */

struct bucket_cursor {
    const struct buckets *buckets;
    size_t number;
    uint64_t next; /* after what is in the buffer */
    uint8_t *buffer;
    size_t at, count, room;
};

/* On failure too bucket_cursor_close() must follow. */
enum leat_status bucket_cursor_open(struct bucket_cursor *c, const struct buckets *buckets, size_t number,
                                    struct leat_error *err);
void bucket_cursor_close(struct bucket_cursor *c);

/* The next `count` bytes, at most BUCKET_CURSOR_WHOLE, contiguous; they stay the next ones. */
#define BUCKET_CURSOR_WHOLE 64u
enum leat_status bucket_cursor_look(struct bucket_cursor *c, const void **bytes, size_t count, struct leat_error *err);

/* As many as are at hand of the next `most` bytes, one at least; the cursor moves past them. */
enum leat_status bucket_cursor_take(struct bucket_cursor *c, const void **bytes, size_t *count, uint64_t max,
                                    struct leat_error *err);

#endif
