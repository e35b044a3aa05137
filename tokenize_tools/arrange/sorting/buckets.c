/*
 * buckets.c: gives each bucket a buffer of one block for its end. A full buffer is written to the next free block of
 * the file, whose number the bucket remembers. So thousands of buckets grow at once with one descriptor and large
 * writes, and a bucket is read back block by block. The file is made when the first block is written. Where there
 * are helpers, one of them writes the full buffer, and the bucket gets a buffer whose block is written already.
 */
#include "buckets.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/grow.h"
#include "base/status.h"
#include "base/tiny.h"

#define FIRST_ROOM   ((size_t)4096)
#define CURSOR_BYTES TINY_OR((size_t)100, (size_t)1 << 20)

enum leat_status buckets_open(struct buckets *s, const char *path, size_t count, size_t block_bytes,
                              struct helpers *helpers, struct leat_error *err)
{
    bool help = helpers_count(helpers) > 0 && block_bytes != BUCKETS_IN_MEMORY;

    *s = (struct buckets) { .path = path, .fd = -1, .block_bytes = block_bytes, .helpers = helpers };
    s->items = calloc(count, sizeof *s->items);
    s->writes = help ? calloc(BUCKETS_WRITES, sizeof *s->writes) : NULL;
    if (s->items && (s->writes || !help)) {
        s->count = count;
        return LEAT_OK;
    }
    buckets_close(s);
    return status_no_memory(err, count * sizeof *s->items);
}

/* Waits until all blocks are written, and frees their memory. */
static enum leat_status end_writes(struct buckets *s, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    for (unsigned i = 0; s->writes && i < BUCKETS_WRITES; i++) {
        struct bucket_write *w = &s->writes[i];

        helpers_wait(s->helpers, &w->job);
        free(w->block);
        if (w->status != LEAT_OK && status == LEAT_OK && err)
            *err = w->error;
        status = status == LEAT_OK ? w->status : status;
    }
    free(s->writes);
    s->writes = NULL;
    return status;
}

void buckets_close(struct buckets *s)
{
    end_writes(s, NULL);
    for (size_t i = 0; i < s->count; i++) {
        free(s->items[i].buffer);
        free(s->items[i].blocks);
    }
    free(s->items);
    file_close(&s->fd);
    *s = (struct buckets) { .fd = -1 };
}

/* ---- Appending ---- */

static void write_job(struct job *j)
{
    struct bucket_write *w = (void *)((char *)j - offsetof(struct bucket_write, job));

    w->status = file_write_at(w->buckets->fd, w->place, w->block, w->bytes, w->buckets->path, &w->error);
}

/* Lets a helper write the buffer, and takes the buffer of a block that is written. */
static enum leat_status give_block(struct buckets *s, struct bucket *b, struct leat_error *err)
{
    struct bucket_write *w = &s->writes[s->next_write++ % BUCKETS_WRITES];
    uint8_t *other;

    helpers_wait(s->helpers, &w->job);
    if (w->status != LEAT_OK && err)
        *err = w->error;
    if (w->status != LEAT_OK)
        return w->status;
    other = w->block;
    *w = (struct bucket_write) { .job = { .run = write_job },
                                 .buckets = s,
                                 .block = b->buffer,
                                 .bytes = b->used,
                                 .place = s->file_blocks * s->block_bytes };
    helpers_give(s->helpers, &w->job);
    b->buffer = other;
    b->room = other ? s->block_bytes : 0;
    return LEAT_OK;
}

/* Writes the buffer as the bucket's next block, which is full or the last one. */
static enum leat_status write_block(struct buckets *s, struct bucket *b, struct leat_error *err)
{
    enum leat_status status = GROW(b->blocks, b->block_count + 1, b->block_room, err);

    if (status == LEAT_OK && s->fd < 0) {
        status = file_create_unnamed(&s->fd, s->path, err);
        /* the bytes after a block belong to other buckets, so reading them ahead is of no use */
        if (status == LEAT_OK)
            posix_fadvise(s->fd, 0, 0, POSIX_FADV_RANDOM);
    }
    if (status == LEAT_OK)
        b->blocks[b->block_count++] = s->file_blocks;
    if (status == LEAT_OK && s->writes && b->room == s->block_bytes)
        status = give_block(s, b, err);
    else if (status == LEAT_OK)
        status = file_write_at(s->fd, s->file_blocks * s->block_bytes, b->buffer, b->used, s->path, err);
    s->file_blocks++;
    b->used = 0;
    return status;
}

static enum leat_status make_room(const struct buckets *s, struct bucket *b, struct leat_error *err)
{
    size_t room = b->room ? 2 * b->room : FIRST_ROOM;
    uint8_t *buffer;

    if (room > s->block_bytes)
        room = s->block_bytes;
    buffer = room > b->room ? realloc(b->buffer, room) : NULL;
    if (!buffer)
        return status_no_memory(err, room);
    b->buffer = buffer;
    b->room = room;
    return LEAT_OK;
}

