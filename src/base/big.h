/*
 * big.h: memory for the large buffers of loading, on huge pages where the system gives them on request: a first touch
 * of 1 MiB costs 0.7 ms with pages of 4 KiB and a tenth of that with pages of 2 MiB (measured on a virtual machine),
 * and loading a vocabulary of 128k entries touches 30 MiB.
 */
#ifndef LEAT_BASE_BIG_H
#define LEAT_BASE_BIG_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define BIG_PAGE ((size_t)2 << 20)

/* Allocates bytes that are not zeroed; free() and realloc() take them. */
static inline void *big_alloc(size_t bytes)
{
    void *p;

    if (bytes > SIZE_MAX - BIG_PAGE)
        return NULL;
    if (bytes < BIG_PAGE)
        return malloc(bytes ? bytes : 1);
    bytes = (bytes + BIG_PAGE - 1) / BIG_PAGE * BIG_PAGE;
    p = aligned_alloc(BIG_PAGE, bytes);
#ifdef MADV_HUGEPAGE
    if (p)
        madvise(p, bytes, MADV_HUGEPAGE); /* a hint: that it fails is fine */
#endif
    return p;
}

/* Returns the first address from `p` on with this alignment. */
static inline void *big_align(void *p, size_t alignment)
{
    return (uint8_t *)p + (alignment - (uintptr_t)p % alignment) % alignment;
}

#endif
