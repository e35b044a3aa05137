/* warm.h: the page cache: how much of a file is in it, and threads that read files into it. */
#ifndef LEAT_WARM_H
#define LEAT_WARM_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How much of a file is in the page cache, for the choice of engines. These are guesses of the moment: only speed may
 * depend on them.
 */

/* The share of [offset, offset + bytes) of `fd` that is in the page cache, from samples spread over it; `seed` moves
 * them. 0 if unknown. */
double residency_share(int fd, uint64_t offset, uint64_t bytes, uint64_t seed);

/* Returns true if all of [offset, offset + bytes) is in the page cache; false if unknown. */
bool residency_whole(int fd, uint64_t offset, uint64_t bytes);

/* Returns true if some of it is neither there nor being read; false if unknown. */
bool residency_lacks(int fd, uint64_t offset, uint64_t bytes);

/* ---- Reading more ------------------------------------------------------------------------------------------------ */

/*
 * Reads files into the page cache in the order of their bytes, in threads of its own, while batches are read from them:
 * random reads of 4 KiB reach a seventh of a disk's sequential speed. Stretches that are there already, perhaps because
 * another rank reads them too, cost next to nothing.
 */

struct warm;

/* `fd` stays the caller's, and open until warm_close(). */
struct warm_stretch {
    int fd;
    uint64_t offset, bytes;
    bool remote; /* a remote file system: reads as large as possible */
};

/* Starts on a copy of these stretches, in their order; NULL: it failed, which only makes reading slower. With `more`,
 * warm_add() adds stretches later, from one thread; it returns false if there is no room for another one now. */
struct warm *warm_open(const struct warm_stretch *stretches, uint64_t count, bool more);
bool warm_add(struct warm *w, const struct warm_stretch *stretch);

/* Stops and frees, at any moment. NULL is fine. */
void warm_close(struct warm *w);

/* Returns how many bytes came from the disk; whether nothing is left to read (for NULL: yes). */
uint64_t warm_bytes(const struct warm *w);
bool warm_ended(const struct warm *w);

#endif
