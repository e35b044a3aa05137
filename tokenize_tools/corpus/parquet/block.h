/*
 * block.h: memory for one page after another; growing does not keep the contents. A page that is too large for memory
 * lies in a mapped file: its memory is page cache, which the kernel takes back when it needs it, and which block_rest()
 * makes small. A block can be lent: then it leaves its bytes to the borrowers, and does not write over them.
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

/* A mapped block releases its memory with block_rest() each time this number of bytes has been used. */
#define BLOCK_STRETCH ((size_t)TINY_OR(64, 4 << 20))

struct block {
    uint8_t *bytes; /* owned */
    size_t size;    /* bytes in use */
    size_t room;
    bool mapped;               /* true if the bytes are those of a file */
    bool large;                /* true if the bytes are whole large pages */
    struct parquet_loan *loan; /* loan of the bytes; NULL if the block was not lent */
};

struct parquet_loan {
    atomic_uint users;           /* number of borrowers, and 1 while the block has the bytes, too */
    struct block bytes;          /* bytes that are lent */
    atomic_uint_least64_t *left; /* sum of the bytes that blocks have left to borrowers */
};

/* Returns true if borrowers have its bytes. */
static inline bool block_is_lent(const struct block *b)
{
    return b->loan && atomic_load(&b->loan->users) > 1;
}

/* Returns the bytes that count for the limit of memory. */
static inline uint64_t block_memory(const struct block *b)
{
    return b->mapped ? 0 : b->room;
}

/* Size from which on a block takes large pages of the kernel, if there are any: touching many small pages for the
 * first time is slow (Zen 3, pages of 10 MB: 4 % of packing English). */
#define BLOCK_LARGE      ((uint64_t)TINY_OR(8192, 4 << 20))
#define BLOCK_LARGE_PAGE ((uint64_t)TINY_OR(4096, 2 << 20))

/* Returns the room that the block will have for `size` bytes: a little more, since pages have similar sizes; less than
 * now if much of its room would be unused. */
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

/* Lets the pages of a mapped block leave memory. Its contents stay, and come back when they are used. */
static inline void block_rest(const struct block *b)
{
    if (b->mapped)
        (void)!madvise(b->bytes, b->room, MADV_DONTNEED);
}

/* Copies bytes to a place in a block that has room for them. If the block is mapped, both blocks rest after each
 * stretch; `bytes` lie in `from` (NULL if they lie in no block). */
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

/* Gets room in a file, and keeps the block's contents and size. */
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

/* Makes room for `room` bytes, and keeps the block's contents. */
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
