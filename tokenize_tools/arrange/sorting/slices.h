/*
 * slices.h: files that the parts of a run leave for each other: records of a few numbers, in slices. Each part reads
 * its slice of every file. Numbers are little-endian, since machines of both kinds may share a run, and each slice has
 * a sum: a file that comes over a network or from a disk that fails is not believed.
 *
 *   u64  magic, slices S, documents, words W of a record
 *   u64  S + 1 times: the number of records before slice i
 *   u64  S times: XXH3-64 of slice i: of the first four numbers, its number, its two places, and its bytes
 *        records, W numbers each
 */
#ifndef LEAT_ARRANGE_SLICES_H
#define LEAT_ARRANGE_SLICES_H

#include <stdbool.h>
#include <stdint.h>

#include "leat.h"
#include "triple.h"

struct slices_writer {
    char *path, *partial;
    int fd;
    unsigned words;
    uint64_t slices, documents, slice; /* slice: the one that is written */
    uint64_t records;
    uint64_t *table; /* the numbers before the records */
    uint8_t *buffer;
    size_t used;
    void *sum;
};

/* Replaces what a killed process left. On failure too slices_end() must follow. */
enum leat_status slices_begin(struct slices_writer *w, const char *path, uint64_t slices, uint64_t documents,
                              unsigned words, struct leat_error *err);

/* Adds the first `words` numbers of a triple; slices must not fall from call to call. */
enum leat_status slices_put(struct slices_writer *w, uint64_t slice, struct triple t, struct leat_error *err);

/* Makes the file durable, then gives it its name. */
enum leat_status slices_finish(struct slices_writer *w, struct leat_error *err);
void slices_end(struct slices_writer *w);

struct slice_reader {
    const char *path;
    int fd;
    unsigned words;
    uint64_t documents;                 /* as the writer was told */
    uint64_t head[4], slice, places[2]; /* as the file has them */
    uint64_t at, left;                  /* records */
    uint64_t expected;
    uint8_t *buffer;
    size_t used, filled;
    void *sum;
};

/* Opens a file that has `slices` slices of such records, to read one. On failure too slice_close() must follow. */
enum leat_status slice_open(struct slice_reader *r, const char *path, uint64_t slices, uint64_t slice, unsigned words,
                            struct leat_error *err);

/* Gives the next record, with zeros for the numbers that it does not have; *more false: none is left, and the slice is
 * what was written. */
enum leat_status slice_next(struct slice_reader *r, struct triple *t, bool *more, struct leat_error *err);
void slice_close(struct slice_reader *r);

#endif
