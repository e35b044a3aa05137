/*
 * adopt_state.h: what an adoption has hashed so far, in NAME.partial.adopt, so that a run that is killed goes on where
 * it was: two slots of 80 bytes, of which the newer valid one counts, and from byte 4096 on the page hashes as they
 * will stand in the index.
 *
 * The room src/adopt/ writes indexes for tokens that lie in files of other tools. Reading such files belongs to
 * src/dataset/, the bytes of an index to src/writer/.
 */
#ifndef LEAT_ADOPT_STATE_H
#define LEAT_ADOPT_STATE_H

#include <stdint.h>

#include "checksum/checksum.h"
#include "leat.h"

struct adopt_state {
    const char *path; /* the caller's */
    int fd;
    struct hash128 facts; /* of the file that is adopted */
    uint64_t number;      /* of the last save */
    uint64_t pages;
    struct hash128 sum;      /* the page sum of these pages */
    struct hash128 hash_sum; /* of their hashes, as they were added */
};

/* Opens the file that an earlier run left, if its facts are the same, else an empty one. */
enum leat_status adopt_state_open(struct adopt_state *a, const char *path, struct hash128 facts,
                                  struct leat_error *err);

/* Appends the hashes of at most 1024 pages, little-endian; the caller adds to the sum. */
enum leat_status adopt_state_add(struct adopt_state *a, const uint32_t *hashes, uint64_t pages, struct leat_error *err);

/* From now on a later run goes on from here. */
enum leat_status adopt_state_save(struct adopt_state *a, struct leat_error *err);

/* Reads back hashes that were added at once, those of pages [page, page + pages), and adds their own to *hash_sum. */
enum leat_status adopt_state_read(const struct adopt_state *a, uint64_t page, uint8_t *hashes, uint64_t pages,
                                  struct hash128 *hash_sum, struct leat_error *err);

#endif
