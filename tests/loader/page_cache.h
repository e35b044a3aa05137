/* page_cache.h: puts a file out of the page cache and back, so that a test says which way its rows come. */
#ifndef LEAT_TESTS_LOADER_PAGE_CACHE_H
#define LEAT_TESTS_LOADER_PAGE_CACHE_H

#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "gather/warm.h"

/* Pushes a file out of memory; false: that cannot be done here, and more than a hundredth of it is there still. Pages
 * that the kernel holds at this moment, for it looks which are in use, stay: they go some time later, within seconds on
 * a busy machine. */
static inline bool page_cache_drop(const char *path)
{
    static bool never; /* it could not be done once: no more waiting */
    struct statfs system;
    int fd = open(path, O_RDONLY);
    bool cold = false;

    fdatasync(fd);
    never = never || (fstatfs(fd, &system) == 0 && system.f_type == TMPFS_MAGIC);
    for (unsigned i = 0; i < (never ? 1 : 1000) && !cold; i++) {
        if (i > 0)
            usleep(10000);
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        cold = residency_share(fd, 0, (uint64_t)lseek(fd, 0, SEEK_END), 1) < 0.01;
    }
    close(fd);
    never = !cold;
    return cold;
}

/* And brings it back; or so many of its first bytes, and no more. */
static inline void page_cache_fill_some(const char *path, uint64_t bytes)
{
    static char piece[1 << 16];
    int fd = open(path, O_RDONLY);
    ssize_t got = 1;

    posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
    for (uint64_t at = 0; got > 0 && at < bytes; at += (uint64_t)got)
        got = read(fd, piece, sizeof piece);
    close(fd);
}

static inline void page_cache_fill(const char *path)
{
    page_cache_fill_some(path, UINT64_MAX);
}

/* How many of its pages are in memory. */
static inline uint64_t page_cache_pages(const char *path)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), found = 0, pages;
    int fd = open(path, O_RDONLY);
    size_t bytes = (size_t)lseek(fd, 0, SEEK_END);
    void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    unsigned char *in_memory;

    pages = (bytes + page - 1) / page;
    in_memory = calloc(pages, 1);
    if (map != MAP_FAILED && in_memory && mincore(map, bytes, in_memory) == 0)
        for (uint64_t i = 0; i < pages; i++)
            found += in_memory[i] & 1;
    if (map != MAP_FAILED)
        munmap(map, bytes);
    free(in_memory);
    close(fd);
    return found;
}

#endif
