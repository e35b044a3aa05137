/*
 * arrow_column.h: a column of texts, of numbers or of lists of numbers in Arrow's C interface. Nothing here knows
 * Python, and whatever can be checked is checked: types, counts of buffers, children and rows, offsets, indices into
 * dictionaries. The interface does not say how long a buffer is; the last offset is believed.
 *
 * First arrow_find() looks for the column in a schema, once; then arrow_bind() takes each array of that schema.
 */
#ifndef LEAT_PYTHON_ARROW_COLUMN_H
#define LEAT_PYTHON_ARROW_COLUMN_H

#include <leat.h>
#include <stdbool.h>

#include "arrow_abi.h"

#define ARROW_DEPTH 16 /* structs within structs */

enum arrow_kind {
    ARROW_NOTHING = 1,  /* type null: a missing value in each row */
    ARROW_TEXT32 = 2,   /* utf8, binary */
    ARROW_TEXT64 = 4,   /* large_utf8, large_binary */
    ARROW_VIEWS = 8,    /* utf8_view, binary_view */
    ARROW_NUMBER = 16,  /* integers */
    ARROW_LIST32 = 32,  /* list of integers */
    ARROW_LIST64 = 64,  /* large_list of integers */
    ARROW_WEIGHTS = 128 /* wanted with ARROW_LISTS: their numbers may be bool, float32 or float64, too */
};
#define ARROW_TEXTS (ARROW_NOTHING | ARROW_TEXT32 | ARROW_TEXT64 | ARROW_VIEWS)
#define ARROW_LISTS (ARROW_LIST32 | ARROW_LIST64)

/* Where a column is in the arrays of a schema. */
struct arrow_place {
    char name[128]; /* for sentences */
    int64_t children[ARROW_DEPTH];
    unsigned depth;
    enum arrow_kind kind;
    char number;  /* the format of ARROW_NUMBER, and of the numbers of a list */
    char indices; /* dictionary-encoded: their format; 0: not */
};

/*
 * `path` is a column's name, with dots between the names on the way through structs; a name that has dots itself is
 * found too. If the schema is not a table but a single column, that column is taken, whatever the path. `kinds` is the
 * sum of the wanted kinds, and `what` names them in the sentence. LEAT_E_ARGUMENT: the column is of another kind.
 * LEAT_E_NOT_FOUND: no such column; the sentence names those that exist.
 */
enum leat_status arrow_find(const struct ArrowSchema *schema, const char *path, unsigned kinds, const char *what,
                            struct arrow_place *place, struct leat_error *err);

struct arrow_bits {
    const uint8_t *valid; /* NULL: no value is missing */
    int64_t offset;
};

/* The values of one array. */
struct arrow_values {
    enum arrow_kind kind;
    char number;
    int64_t length, offset;
    const uint8_t *valid;
    const void *offsets;       /* or views, or numbers */
    const void *data;          /* bytes of texts; numbers of a list */
    const void *const *more;   /* the buffers of views */
    const int64_t *more_bytes; /* and their lengths */
    int64_t more_count;
    int64_t child_length, child_offset; /* of a list's numbers */
    const uint8_t *child_valid;
};

struct arrow_column {
    const struct arrow_place *place;
    int64_t rows;
    struct arrow_bits structs[ARROW_DEPTH];
    unsigned depth;
    int64_t first; /* of row 0 in `values`, or in the indices */
    struct arrow_values values, indices;
};

/* The place must outlive the column, and the array too. LEAT_E_ARGUMENT if the array contradicts its schema. */
enum leat_status arrow_bind(struct arrow_column *column, const struct arrow_place *place,
                            const struct ArrowArray *array, struct leat_error *err);

/* Reads the value of a row: *missing, or set as its kind requires. The memory is the array's. LEAT_E_ARGUMENT: it
 * contradicts itself. */
struct arrow_value {
    bool missing;
    const char *text; /* texts */
    uint64_t bytes;
    int64_t number;       /* numbers: as int64_t, or as uint64_t if the format is 'L' */
    int64_t first, count; /* lists: of arrow_number() */
};
enum leat_status arrow_get(const struct arrow_column *column, int64_t row, struct arrow_value *value,
                           struct leat_error *err);

/* Reads number i of those that lists point at, like arrow_value.number. Returns false if it is missing. */
bool arrow_number(const struct arrow_column *column, int64_t i, int64_t *number);

/* Reads the same as a weight: of integers only 0 and 1 are weights, others are -1. Returns false if it is missing. */
bool arrow_weight(const struct arrow_column *column, int64_t i, double *weight);

/* Whether such a number is below zero. */
bool arrow_negative(const struct arrow_column *column, int64_t number);

#endif
