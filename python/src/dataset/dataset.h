/*
 * dataset.h: leat._leat.Dataset, an open dataset.
 *
 * The room python/src/dataset/ has only this type; plans and loaders, which use datasets, are in rooms above it.
 */
#ifndef LEAT_PYTHON_DATASET_H
#define LEAT_PYTHON_DATASET_H

#include "core/handle.h"
#include "core/module.h"

/* Returns an object for a dataset that other code has opened. */
PyObject *dataset_wrap(struct handle *handle);
/* Returns the handle of a Dataset, without holding it. Returns NULL with an exception set if the object has another
 * type or is closed. */
struct handle *dataset_handle(PyObject *object);

int dataset_register(PyObject *module);

#endif
