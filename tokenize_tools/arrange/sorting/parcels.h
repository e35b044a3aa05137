/*
 * parcels.h: files in which a part of a run leaves bytes for each of the parts: a parcel for each. Their sizes are
 * known before, so that each has its place in the file, and all can be filled in turn, with a buffer for each; who it
 * is for reads one stretch of the file. Each parcel has a sum, as slices do (slices.h).
 *
 *   u64  magic, parcels P, bytes C of a chunk; the number 1 as this machine has it, since so are the bytes of parcels
 *   u64  P + 1 times: where parcel i begins, after these numbers
 *   u64  P times: its sum: XXH3-64 of P, C, i and its two places, then of each chunk, with the sum before as the seed
 *        the parcels; each has chunks of C bytes, and a last one
 */
#ifndef LEAT_ARRANGE_PARCELS_H
#define LEAT_ARRANGE_PARCELS_H

#include <stddef.h>
#include <stdint.h>

#include "leat.h"

struct parcel {
    uint8_t *buffer; /* of a chunk, once there is something in it */
    size_t used;
    uint64_t done, sum; /* bytes in the file */
};

struct parcels_writer {
    char *path, *partial;
    int fd;
    uint64_t count, chunk;
    uint64_t *begins; /* of each, and the end of the last one */
    struct parcel *items;
};

/* `sizes` of `count` parcels; `memory` is for buffers. Replaces what a killed process left. On failure too
 * parcels_end() must follow. */
enum leat_status parcels_begin(struct parcels_writer *w, const char *path, const uint64_t *sizes, uint64_t count,
                               uint64_t memory, struct leat_error *err);

/* Adds to parcel i. LEAT_E_MISMATCH if it is full. */
enum leat_status parcels_put(struct parcels_writer *w, uint64_t i, const void *bytes, uint64_t count,
                             struct leat_error *err);

/* When all are full: makes the file durable, then gives it its name. */
enum leat_status parcels_finish(struct parcels_writer *w, struct leat_error *err);
void parcels_end(struct parcels_writer *w);

struct parcel_reader {
    const char *path;
    int fd;
    uint64_t count, chunk, size; /* size: of the file */
    uint64_t at, left;           /* of the parcel: not in the buffer yet */
    uint64_t sum, expected;
    uint8_t *buffer;
    size_t used, filled;
};

/* Opens a file that has `count` parcels. On failure too parcel_close() must follow. */
enum leat_status parcel_open(struct parcel_reader *r, const char *path, uint64_t count, struct leat_error *err);
void parcel_close(struct parcel_reader *r);

/* Goes to the beginning of parcel i. *bytes: its size. */
enum leat_status parcel_choose(struct parcel_reader *r, uint64_t i, uint64_t *bytes, struct leat_error *err);

/* Takes the next `count` bytes of the parcel. LEAT_E_CHECKSUM if it has fewer; that it is not what was written shows
 * when its last chunk is read. */
enum leat_status parcel_take(struct parcel_reader *r, void *bytes, uint64_t count, struct leat_error *err);

/* What is wrong with the file, for its reader too. */
enum leat_status parcel_damaged(const struct parcel_reader *r, struct leat_error *err);

#endif
