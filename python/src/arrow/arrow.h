/*
 * arrow.h: rows and columns from any Python object that supports Arrow's PyCapsule interface. The producer's
 * functions are called without the GIL; a producer takes the GIL itself if it needs it. Neither building nor running
 * needs Arrow: arrow_abi.h has its ABI.
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
    struct ArrowArrayStream stream; /* the stream, which this struct owns; its `release` is NULL if there is only one
                                       array */
    struct ArrowSchema schema;
    struct ArrowArray array; /* the array in use */
    int single;              /* 1 as long as the single array has not been given */
};

/* Takes over the stream of a capsule (of __arrow_c_stream__()) or the array of a pair of capsules (of
 * __arrow_c_array__()), and asks for the schema. Returns -1 with an exception on failure; otherwise the caller
 * closes the stream. */
int arrow_stream_open(struct arrow_stream *s, PyObject *capsules);

/* Gets the next array into s->array, whose `release` is NULL after the last one. The caller must not hold the GIL. */
enum leat_status arrow_stream_next(struct arrow_stream *s, struct leat_error *err);

/* Closes the stream; the caller holds the GIL. Arrays that were moved out of s->array stay. */
void arrow_stream_close(struct arrow_stream *s);

/* ---- Columns (arrow_column.c): texts, numbers, lists of numbers ---- */

/*
 * The functions for columns know no Python, and check whatever can be checked: types, counts of buffers, children
 * and rows, offsets, indices into dictionaries. The interface does not say how long a buffer is, so the last offset
 * is trusted.
 *
 * First arrow_find() looks for the column in a schema, once; then arrow_bind() takes each array of that schema.
 */

#define ARROW_DEPTH 16 /* most levels of structs within structs */

enum arrow_kind {
    ARROW_NOTHING = 1,   /* each row's value is missing, since the type is null */
    ARROW_TEXT32 = 2,    /* utf8, binary */
    ARROW_TEXT64 = 4,    /* large_utf8, large_binary */
    ARROW_VIEWS = 8,     /* utf8_view, binary_view */
    ARROW_NUMBER = 16,   /* integers */
    ARROW_LIST32 = 32,   /* list of integers */
    ARROW_LIST64 = 64,   /* large_list of integers */
    ARROW_WEIGHTS = 128, /* lets ARROW_LISTS also have the types bool, float32 and float64 */
    ARROW_FLOAT = 256,   /* float32, float64 */
    ARROW_ANY = 512      /* allows any type; only the presence of a value counts */
};
#define ARROW_TEXTS (ARROW_NOTHING | ARROW_TEXT32 | ARROW_TEXT64 | ARROW_VIEWS)
#define ARROW_LISTS (ARROW_LIST32 | ARROW_LIST64)

/* Where a column is in the arrays of a schema. */
struct arrow_place {
    char name[128]; /* the column's name, for sentences */
    int64_t children[ARROW_DEPTH];
    unsigned depth;
    enum arrow_kind kind;
    char number;  /* type of the numbers (of those in the lists, with ARROW_LISTS): a letter as in integers.h, or
                     '?', 'f', 'd' for weights and floats */
    char indices; /* type of a dictionary's indices; 0: the column has no dictionary */
};

/* Finds a column. `path` is its name, with dots between the names of structs and their members; names that have dots
 * themselves are found too. If the schema is a single column and no table, that column is taken, whatever the path.
 * `kinds` is the sum of the wanted kinds, and `what` names them in the sentence. Returns LEAT_E_ARGUMENT if the
 * column is of another kind, and LEAT_E_NOT_FOUND, with the names of the columns, if there is none. */
enum leat_status arrow_find(const struct ArrowSchema *schema, const char *path, unsigned kinds, const char *what,
                            struct arrow_place *place, struct leat_error *err);

struct arrow_bits {
    const uint8_t *valid; /* a bit per row, which is 1 if the row has a value; NULL: all rows have one */
    int64_t offset;
};

/* The values of one array. */
struct arrow_values {
    enum arrow_kind kind;
    char number;
    int64_t length, offset;
    const uint8_t *valid;
    const void *offsets;       /* the offsets; or the views or numbers, with types that have no offsets */
    const void *data;          /* bytes of the texts, or numbers of the lists */
    const void *const *more;   /* buffers of views */
    const int64_t *more_bytes; /* lengths of these buffers */
    int64_t more_count;
    int64_t child_length, child_offset; /* length and offset of the array that has the lists' numbers */
    const uint8_t *child_valid;
};

struct arrow_column {
    const struct arrow_place *place;
    int64_t rows;
    struct arrow_bits structs[ARROW_DEPTH];
    unsigned depth;
    int64_t first; /* place of row 0 in `values` or in the indices */
    struct arrow_values values, indices;
};

/* Binds the column to an array. The place and the array must outlive the column. Returns LEAT_E_ARGUMENT if the
 * array contradicts its schema. */
