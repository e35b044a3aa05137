/*
 * module.h: what all files of the extension leat._leat share: errors and types. The extension is a thin binding of
 * leat.h and leat_pack.h: numbers, strings and addresses in and out; python/leat/ makes of it what is pleasant to use.
 *
 * The room has what more than one other room needs, and knows none of them: arguments, arrays, handles, memory, pauses.
 *
 * Limited API of Python 3.10: one binary for it and all later ones.
 */
#ifndef LEAT_PYTHON_MODULE_H
#define LEAT_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <leat.h>

/* ---- Errors (errors.c) ---- */

/* leat.Error, or NULL before errors_register(). */
extern PyObject *errors_class;

/* Fills *err (NULL: nothing) as the library fills it, and returns `status`. */
enum leat_status errors_set(struct leat_error *err, enum leat_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Raises leat.Error with the library's sentence; `file` (may be NULL) is the name that the call was about. Memory that
 * is not there raises MemoryError. Returns NULL, so that `return errors_raise(...)` ends a method. */
PyObject *errors_raise(const struct leat_error *err, const char *file);

int errors_register(PyObject *module);

/* ---- Types (types.c) ---- */

/* Makes a type of `spec` and adds it; *type (may be NULL) is a borrowed pointer, valid while the module lives. */
int module_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type);

/* The end of a type's dealloc: frees the object and lets go of its type. */
void module_free_object(PyObject *self);

#endif
