/*
 * residency.c: see residency.h. A file's share in memory is guessed from samples spread over it, since asking for every
 * page costs too much. cachestat(2) answers for a range; older kernels are asked for a byte, by a read that must not
 * wait.
 */
#include "residency.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/magic.h>
#include <sys/vfs.h>
#endif

#define SAMPLES      32u
#define SAMPLE_BYTES 4096u

/* ---- The page cache ---- */

/* cachestat(2), Linux 6.5: newer than the headers of many systems. */
#if defined(__linux__) && !defined(__alpha__)
#define CACHESTAT_NUMBER 451
struct cachestat_range_of {
    uint64_t offset, bytes;
};
struct cachestat_counts {
    uint64_t cached, dirty, writeback, evicted, recently_evicted;
};
#endif

/* Whether all pages of the range are cached: 1 yes, 0 no, -1 unknown. */
static int range_cached(int fd, uint64_t offset, uint64_t bytes)
{
#if defined(CACHESTAT_NUMBER)
    struct cachestat_range_of range = { offset, bytes };
    struct cachestat_counts counts;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), first = offset / page, end = (offset + bytes + page - 1) / page;

    if (bytes == 0)
        return 1;
    if (syscall(CACHESTAT_NUMBER, fd, &range, &counts, 0u) == 0)
        return counts.cached >= end - first;
#endif
    return -1;
}

/* For older kernels: tries to read a byte without waiting. A tmpfs refuses that, and any read there does not wait. */
static int byte_cached(int fd, uint64_t offset)
{
#if defined(RWF_NOWAIT)
    char byte;
    struct iovec to = { &byte, 1 };
    struct statfs system;
    ssize_t got = preadv2(fd, &to, 1, (off_t)offset, RWF_NOWAIT);

    if (got < 0 && errno == EOPNOTSUPP && fstatfs(fd, &system) == 0 && system.f_type == TMPFS_MAGIC)
        got = pread(fd, &byte, 1, (off_t)offset);
    return got == 1 ? 1 : got < 0 && errno == EAGAIN ? 0 : -1;
#else
    (void)fd;
    (void)offset;
    return -1;
#endif
}

double residency_share(int fd, uint64_t offset, uint64_t bytes, uint64_t seed)
{
    uint64_t pages = (bytes + SAMPLE_BYTES - 1) / SAMPLE_BYTES, samples = pages < SAMPLES ? pages : SAMPLES;
    unsigned cached = 0;

    for (uint64_t i = 0; i < samples; i++) {
        /* one byte in each of equal stretches, at another place each time */
        uint64_t first = (uint64_t)((double)pages * (double)i / (double)samples);
        uint64_t end = (uint64_t)((double)pages * (double)(i + 1) / (double)samples);
        uint64_t page = first + (end > first ? (seed * 0x9e3779b97f4a7c15u >> 20) % (end - first) : 0);
        int known = range_cached(fd, offset + page * SAMPLE_BYTES, 1);

        if (known < 0)
            known = byte_cached(fd, offset + page * SAMPLE_BYTES);
        if (known < 0)
            return 0;
        cached += (unsigned)known;
        seed = seed * 0xd6e8feb86659fd93u + 1;
    }
    return samples ? (double)cached / (double)samples : 1;
}

bool residency_whole(int fd, uint64_t offset, uint64_t bytes)
{
    return range_cached(fd, offset, bytes) == 1;
}

bool residency_lacks(int fd, uint64_t offset, uint64_t bytes)
{
    return range_cached(fd, offset, bytes) == 0;
}
