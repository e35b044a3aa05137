/* arrow_rows.h: the rows of an Arrow stream as documents, an array at a time, for a packer. */
#ifndef LEAT_PYTHON_ARROW_ROWS_H
#define LEAT_PYTHON_ARROW_ROWS_H

#include <leat_pack.h>

#include "arrow_column.h"
#include "arrow_stream.h"
#include "core/pause.h"
#include "text/text.h"

struct arrow_rows {
    PyObject_HEAD struct arrow_stream stream;
    struct arrow_place text, id, mask;
    bool has_id, has_mask;
    bool busy;                /* a call uses it, in a thread that may have given the GIL away */
    uint64_t rows;            /* of the arrays before */
    struct leat_error failed; /* status LEAT_OK: not */
};

/* The rows of a leat._leat.ArrowRows; NULL with TypeError for anything else. */
struct arrow_rows *arrow_rows_of(PyObject *object);

/* How rows become documents. */
struct arrow_rows_plan {
    uint64_t skip;     /* how many rows, over all arrays, are passed by */
    bool skip_missing; /* rows without a text are left out; else they are an error, and nothing of the array is taken */
    uint64_t input;    /* of the origins; LEAT_NONE: none */
    uint64_t row;      /* the number of the next row in that input */
};

/*
 * Gives the next array's rows to the packer, without the GIL. *added counts the documents, *passed the rows without a
 * text that were left out; *end: there was none. -1: interrupted, with an exception set; some rows may have been added.
 */
int arrow_rows_add(struct arrow_rows *r, struct leat_packer *p, struct arrow_rows_plan *plan, uint64_t *added,
                   uint64_t *passed, bool *end, struct pause *pause, enum leat_status *status, struct leat_error *err);

int arrow_rows_register(PyObject *module);

#endif
