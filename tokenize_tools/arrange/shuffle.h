/*
 * shuffle.h: writes the documents of each output in another order: by a keyed hash of the number that each has without
 * shuffling, then by that number. So the order depends only on the seed and these numbers: not on memory, nor on how
 * the work is divided.
 *
 * There are two passes. First, documents are put into buckets by the first bits of their keys; then one bucket after
 * another is sorted in memory and written. A bucket that is too large is divided again by the next bits; if its
 * documents are large themselves, only its keys are sorted. What fits into memory needs no file.
 */
#ifndef LEAT_ARRANGE_SHUFFLE_H
#define LEAT_ARRANGE_SHUFFLE_H

#include <stdint.h>

#include "document_reader.h"
#include "merge_parts.h"
#include "outputs.h"
#include "sorting/buckets.h"

struct shuffle {
    const char *path; /* files lie on this path's disk */
    uint64_t seed, memory;
    uint32_t width; /* bytes of a token */
    uint32_t cost;  /* bytes of a token with its mask, if there is one */
    uint8_t *block; /* tokens with their masks that are put into a bucket; NULL without masks */
    size_t output_count;
    unsigned bits; /* number of bits at the beginning of a key that choose the bucket */
    struct helpers *helpers;
    struct buckets buckets;
    uint64_t *numbers; /* number of each output's next document */
};

/* The arguments of shuffle_begin(). */
struct shuffle_plan {
    const char *path; /* kept */
    uint64_t seed, memory;
    uint32_t width; /* bytes of a token */
    bool masked;
    uint64_t bytes; /* size of the records of all documents: shuffle_bytes() */
    size_t outputs;
    struct helpers *helpers; /* write buckets, and read and sort them ahead */
};

/* Makes the buckets. shuffle_end() must follow, on failure too. */
enum leat_status shuffle_begin(struct shuffle *s, const struct shuffle_plan *plan, struct leat_error *err);

/* Returns the size of the records of all documents. */
uint64_t shuffle_bytes(const struct merge_parts *parts);

/* Takes the reader's document for output `output`. */
enum leat_status shuffle_put(struct shuffle *s, size_t output, const struct document *d, struct document_reader *r,
                             struct leat_error *err);

/* Writes all documents that were put, output by output. */
enum leat_status shuffle_write(struct shuffle *s, struct outputs *outputs, struct pace *pace, struct leat_error *err);

/* Frees everything. A zeroed struct whose buckets.fd is -1 is fine. */
void shuffle_end(struct shuffle *s);

#endif