enum leat_status arrow_bind(struct arrow_column *column, const struct arrow_place *place,
                            const struct ArrowArray *array, struct leat_error *err);

/* The value of a row. arrow_get() sets the members that its kind has, or `missing`. The array owns the memory. It
 * returns LEAT_E_ARGUMENT if the array contradicts itself. */
struct arrow_value {
    bool missing;
    const char *text; /* a text */
    uint64_t bytes;
    int64_t number;       /* set for a number; it is a uint64_t if the type is 'Q' */
    double real;          /* a float */
    int64_t first, count; /* set for a list: the place of its first number, which arrow_number() takes, and how many
                             it has */
};
enum leat_status arrow_get(const struct arrow_column *column, int64_t row, struct arrow_value *value,
                           struct leat_error *err);

/* Reads number i of all lists, in the form of arrow_value.number. Returns false if it is missing. */
bool arrow_number(const struct arrow_column *column, int64_t i, int64_t *number);

/* Reads number i of all lists as a weight. Integers other than 0 and 1 become -1. Returns false if it is missing. */
bool arrow_weight(const struct arrow_column *column, int64_t i, double *weight);

/* Returns true if a number of the column is below zero. */
bool arrow_negative(const struct arrow_column *column, int64_t number);

/* ---- Conditions of a packer on the columns of a table (arrow_fields.c) ---- */

/* The columns of the fields that conditions name. A zeroed struct has none. */
struct arrow_fields {
    struct arrow_place *places;
    struct arrow_column *columns; /* columns of the bound array */
    struct leat_value *values;    /* values of a row */
    size_t count;
    bool found;
};

/* Finds the columns of the fields that the packer's conditions name, if it has conditions. Returns LEAT_E_NOT_FOUND
 * if one is missing, and LEAT_E_ARGUMENT if one cannot be compared or the rows are no table. Call
 * arrow_fields_free() afterwards, also if this fails. */
enum leat_status arrow_fields_find(struct arrow_fields *f, const struct ArrowSchema *schema,
                                   const struct leat_packer *p, struct leat_error *err);
void arrow_fields_free(struct arrow_fields *f);

/* Bind the columns to an array, and call leat_packer_judge() for a row of it. */
enum leat_status arrow_fields_bind(struct arrow_fields *f, const struct ArrowArray *array, struct leat_error *err);
enum leat_status arrow_fields_judge(struct arrow_fields *f, int64_t row, struct leat_packer *p, uint32_t *keep,
                                    struct leat_error *err);

/* ---- Rows as documents for a packer, an array at a time (arrow_rows.c) ---- */

struct arrow_rows {
    PyObject_HEAD struct arrow_stream stream;
    struct arrow_place text, id, mask;
    bool has_id, has_mask;
    struct arrow_fields fields;
    bool busy;     /* true while a call uses the rows, in a thread that may have released the GIL */
    uint64_t rows; /* rows of earlier arrays */
};

/* Returns the rows of a leat._leat.ArrowRows, or NULL with TypeError for any other object. */
struct arrow_rows *arrow_rows_of(PyObject *object);

/* Options for turning rows into documents, and results for an array. */
struct arrow_adding {
    uint64_t skip;     /* number of rows to leave out, counted over all arrays */
    bool skip_missing; /* true: rows without a text are left out; false: they are an error, and the whole array is
                          refused */
    uint64_t input;    /* input of the documents' origins; LEAT_NONE: none */
    uint64_t row;      /* number of the next row in this input */
    uint64_t added;    /* documents added */
    uint64_t passed;   /* rows without a text that were left out */
    uint64_t kept_out; /* rows for which a condition of the packer does not hold */
    bool end;          /* true if there was no array left */
    enum leat_status status;
    struct leat_error err;
};

/* Gives the next array's rows to the packer, without the GIL. Returns -1 with an exception set if it is interrupted;
 * some rows may have been added. */
int arrow_rows_add(struct arrow_rows *r, struct leat_packer *p, struct arrow_adding *a, struct pause *pause);

/* Judges the next array's rows by the packer's conditions, without the GIL. *keep gets a byte for each of *count
 * rows, 1 or 0, which the caller frees; it is NULL after the last array. */
enum leat_status arrow_rows_judge(struct arrow_rows *r, struct leat_packer *p, char **keep, size_t *count,
                                  struct leat_error *err);

int arrow_rows_register(PyObject *module);

/* ---- All texts of a column, where they are: no object or copy for any of them (arrow_rows.c) ---- */

struct arrow_texts;

/* Reads the whole stream of `capsules` and keeps its arrays. A missing text is an error. Returns -1 with an
 * exception on failure. */
int arrow_texts_read(struct arrow_texts **out, PyObject *capsules, const char *column);
const struct text_view *arrow_texts_views(const struct arrow_texts *texts, size_t *count);
/* Frees the texts; the caller holds the GIL. */
void arrow_texts_free(struct arrow_texts *texts);

#endif