enum leat_status buckets_append(struct buckets *s, size_t i, const void *bytes, uint64_t count, struct leat_error *err)
{
    struct bucket *b = &s->items[i];
    const uint8_t *from = bytes;

    b->bytes += count;
    while (count > 0) {
        enum leat_status status = b->used == b->room ? make_room(s, b, err) : LEAT_OK;
        size_t left = b->room - b->used, here = count < left ? (size_t)count : left;

        if (status != LEAT_OK)
            return status;
        memcpy(b->buffer + b->used, from, here);
        b->used += here;
        from += here;
        count -= here;
        if (b->used == s->block_bytes) {
            status = write_block(s, b, err);
            if (status != LEAT_OK)
                return status;
        }
    }
    return LEAT_OK;
}

enum leat_status buckets_seal(struct buckets *s, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    if (s->block_bytes == BUCKETS_IN_MEMORY)
        return LEAT_OK;
    for (size_t i = 0; status == LEAT_OK && i < s->count; i++) {
        struct bucket *b = &s->items[i];

        if (b->used > 0)
            status = write_block(s, b, err);
        free(b->buffer);
        b->buffer = NULL;
        b->room = 0;
    }
    return status == LEAT_OK ? end_writes(s, err) : status;
}

/* ---- Reading ---- */

enum leat_status buckets_read(const struct buckets *s, size_t i, uint64_t at, void *out, uint64_t count,
                              struct leat_error *err)
{
    const struct bucket *b = &s->items[i];
    uint8_t *to = out;

    if (s->block_bytes == BUCKETS_IN_MEMORY) {
        memcpy(to, b->buffer + at, (size_t)count);
        return LEAT_OK;
    }
    while (count > 0) {
        uint64_t in_block = at % s->block_bytes, left = s->block_bytes - in_block, here = count < left ? count : left;
        uint64_t place = b->blocks[at / s->block_bytes] * s->block_bytes + in_block;
        enum leat_status status = file_read_at(s->fd, place, to, here, s->path, err);

        if (status != LEAT_OK)
            return status;
        to += here;
        at += here;
        count -= here;
    }
    return LEAT_OK;
}

void buckets_free_blocks(const struct buckets *s, size_t i)
{
    struct bucket *b = &s->items[i];

#ifdef FALLOC_FL_PUNCH_HOLE
    /* if this fails, the space is freed when the file is closed */
    for (size_t k = 0; !b->freed && s->block_bytes >= BUCKETS_FREED && k < b->block_count; k++)
        if (fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(b->blocks[k] * s->block_bytes),
                      (off_t)s->block_bytes) != 0)
            break;
#endif
    b->freed = true;
}

void buckets_release(struct buckets *s, size_t i)
{
    struct bucket *b = &s->items[i];

    buckets_free_blocks(s, i);
    free(b->buffer);
    free(b->blocks);
    *b = (struct bucket) { .buffer = NULL };
}

/* ---- Cursors ---- */

enum leat_status bucket_cursor_open(struct bucket_cursor *c, const struct buckets *buckets, size_t number,
                                    struct leat_error *err)
{
    *c = (struct bucket_cursor) { .buckets = buckets, .number = number, .room = CURSOR_BYTES };
    c->buffer = file_buffer(c->room);
    return c->buffer ? LEAT_OK : status_no_memory(err, c->room);
}

void bucket_cursor_close(struct bucket_cursor *c)
{
    free(c->buffer);
    c->buffer = NULL;
}

/* Moves the bytes that are left to the start of the buffer, and reads more behind them. */
static enum leat_status refill(struct bucket_cursor *c, struct leat_error *err)
{
    uint64_t left = c->buckets->items[c->number].bytes - c->next;
    size_t kept = c->count - c->at, here = left < c->room - kept ? (size_t)left : c->room - kept;
    enum leat_status s;

    memmove(c->buffer, c->buffer + c->at, kept);
    s = buckets_read(c->buckets, c->number, c->next, c->buffer + kept, here, err);
    c->next += here;
    c->at = 0;
    c->count = kept + here;
    return s;
}

enum leat_status bucket_cursor_look(struct bucket_cursor *c, const void **bytes, size_t count, struct leat_error *err)
{
    enum leat_status s = c->count - c->at < count ? refill(c, err) : LEAT_OK;

    *bytes = c->buffer + c->at;
    return s;
}

enum leat_status bucket_cursor_take(struct bucket_cursor *c, const void **bytes, size_t *count, uint64_t max,
                                    struct leat_error *err)
{
    enum leat_status s = c->count == c->at ? refill(c, err) : LEAT_OK;
    size_t there = c->count - c->at;

    *bytes = c->buffer + c->at;
    *count = max < there ? (size_t)max : there;
    c->at += *count;
    return s;
}
