/* args.h: converts between the values of Python and C, in the forms that several files need. */
#ifndef LEAT_PYTHON_ARGS_H
#define LEAT_PYTHON_ARGS_H

#include "module.h"

/* Converters for "O&" of PyArg_ParseTuple(): they return 1, or 0 with an exception set. */
int args_u64(PyObject *object, void *out);         /* a uint64_t; anything with __index__ */
int args_u64_or_none(PyObject *object, void *out); /* None is LEAT_NONE */
int args_address(PyObject *object, void *out);     /* a void *; None is NULL */

/* The bytes of a path given as str, bytes or os.PathLike: a bytes object whose reference the caller drops; None is
 * NULL. */
int args_path(PyObject *object, void *bytes);

/* How datasets are opened, as dataset.opening() gives it, (access, the cache's folder as bytes or None, its size,
 * online), to a struct leat_open_options with its defaults. The folder lives as long as the object. */
int args_opening(PyObject *object, void *options);

/* New objects. */
PyObject *args_number(uint64_t value); /* LEAT_NONE is None */
PyObject *args_text(const char *text); /* a str of bytes that may not be UTF-8, like os.fsdecode() */
PyObject *args_text_n(const char *text, uint64_t bytes);

/* Converts names of files: a list of str, bytes and os.PathLike becomes an array of `*count` strings, which live as
 * long as *owner, an object of the caller's. NULL: an exception is set. */
const char **args_paths(PyObject *list, size_t *count, PyObject **owner);

/* A call of the library without Python's lock. */
#define ARGS_UNLOCKED(statement)                                                                                       \
    do {                                                                                                               \
        Py_BEGIN_ALLOW_THREADS;                                                                                        \
        statement;                                                                                                     \
        Py_END_ALLOW_THREADS;                                                                                          \
    } while (0)

#endif
