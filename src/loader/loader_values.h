/*
 * loader_values.h: arrays of numbers that a batch has in addition to its tokens: the output `places`, and columns of
 * the datasets. A loader without `places` and columns has no such arrays.
 *
 * Each array lies in the slot, and has an entry for each place of each row, in the form that a consumer gets; so a
 * device and the host only copy it. A *stretch* is consecutive places of a row whose tokens follow each other in a
 * dataset: the entries of a stretch follow each other in a column, too, and are gathered as the tokens are. All other
 * places have the array's padding: padding of the row, tokens that no dataset has, and all places of a damaged row.
 */
#ifndef LEAT_LOADER_VALUES_H
#define LEAT_LOADER_VALUES_H

#include "device/backend.h"
#include "loader_stages.h"

#define LOADER_COLUMNS 64u /* most columns of a loader */

struct loader_slot;

/* The tokens that the entries of an array belong to: inputs or labels. */
enum loader_beside { LOADER_AT_INPUTS = LEAT_AT_INPUTS, LOADER_AT_LABELS = LEAT_AT_LABELS, LOADER_AT_COUNT };

/* Facts about one array. */
struct loader_value {
    char *name; /* name of the column; NULL: the output `places` */
    enum loader_beside at;
    uint32_t type, width;          /* type of its numbers, as consumers get them; numbers per entry */
    uint32_t widened_from;         /* type of the numbers in the file if they are widened, else 0 */
    uint32_t stored_bytes, bytes;  /* bytes of an entry in the file and in the array */
    uint32_t number_bytes;         /* bytes of a number in the array */
    uint8_t stored_pad[8], pad[8]; /* number of the padding in the file's type and in the array's */
};

/* All arrays of a loader: `places`, if it is wanted, and columns. */
struct loader_values {
    struct loader_value each[1 + LOADER_COLUMNS];
    unsigned count, first_column;
    bool at[LOADER_AT_COUNT]; /* true if some array has entries of these tokens */
};

/* Consecutive places of a row of the outputs, whose tokens follow each other in a dataset. */
struct loader_stretch {
    uint32_t row, place, count;
    uint32_t source, part;
    uint64_t token, offset; /* number of the first token in the source's dataset, and in the part */
};

/* The stretches of a batch, row by row. */
struct loader_stretches {
    struct loader_stretch *items;
    size_t count, room;
};

/* What is found for the arrays of a batch. */
struct loader_found {
    struct loader_stretches at[LOADER_AT_COUNT];
    uint32_t *first_read; /* number of the first read of columns for each filled row, then the number of all reads */
    size_t begins[1 + LOADER_COLUMNS]; /* where each array begins in the slot */
    void *lent[LOADER_COLUMNS];        /* addresses of the columns, for consumers that borrow them */
};

/* Checks the options, and finds the types of the columns. Sets shape->values. */
enum leat_status loader_values_open(struct loader_shape *shape, struct leat_error *err);
void loader_values_close(struct loader_shape *shape);

/* Lists the loader's columns with the types that their files must have; returns the number of columns. */
uint32_t loader_values_columns(const struct loader_shape *shape, struct leat_column_info all[LOADER_COLUMNS]);

/* Adds to *size the bytes that all arrays need for up to `places` places. Returns false if the sum is too large. */
bool loader_values_size(const struct loader_shape *shape, uint64_t places, uint64_t *size);

enum leat_status loader_found_open(const struct loader_shape *shape, struct loader_found **out, struct leat_error *err);
void loader_found_close(struct loader_found *x);

/* Finds the stretches of the rows, whose pieces or cuts are known, and adds the reads of columns after the tokens'. */
enum leat_status loader_values_find(const struct loader_shape *shape, struct loader_places *places,
                                    struct loader_reads *reads, struct leat_error *err);

/* Adds a stretch of a piece's tokens, from its token `first` on. */
enum leat_status loader_stretch_add(struct loader_stretches *x, const struct leat_piece *piece, uint64_t first,
                                    uint32_t row, uint32_t place, uint32_t count, struct leat_error *err);

/* Lays out the arrays after the slot's other contents. Gives the reads of columns their places in memory, and fills
 * everything that is not gathered. */
void loader_values_lay(const struct loader_shape *shape, const struct loader_places *places, struct loader_reads *reads,
                       struct loader_memory *m);

/* Turns the values that have come for a row into those that consumers get. */
void loader_values_finish(const struct loader_shape *shape, const struct loader_places *places,
                          const struct loader_memory *m, uint32_t row);

/* Fills a row with padding. */
void loader_values_clear(const struct loader_shape *shape, const struct loader_places *places,
                         const struct loader_memory *m, uint32_t row);

/* Lists the arrays that go to outputs. Returns LEAT_E_ARGUMENT for an output that the loader does not have. */
enum leat_status loader_values_wanted(const struct loader_slot *slot, const struct leat_outputs *o,
                                      struct backend_values wanted[1 + LOADER_COLUMNS], unsigned *count,
                                      struct leat_error *err);

/* Points borrowed outputs at the arrays of the slot, which begins at `base`. */
void loader_values_borrowed(const struct loader_slot *slot, uint8_t *base, struct leat_outputs *o);

#endif
