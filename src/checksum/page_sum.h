/*
 * page_sum.h: the page sum of FORMAT.md over bytes that come in chunks of any size. Whole pages are hashed in place;
 * only a page that the border of a chunk cuts is copied.
 */
#ifndef LEAT_PAGE_SUM_H
#define LEAT_PAGE_SUM_H

#include <stddef.h>
#include <stdint.h>

#include "checksum.h"
#include "leat.h"

struct page_sum {
    const struct checksum_kernels *kernels;
    struct hash128 whole;        /* of the pages that are complete */
    uint64_t bytes;              /* so many were added */
    uint8_t page[CHECKSUM_PAGE]; /* the bytes of the page that is not complete: bytes % CHECKSUM_PAGE of them */
};

/* Begins after `pages` whole pages with the sum `whole`; 0 and zero for a new sum. */
void page_sum_begin(struct page_sum *sum, uint64_t pages, struct hash128 whole);
void page_sum_add(struct page_sum *sum, const void *bytes, size_t count);

/* Adds `count` bytes of a file from `offset` on. LEAT_E_TRUNCATED if it ends before. */
enum leat_status page_sum_add_file(struct page_sum *sum, int fd, uint64_t offset, uint64_t count, const char *path,
                                   struct leat_error *err);

/* The sum of all that was added; more may be added afterwards. */
struct hash128 page_sum_now(const struct page_sum *sum);

#endif
