/*
 * checksum.h: every hash of the format. All are made of XXH3-128 (xxHash); the fastest variant for this CPU is
 * chosen at run time. The room src/checksum/ has this header and its kernels; it includes src/base/ only.
 *
 * The *page sum* of a string of bytes (FORMAT.md) cuts it into pages of 4096 bytes (the last may be shorter) and
 * adds, modulo 2^128, XXH3-128(hash of page i || i). Because it is a sum, threads, parts of a file and a resumed run
 * can each do their own pages in any order; the page number in the inner string makes the order of pages count.
 */
#ifndef LEAT_CHECKSUM_H
#define LEAT_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#include "leat.h"

#define CHECKSUM_PAGE 4096u

struct hash128 {
    uint64_t low, high;
};

/* One CPU level's kernels; checksum_kernels() picks a row. */
struct checksum_kernels {
    const char *name;
    /* Returns the XXH3-128 of a string. */
    struct hash128 (*hash)(const void *bytes, size_t count);
    /* Adds the pages of `bytes` to *sum; the first has the number `page`. If `page_hashes` is not NULL, stores there
     * the 32-bit hash of each page (the low half of its hash's low half), in this machine's byte order. */
    void (*pages)(struct hash128 *sum, const void *bytes, size_t count, uint64_t page, uint32_t *page_hashes);
    /* Return the largest of `count` little-endian ids at any alignment; 0 if count is 0. */
    uint32_t (*max16)(const void *ids, size_t count);
    uint32_t (*max32)(const void *ids, size_t count);
};

/* Returns the fastest row that this CPU has. The memory is constant. */
const struct checksum_kernels *checksum_kernels(void);

/* Returns row `number` of all rows, fastest first, for tests; NULL past the last. Sets *usable (may be NULL) to
 * whether this CPU can run it. */
const struct checksum_kernels *checksum_row(unsigned number, int *usable);

/* Stores a hash as files hold it: low half, then high half, little-endian. */
void checksum_store(uint8_t out[16], struct hash128 h);
struct hash128 checksum_load(const uint8_t in[16]);

static inline int checksum_equal(struct hash128 a, struct hash128 b)
{
    return a.low == b.low && a.high == b.high;
}

static inline void checksum_add(struct hash128 *sum, struct hash128 h)
{
    sum->low += h.low;
    sum->high += h.high + (sum->low < h.low);
}

/* ---- Sums of pages ----------------------------------------------------------------------------------------------- */

/* The page sum of FORMAT.md over bytes that come in chunks of any size. Whole pages are hashed in place; a page is
 * copied only if the border of a chunk cuts it. */

struct page_sum {
    const struct checksum_kernels *kernels;
    struct hash128 whole;        /* sum of the pages that are complete */
    uint64_t bytes;              /* added so far */
    uint8_t page[CHECKSUM_PAGE]; /* the page that is not complete, of which bytes % CHECKSUM_PAGE bytes are there */
};

/* Begins after `pages` whole pages with the sum `whole`, which are both zero for a new sum. */
void page_sum_begin(struct page_sum *sum, uint64_t pages, struct hash128 whole);
void page_sum_add(struct page_sum *sum, const void *bytes, size_t count);

/* Adds `count` bytes of a file from `offset` on. Returns LEAT_E_TRUNCATED if the file ends before. */
enum leat_status page_sum_add_file(struct page_sum *sum, int fd, uint64_t offset, uint64_t count, const char *path,
                                   struct leat_error *err);

/* Returns the sum of all that was added; more may be added afterwards. */
struct hash128 page_sum_now(const struct page_sum *sum);

#endif
