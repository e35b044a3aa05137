/*
 * residency.h: how much of a file is in the page cache, and how much memory is available, for the choice of engines.
 * All of it is a guess of this moment: only speed may depend on it.
 */
#ifndef LEAT_RESIDENCY_H
#define LEAT_RESIDENCY_H

#include <stdbool.h>
#include <stdint.h>

/* The share of [offset, offset + bytes) of `fd` that is in the page cache, by samples spread over it; `seed` moves
 * them. Where it cannot be known: 0. */
double residency_share(int fd, uint64_t offset, uint64_t bytes, uint64_t seed);

/* Whether all of [offset, offset + bytes) is; false where it cannot be known. */
bool residency_whole(int fd, uint64_t offset, uint64_t bytes);

/* Whether some of it is not, nor on its way; false where it cannot be known. */
bool residency_lacks(int fd, uint64_t offset, uint64_t bytes);

/* What the control groups (of either version) that a file like /proc/self/cgroup names allow yet, below a folder like
 * /sys/fs/cgroup; UINT64_MAX: no limit. */
uint64_t residency_group_memory(const char *groups, const char *root);

/* Bytes that this process can have without pushing others out: the least of the system's and of its control groups'. */
uint64_t residency_memory(void);

#endif
