/*
 * module.h: what all files of the extension leat._leat share: errors and types. The extension is a thin binding of
 * leat.h and leat_pack.h: it passes numbers, strings and addresses; python/leat/ turns these into a pleasant interface.
 *
 * The room core/ has what several other rooms need, and knows none of them: arguments, arrays, handles, memory, pauses.
 *
 * It uses the limited API of Python 3.10: one binary works with it and all later ones.
 */
#ifndef LEAT_PYTHON_MODULE_H
#define LEAT_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <leat.h>

/* ---- Errors (errors.c) ---- */

/* leat.Error, or NULL before errors_register(). */
extern PyObject *errors_class;

/* Fills *err (may be NULL) as the library does, and returns `status`. */
enum leat_status errors_set(struct leat_error *err, enum leat_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Raises leat.Error with the library's sentence; `file` (may be NULL) is the name that the call was about.
 * LEAT_E_NO_MEMORY raises MemoryError. Returns NULL, so that `return errors_raise(...)` ends a method. */
PyObject *errors_raise(const struct leat_error *err, const char *file);

int errors_register(PyObject *module);

/* ---- Text for people (show.c) ---- */

int show_register(PyObject *module);

/* ---- Types (types.c) ---- */

/* Makes a type of `spec` and adds it; *type (may be NULL) is a borrowed pointer, valid while the module lives. */
int module_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type);

/* The end of a type's dealloc: frees the object and drops its type. */
void module_free_object(PyObject *self);

#endif
