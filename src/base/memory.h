/*
 * memory.h: how much memory a process may take: what it holds, what the system and its control groups have left, and a
 * bound for those who are given none.
 */
#ifndef LEAT_BASE_MEMORY_H
#define LEAT_BASE_MEMORY_H

#include <stdint.h>

/* Returns how much memory the control groups (version 1 or 2) have left that a file like /proc/self/cgroup names, below
 * a folder like /sys/fs/cgroup; UINT64_MAX: no limit. */
uint64_t memory_group_left(const char *groups, const char *root);

/* Bytes that this process can take without pushing others out: the least that the system and its control groups
 * have. */
uint64_t memory_left(void);

/* Bytes that this process holds now. */
uint64_t memory_resident(void);

/*
 * A bound on the memory of a process that is given none: `wanted`, but at most three quarters of what it may hold in
 * groups that leave it `left` (UINT64_MAX: no limit) in addition to the `resident` bytes that it holds already. The
 * rest is for what the kernel keeps, which they also count.
 */
uint64_t memory_within(uint64_t wanted, uint64_t resident, uint64_t left);

/* Returns the bound for this process and its groups as they are now. */
uint64_t memory_within_groups(uint64_t wanted);

#endif
