/* page_cache.h: puts a file out of the page cache and back, so that a test says which way its rows come. */
#ifndef LEAT_TESTS_LOADER_PAGE_CACHE_H
#define LEAT_TESTS_LOADER_PAGE_CACHE_H

#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

#include "residency.h"

/* Pushes a file out of memory; false: that cannot be done here, and more than a hundredth of it is there still. */
static inline bool page_cache_drop(const char *path)
{
    int fd = open(path, O_RDONLY);
    bool cold;

    fdatasync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    cold = residency_share(fd, (uint64_t)lseek(fd, 0, SEEK_END), 1) < 0.01;
    close(fd);
    return cold;
}

/* And brings it back. */
static inline void page_cache_fill(const char *path)
{
    static char piece[1 << 16];
    int fd = open(path, O_RDONLY);

    while (read(fd, piece, sizeof piece) > 0)
        ;
    close(fd);
}

#endif
