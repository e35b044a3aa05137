/*
 * residency.h: how much of a file is in the page cache, for the choice of engines. These are guesses of the moment:
 * only speed may depend on them.
 */
#ifndef LEAT_RESIDENCY_H
#define LEAT_RESIDENCY_H

#include <stdbool.h>
#include <stdint.h>

/* The share of [offset, offset + bytes) of `fd` that is in the page cache, from samples spread over it; `seed` moves
 * them. 0 if unknown. */
double residency_share(int fd, uint64_t offset, uint64_t bytes, uint64_t seed);

/* Whether all of [offset, offset + bytes) is in the page cache; false if unknown. */
bool residency_whole(int fd, uint64_t offset, uint64_t bytes);

/* Whether some of it is neither there nor being read; false if unknown. */
bool residency_lacks(int fd, uint64_t offset, uint64_t bytes);

#endif
