/*
 * residency.c: see residency.h. A file's share in memory is guessed from samples spread over it, since asking for every
 * page costs too much. cachestat(2) answers for a range; older kernels are asked for a byte, by a read that must not
 * wait. Free memory is the least of MemAvailable and of what the control groups around the process have left: in a
 * container, the system's own number promises memory that the process cannot have.
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

/* For older kernels: tries to read a byte without waiting. */
static int byte_cached(int fd, uint64_t offset)
{
#if defined(RWF_NOWAIT)
    char byte;
    struct iovec to = { &byte, 1 };
    ssize_t got = preadv2(fd, &to, 1, (off_t)offset, RWF_NOWAIT);

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

/* ---- Memory ---- */

/* Reads a small file of the system, and adds a NUL; false: no such file. */
static bool read_text(const char *path, char *text, size_t capacity)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got;

    if (fd < 0)
        return false;
    got = read(fd, text, capacity - 1);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* The first number after `key` in a file of a folder; false: no number ("max"). */
static bool number_of(const char *folder, const char *file, const char *key, uint64_t *value)
{
    char path[1200], text[4096], *at;

    snprintf(path, sizeof path, "%s/%s", folder, file);
    if (!read_text(path, text, sizeof text) || !(at = strstr(text, key)))
        return false;
    at += strlen(key);
    at += strspn(at, " \t");
    if (*at < '0' || *at > '9')
        return false;
    *value = strtoull(at, NULL, 10);
    return true;
}

/* How much memory a control group has left. Cached pages of files count as free, as in MemAvailable. UINT64_MAX: no
 * limit, or no such folder. */
static uint64_t left_in(const char *folder, bool old)
{
    static const char *const names[2][5] = {
        { "memory.max", "memory.high", "memory.current", "\ninactive_file ", "\nactive_file " },
        { "memory.limit_in_bytes", "memory.limit_in_bytes", "memory.usage_in_bytes", "\ntotal_inactive_file ",
          "\ntotal_active_file " },
    };
    const char *const *n = names[old];
    uint64_t max = UINT64_MAX, high = UINT64_MAX, used, pages;

    number_of(folder, n[0], "", &max);
    number_of(folder, n[1], "", &high);
    if (high < max)
        max = high;
    if (max == UINT64_MAX || !number_of(folder, n[2], "", &used))
        return UINT64_MAX;
    for (unsigned i = 3; i < 5; i++)
        if (number_of(folder, "memory.stat", n[i], &pages))
            used = used > pages ? used - pages : 0;
    return max > used ? max - used : 0;
}

/* The least of the group at this path below `root` and all groups around it. In a container the path may exist only
 * outside, and the container's own group is at the root. */
static uint64_t left_on_path(const char *root, const char *path, size_t path_bytes, bool old)
{
    uint64_t min = UINT64_MAX, left;
    char folder[1000];

    for (;;) {
        snprintf(folder, sizeof folder, "%s%s%.*s", root, old ? "/memory" : "", (int)path_bytes, path);
        left = left_in(folder, old);
        if (left < min)
            min = left;
        if (path_bytes == 0)
            return min;
        do
            path_bytes--;
        while (path_bytes > 0 && path[path_bytes] != '/');
    }
}

uint64_t residency_group_memory(const char *groups, const char *root)
{
    uint64_t min = UINT64_MAX, left;
    char text[4096], *line, *next;

    if (!read_text(groups, text, sizeof text))
        return min;
    for (line = text; *line; line = next) { /* "4:memory:/a/b", or "0::/a/b" of the newer version */
        size_t bytes = strcspn(line, "\n");
        char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;

        next = line + bytes + (line[bytes] == '\n');
        if (!path || path >= line + bytes)
            continue;
        path[0] = '\0';
        if (names[1] != '\0' && !strstr(names, "memory"))
            continue;
        left = left_on_path(root, path + 1, (size_t)(line + bytes - path - 1), names[1] != '\0');
        if (left < min)
            min = left;
    }
    return min;
}

uint64_t residency_memory(void)
{
    uint64_t free = 0, group = residency_group_memory("/proc/self/cgroup", "/sys/fs/cgroup");

    if (number_of("/proc", "meminfo", "MemAvailable:", &free))
        free *= 1024;
    return free < group ? free : group;
}
