/*
 * documents.h: documents of a dataset as an Arrow stream: a batch of rows at a time, with the tokens in place if the
 * file is mapped. Any library that takes Arrow's PyCapsule interface can read it. The room python/src/documents/ has
 * this and no more.
 *
 * A consumer calls the stream on any thread, without the GIL, and may keep batches, and move columns out of them, as
 * long as it likes: each column keeps what it points to.
 */
#ifndef LEAT_PYTHON_DOCUMENTS_H
#define LEAT_PYTHON_DOCUMENTS_H

#include <stdbool.h>

#include "arrow/arrow_abi.h"
#include "core/handle.h"
#include "core/module.h"
#include "dataset/stored_decoder.h"

enum documents_column { NUMBER, ID, SOURCE, TEXT, TOKENS, MASK, DOCUMENTS_COLUMNS };

/* The documents and columns that a stream reads. */
struct documents {
    struct handle *handle; /* keeps the dataset open */
    const struct leat_dataset *d;
    struct leat_info info;
    enum documents_column columns[DOCUMENTS_COLUMNS];
    size_t column_count;
    struct stored_decoder *decoder; /* decodes texts; NULL without the column TEXT */
    uint64_t next, end;             /* number of the next document, and of the one after the last */
    struct leat_error err;
};

/* Documents [first, first + count), all in one dataset of a list. */
struct documents_batch {
    uint64_t first, count;
    uint64_t *starts;            /* count + 1 starts */
    struct leat_origin *origins; /* origins of the documents, with the columns ID or SOURCE */
};

/* Makes a column of a batch, which its `release` frees (documents_columns.c). */
enum leat_status documents_make_column(struct ArrowArray *out, struct documents *s, const struct documents_batch *b,
                                       enum documents_column column, struct leat_error *err);

int documents_register(PyObject *module);

#endif
