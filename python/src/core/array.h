/*
 * array.h: leat._leat.Array: numbers in memory that other packages can use without a copy: `__dlpack__` (torch, jax,
 * numpy), `__array_interface__` (numpy). The limited API of Python 3.10 has no buffer protocol.
 */
#ifndef LEAT_PYTHON_ARRAY_H
#define LEAT_PYTHON_ARRAY_H

#include "handle.h"
#include "module.h"

enum array_kind { /* kinds of numbers, as DLPack numbers them */
                  ARRAY_SIGNED = 0,
                  ARRAY_UNSIGNED = 1,
                  ARRAY_FLOAT = 2,
                  ARRAY_BFLOAT = 4,
                  ARRAY_BOOL = 6
};

#define ARRAY_DIMENSIONS 3

struct array_shape {
    void *data;
    int64_t shape[ARRAY_DIMENSIONS];
    int dimensions; /* number of dimensions, 1 to ARRAY_DIMENSIONS */
    enum array_kind kind;
    unsigned bytes; /* bytes of a number */
    int little;     /* 1: the numbers are little-endian, even if the machine is not */
    int writable;
    int device_type, device; /* numbers that DLPack gives the kind of device and the device; device_type 0: the host */
};

/* Returns a new Array, which holds `owner` (may be NULL). */
PyObject *array_make(struct handle *owner, const struct array_shape *shape);

/* Returns a DLPack capsule of the same numbers, for consumers that want nothing else. */
PyObject *array_capsule(struct handle *owner, const struct array_shape *shape);

int array_register(PyObject *module);

#endif
