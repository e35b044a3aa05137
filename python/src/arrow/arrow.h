/*
 * arrow.h: rows and columns from any Python object that supports Arrow's PyCapsule interface. The producer's
 * functions are called without the GIL; it takes the GIL itself if it needs it. Nothing of Arrow is needed to build or
 * to run: arrow_abi.h has its ABI.
 *
 * The room python/src/arrow/ reads columns of Arrow's C interface; it knows no tokenizer.
 */
#ifndef LEAT_PYTHON_ARROW_H
#define LEAT_PYTHON_ARROW_H

#include <leat.h>
#include <leat_pack.h>
#include <stdbool.h>
#include <stdint.h>

#include "arrow_abi.h"
#include "core/module.h"
#include "core/pause.h"
#include "text/text.h"

/* ---- Arrays (arrow_stream.c) ---- */

struct arrow_stream {
    struct ArrowArrayStream stream; /* ours; release NULL: a single array */
    struct ArrowSchema schema;
    struct ArrowArray array; /* the one that is looked at */
    int single;              /* it is still to be given */
};

/*
 * Takes over the stream of a capsule (from __arrow_c_stream__()), or the array of a pair of capsules (from
 * __arrow_c_array__()), and asks for the schema. -1 with an exception; else the stream is the caller's to close.
 */
int arrow_stream_open(struct arrow_stream *s, PyObject *capsules);

/* The next array, in s->array; its release is NULL after the last one. The GIL must not be held. */
enum leat_status arrow_stream_next(struct arrow_stream *s, struct leat_error *err);

/* The GIL must be held. Arrays that were moved out of s->array belong to whoever moved them. */
void arrow_stream_close(struct arrow_stream *s);

/* ---- Columns (arrow_column.c): texts, numbers, lists of numbers ---- */

/*
 * Nothing here knows Python, and whatever can be checked is checked: types, counts of buffers, children and rows,
 * offsets, indices into dictionaries. The interface does not say how long a buffer is; the last offset is believed.
 *
 * First arrow_find() looks for the column in a schema, once; then arrow_bind() takes each array of that schema.
 */

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
    char number;  /* the type of numbers, also of a list's: as in integers.h, or '?', 'f', 'd' (ARROW_WEIGHTS) */
    char indices; /* dictionary-encoded: the type of the indices; 0: not */
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
    int64_t number;       /* numbers: as int64_t, or as uint64_t if the type is 'Q' */
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

/* ---- Rows as documents for a packer, an array at a time (arrow_rows.c) ---- */

struct arrow_rows {
    PyObject_HEAD struct arrow_stream stream;
    struct arrow_place text, id, mask;
    bool has_id, has_mask;
    bool busy;     /* a call uses it, in a thread that may have given the GIL away */
    uint64_t rows; /* of the arrays before */
};

/* The rows of a leat._leat.ArrowRows; NULL with TypeError for anything else. */
struct arrow_rows *arrow_rows_of(PyObject *object);

/* How rows become documents, and what became of those of an array. */
struct arrow_adding {
    uint64_t skip;     /* leave out this many rows, counted over all arrays */
    bool skip_missing; /* leave out rows without a text; else they are an error, and the whole array is refused */
    uint64_t input;    /* of the origins; LEAT_NONE: none */
    uint64_t row;      /* the number of the next row in that input */
    uint64_t added;    /* documents */
    uint64_t passed;   /* rows without a text that were left out */
    bool end;          /* no array was left */
    enum leat_status status;
    struct leat_error err;
};

/* Gives the next array's rows to the packer, without the GIL. -1: interrupted, with an exception set; some rows may
 * have been added. */
int arrow_rows_add(struct arrow_rows *r, struct leat_packer *p, struct arrow_adding *a, struct pause *pause);

int arrow_rows_register(PyObject *module);

/* ---- All texts of a column, where they are: no object or copy for any of them (arrow_rows.c) ---- */

struct arrow_texts;

/* Reads the whole stream of `capsules` and keeps its arrays. A missing text is an error. -1 with an
 * exception. */
int arrow_texts_read(struct arrow_texts **out, PyObject *capsules, const char *column);
const struct text_view *arrow_texts_views(const struct arrow_texts *texts, size_t *count);
/* The GIL must be held. */
void arrow_texts_free(struct arrow_texts *texts);

#endif
