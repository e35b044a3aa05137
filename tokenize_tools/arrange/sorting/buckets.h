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

/* The least size of a block that is freed before the file is. Freeing a block takes half a millisecond if the file
 * system tells the disk: for blocks of 20 KiB, more than half of the time of a merge. */
#define BUCKETS_FREED TINY_OR((size_t)64, (size_t)256 << 10)

struct bucket {
    uint8_t *buffer; /* end of the bucket, which is not in the file */
    size_t used, room;
    uint64_t *blocks; /* numbers of the bucket's blocks in the file, in order */
    size_t block_count, block_room;
    uint64_t bytes;
    bool freed;                /* true if its blocks on the disk are freed */
    uint64_t records, longest; /* the user's count of records, and the size of the longest in bytes */
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
    struct bucket_write *writes; /* BUCKETS_WRITES writes, used in turn; NULL without helpers */
    unsigned next_write;
    int fd;
    size_t block_bytes; /* size of a block; BUCKETS_IN_MEMORY if there is no file */
    uint64_t file_blocks;
    struct bucket *items;
    size_t count;
};
#define BUCKETS_IN_MEMORY SIZE_MAX

/* Makes empty buckets. Keeps `path`. `helpers` (or NULL) write blocks, of which BUCKETS_WRITES more are in memory then.
 * On failure the struct is as after buckets_close(). */
enum leat_status buckets_open(struct buckets *s, const char *path, size_t count, size_t block_bytes,
                              struct helpers *helpers, struct leat_error *err);
enum leat_status buckets_append(struct buckets *s, size_t i, const void *bytes, uint64_t count, struct leat_error *err);

/* Ends appending: writes the buffers to the file and frees their memory. */
enum leat_status buckets_seal(struct buckets *s, struct leat_error *err);

/* Reads bytes [at, at + count) of a sealed bucket. */
enum leat_status buckets_read(const struct buckets *s, size_t i, uint64_t at, void *out, uint64_t count,
                              struct leat_error *err);

/* Frees the disk space of a bucket that has been read, if its blocks are large. Threads may each free another
 * bucket. */
void buckets_free_blocks(const struct buckets *s, size_t i);

/* Frees a bucket's memory and its space on the disk. */
void buckets_release(struct buckets *s, size_t i);

/* Frees everything. A zeroed struct with fd -1 is fine. */
void buckets_close(struct buckets *s);

/* ---- A cursor reads a bucket from its start to its end ---- */

struct bucket_cursor {
    const struct buckets *buckets;
    size_t number;
    uint64_t next; /* place of the first byte after those in the buffer */
    uint8_t *buffer;
    size_t at, count, room;
};

/* Starts at the beginning of bucket `number`. bucket_cursor_close() must follow, on failure too. */
enum leat_status bucket_cursor_open(struct bucket_cursor *c, const struct buckets *buckets, size_t number,
                                    struct leat_error *err);
void bucket_cursor_close(struct bucket_cursor *c);

/* Returns the next `count` bytes, at most BUCKET_CURSOR_WHOLE, in one piece. The cursor does not move. */
#define BUCKET_CURSOR_WHOLE 64u
enum leat_status bucket_cursor_look(struct bucket_cursor *c, const void **bytes, size_t count, struct leat_error *err);

/* Returns between 1 and `max` of the next bytes, as many as are in memory, and moves the cursor past them. */
enum leat_status bucket_cursor_take(struct bucket_cursor *c, const void **bytes, size_t *count, uint64_t max,
                                    struct leat_error *err);

#endif
