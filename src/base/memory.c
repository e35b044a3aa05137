/*
 * memory.c: Free memory is the least of MemAvailable and of what the control groups around the process
 * have left: in a container, the system's own number promises memory that the process cannot have.
 */
#include "memory.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes that a process is assumed to hold where the system does not say how many it holds. */
#define RESIDENT_UNKNOWN ((uint64_t)64 << 20)

/* Reads a small file of the system, and adds a NUL; false if there is no such file. */
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

/* Reads the first number after `key` in a file of a folder; false if no number stands there ("max"). */
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

/* ---- Control groups ---- */

/* Returns how much memory a control group has left. Cached pages of files count as free, as in MemAvailable.
 * UINT64_MAX: no limit, or no such folder. */
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

/* Returns the least memory left in the group at this path below `root` and in all groups around it. In a container
 * the path may exist only outside, and the container's own group is at the root. */
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

uint64_t memory_group_left(const char *groups, const char *root)
{
    uint64_t min = UINT64_MAX, left;
    char text[4096], *line, *next;

    if (!read_text(groups, text, sizeof text))
        return min;
    for (line = text; *line; line = next) { /* a line is "4:memory:/a/b", or in the newer version "0::/a/b" */
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

/* ---- This process ---- */

static uint64_t groups_left(void)
{
    return memory_group_left("/proc/self/cgroup", "/sys/fs/cgroup");
}

uint64_t memory_left(void)
{
    uint64_t free = 0, group = groups_left();

    if (number_of("/proc", "meminfo", "MemAvailable:", &free))
        free *= 1024;
    return free < group ? free : group;
}

uint64_t memory_resident(void)
{
    char text[200];
    const char *second = read_text("/proc/self/statm", text, sizeof text) ? strchr(text, ' ') : NULL;

    return second ? strtoull(second, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : RESIDENT_UNKNOWN;
}

uint64_t memory_within(uint64_t wanted, uint64_t resident, uint64_t left)
{
    uint64_t ours = left < UINT64_MAX - resident ? left + resident : UINT64_MAX, most = ours - ours / 4;

    return wanted < most ? wanted : most;
}

uint64_t memory_within_groups(uint64_t wanted)
{
    return memory_within(wanted, memory_resident(), groups_left());
}
