/*
 * block.h: memory for a page after the other: what it held before is not kept when it grows. A page that is too large
 * for memory lies in a mapped file: what of that is in memory is page cache, which the kernel takes back when it needs
 * it, and which is made small by block_rest(). A block can be lent: then it leaves its bytes to those that have them,
 * in place of writing over them.
 */
#ifndef LEAT_PARQUET_BLOCK_H
#define LEAT_PARQUET_BLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/status.h"
#include "base/tiny.h"
#include "parquet.h"

/* So much of a mapped block is used before it rests. */
#define BLOCK_STRETCH ((size_t)TINY_OR(64, 4 << 20))

struct block {
    uint8_t *bytes; /* owned */
    size_t size;    /* bytes in use */
    size_t room;
    bool mapped;               /* of a file */
    bool large;                /* of whole large pages */
    struct parquet_loan *loan; /* NULL: it was not lent */
};

struct parquet_loan {
    atomic_uint users;           /* the block, until it leaves, and those that have it */
    struct block bytes;          /* the block's */
    atomic_uint_least64_t *left; /* counts bytes that blocks have left */
};

/* Whether others have its bytes. */
static inline bool block_is_lent(const struct block *b)
{
    return b->loan && atomic_load(&b->loan->users) > 1;
}

/* What it takes of the memory that is counted. */
static inline uint64_t block_memory(const struct block *b)
{
    return b->mapped ? 0 : b->room;
}

/* A block of so many bytes or more takes large pages of the kernel, where it has these: memory that is touched for the
 * first time costs the more the more pages it has (Zen 3, pages of 10 MB: 4 % of packing English). */
#define BLOCK_LARGE      ((uint64_t)TINY_OR(8192, 4 << 20))
#define BLOCK_LARGE_PAGE ((uint64_t)TINY_OR(4096, 2 << 20))

/* The room that it will have in memory with so many bytes: some to spare, as pages have about the same size; less than
 * it has if much of that would be unused. */
static inline uint64_t block_room(const struct block *b, size_t size)
{
    uint64_t room = size + (uint64_t)size / 8;

    if (b->bytes && !b->mapped && !block_is_lent(b) && size <= b->room && size >= b->room / 4)
        return b->room;
    return room < BLOCK_LARGE ? room : (room + BLOCK_LARGE_PAGE - 1) / BLOCK_LARGE_PAGE * BLOCK_LARGE_PAGE;
}

static inline void block_free(struct block *b)
{
    if (b->loan) {
        atomic_fetch_add(b->loan->left, b->room);
        parquet_loan_release(b->loan);
    } else if (b->mapped || b->large) {
        munmap(b->bytes, b->room);
    } else {
        free(b->bytes);
    }
    *b = (struct block) { .bytes = NULL };
}

static inline void block_take(struct block *b, size_t room)
{
    void *pages;

    b->large = room >= BLOCK_LARGE;
    if (!b->large) {
        b->bytes = malloc(room > 0 ? room : 1);
    } else {
        pages = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        b->bytes = pages == MAP_FAILED ? NULL : pages;
        if (b->bytes)
            (void)!madvise(b->bytes, room, MADV_HUGEPAGE);
    }
    b->room = b->bytes ? room : 0;
}

/* Gets room for `size` bytes, all in use. */
static inline enum leat_status block_fit(struct block *b, size_t size, struct leat_error *err)
{
    size_t room = (size_t)block_room(b, size);

    if (!b->bytes || b->mapped || block_is_lent(b) || room != b->room) {
        block_free(b);
        block_take(b, room);
    }
    b->size = b->bytes ? size : 0;
    return b->bytes ? LEAT_OK : status_no_memory(err, size);
}

/* What is mapped leaves the process; its contents stay, and come back where they are used. */
static inline void block_rest(const struct block *b)
{
    if (b->mapped)
        (void)!madvise(b->bytes, b->room, MADV_DONTNEED);
}

/* Copies bytes to a place in a block that has room for them: where that is mapped, both blocks rest at the end of each
 * stretch of it; `bytes` lie in `from` (NULL: in no block). */
static inline void block_copy(const struct block *to, size_t at, const void *bytes, size_t size,
                              const struct block *from)
{
    for (size_t done = 0, part; done < size; done += part) {
        part = to->mapped ? BLOCK_STRETCH - (at + done) % BLOCK_STRETCH : size;
        if (part > size - done)
            part = size - done;
        memcpy(to->bytes + at + done, (const uint8_t *)bytes + done, part);
        if (!to->mapped || (at + done + part) % BLOCK_STRETCH != 0)
            continue;
        block_rest(to);
        if (from)
            block_rest(from);
    }
}

/* Gets room in a file; what the block holds is kept, and its size. */
static inline enum leat_status block_map(struct block *b, size_t room, const struct parquet_source *source,
                                         struct leat_error *err)
{
    struct block in_file = { .size = b->size, .room = room > 0 ? room : 1, .mapped = true };
    void *bytes;
    enum leat_status s = source->map(source->beside, in_file.room, &bytes, err);

    if (s != LEAT_OK)
        return s;
    in_file.bytes = bytes;
    block_copy(&in_file, 0, b->bytes, b->size, b);
    block_free(b);
    *b = in_file;
    return LEAT_OK;
}

/* Gets room for `size` bytes in a file, all in use. */
static inline enum leat_status block_fit_mapped(struct block *b, size_t size, const struct parquet_source *source,
                                                struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    b->size = 0;
    if (!b->mapped || size > b->room || size < b->room / 4)
        s = block_map(b, size, source, err);
    b->size = s == LEAT_OK ? size : 0;
    return s;
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
