/*
 * dataset.h: leat._leat.Dataset, an open dataset. dataset.c has its facts, tokens and documents; dataset_origin.c where
 * documents came from and what else is stored; dataset_verify.c checks it, and dataset_text.c decodes its tokens.
 *
 * The room python/src/dataset/ has only this type; plans and loaders, which use datasets, are in rooms above it.
 */
#ifndef LEAT_PYTHON_DATASET_H
#define LEAT_PYTHON_DATASET_H

#include "core/handle.h"
#include "core/module.h"

struct dataset {
    PyObject base;
    struct handle *handle; /* NULL: closed */
    PyObject *name;        /* bytes: what messages are about */
    void *decoder;         /* dataset_text.c; NULL: not needed yet, or in use */
};

/* What a call works with. It is held while the call runs, so that another thread may close the object. */
struct dataset_call {
    struct handle *handle;
    const struct leat_dataset *d;
    const char *name;
    struct leat_error err;
};

/* Begins a call. Returns false with an exception set if the dataset is closed. */
int dataset_begin(PyObject *self, struct dataset_call *call);
/* Ends a call, and returns `result` if the status is LEAT_OK; otherwise drops it and raises the error. */
PyObject *dataset_end(struct dataset_call *call, enum leat_status s, PyObject *result);

/* An object for a dataset that other code has opened; `name` is a file's. */
PyObject *dataset_wrap(struct handle *handle, const char *name);
/* The handle of an object of the type, not held; NULL with an exception set: another type, or closed. */
struct handle *dataset_handle(PyObject *object);

/* Methods of other files than dataset.c. */
PyObject *dataset_input(PyObject *self, PyObject *args);
PyObject *dataset_origin(PyObject *self, PyObject *args);
PyObject *dataset_text_hash(PyObject *self, PyObject *args);
PyObject *dataset_find_input(PyObject *self, PyObject *args);
PyObject *dataset_find_origin(PyObject *self, PyObject *args);
PyObject *dataset_find_id(PyObject *self, PyObject *args);
PyObject *dataset_tokenizer(PyObject *self, PyObject *unused);
PyObject *dataset_metadata(PyObject *self, PyObject *args);
PyObject *dataset_verify(PyObject *self, PyObject *args);
PyObject *dataset_verify_range(PyObject *self, PyObject *args);
PyObject *dataset_decode(PyObject *self, PyObject *args);
void dataset_decoder_free(void *decoder);

int dataset_register(PyObject *module);

#endif
