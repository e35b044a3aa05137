/* memory.h: how much memory a process may take: what it holds, what the system and its control groups have left, and
 * a bound for callers that give none. */
#ifndef LEAT_BASE_MEMORY_H
#define LEAT_BASE_MEMORY_H

#include <stdint.h>

/* Returns how much memory the control groups (version 1 or 2) have left that a file like /proc/self/cgroup names,
 * looked up below a folder like /sys/fs/cgroup; UINT64_MAX: no limit. */
uint64_t memory_group_left(const char *groups, const char *root);

/* Returns how many bytes this process can take without pushing others out: the least that the system and its control
 * groups have left. */
uint64_t memory_left(void);

/* Returns how many bytes this process holds now. */
uint64_t memory_resident(void);

/*
 * Returns a bound on the memory of a process whose user gives none: `wanted`, but at most three quarters of what it
 * may hold in control groups. These leave it `left` bytes (UINT64_MAX: no limit) in addition to the `resident` bytes
 * that it holds already. The last quarter is for memory of the kernel, which the groups count, too.
 */
uint64_t memory_within(uint64_t wanted, uint64_t resident, uint64_t left);

/* Returns the bound for this process and its groups as they are now. */
uint64_t memory_within_groups(uint64_t wanted);

#endif
