/*
 * module.h: what all files of the extension leat._leat share: errors, arguments, fields of the library's structs,
 * types. The extension is a thin binding of leat.h and leat_pack.h: it passes numbers, strings and addresses;
 * python/leat/ turns these into a pleasant interface.
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

#include "base/fields.h"

/*
 * Before Python 3.13, a "#" in a format needs the functions with ..._SizeT in their names. Python's own headers of
 * these versions call them because of PY_SSIZE_T_CLEAN; the headers of 3.13 and later do not, although what is built
 * with them runs in older versions, too. All versions have the functions.
 */
#if PY_VERSION_HEX >= 0x030D0000
int _PyArg_ParseTuple_SizeT(PyObject *args, const char *format, ...);
int _PyArg_ParseTupleAndKeywords_SizeT(PyObject *args, PyObject *kwargs, const char *format, char *const *names, ...);
PyObject *_Py_BuildValue_SizeT(const char *format, ...);
PyObject *_Py_VaBuildValue_SizeT(const char *format, va_list values);
PyObject *_PyObject_CallMethod_SizeT(PyObject *object, const char *name, const char *format, ...);
#define PyArg_ParseTuple            _PyArg_ParseTuple_SizeT
#define PyArg_ParseTupleAndKeywords _PyArg_ParseTupleAndKeywords_SizeT
#define Py_BuildValue               _Py_BuildValue_SizeT
#define Py_VaBuildValue             _Py_VaBuildValue_SizeT
#define PyObject_CallMethod         _PyObject_CallMethod_SizeT
#endif

/* ---- Errors, and text for people (errors.c) ---- */

/* leat.Error; NULL until errors_register() is called */
extern PyObject *errors_class;

/* Fills *err (may be NULL) as the library does, and returns `status`. */
enum leat_status errors_set(struct leat_error *err, enum leat_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Both add to an error of this package: the first names the file, the second the argument or column. `err` may be
 * NULL. They return `s`. */
enum leat_status errors_in_file(struct leat_error *err, enum leat_status s, const char *file);
enum leat_status errors_field(struct leat_error *err, enum leat_status s, const char *field);

/* Raises leat.Error with everything that the error has, or MemoryError for LEAT_E_NO_MEMORY. Returns NULL, so that
 * `return errors_raise(...)` ends a method. */
PyObject *errors_raise(const struct leat_error *err);

/* Returns None if `s` is LEAT_OK; otherwise raises the error. */
PyObject *errors_none(enum leat_status s, const struct leat_error *err);

/* Clears the exception that is set, and returns it. */
PyObject *errors_take(void);

/* Registers leat.Error, and show(). */
int errors_register(PyObject *module);

/* ---- Arguments and results (args.c) ---- */

/* Converters for "O&" of PyArg_ParseTuple(): they return 1, or 0 with an exception set. */
int args_u64(PyObject *object, void *out);         /* gets a uint64_t from anything with __index__ */
int args_u64_or_none(PyObject *object, void *out); /* gets a uint64_t, which is LEAT_NONE for None */
int args_address(PyObject *object, void *out);     /* gets a void *, which is NULL for None */

/* Converts a path (str, bytes or os.PathLike) to a bytes object, whose reference the caller drops, and None to NULL. */
int args_path(PyObject *object, void *bytes);

/*
 * The function for an option `waiting`. While a call waits for a server, it lets signal handlers run, and warns why
 * the call waits; Python's filter shows the warning once. If that raises an exception, the call fails, and
 * errors_raise() leaves the exception as it is.
 */
uint32_t args_on_waiting(void *context, const char *why);

/* Converts what dataset.opening() returns (access, the cache's folder as bytes or None, its size, online, seconds of
 * trying again) to a struct leat_open_options. The folder's name lives as long as the object. */
int args_opening(PyObject *object, void *options);

/* Converts a list of names of files (str, bytes and os.PathLike) to an array of `*count` strings. They live as long
 * as *owner, which the caller drops. Returns NULL with an exception set on failure. */
const char **args_paths(PyObject *list, size_t *count, PyObject **owner);

/* The functions below return new objects. */
PyObject *args_number(uint64_t value); /* LEAT_NONE is None */
PyObject *args_text(const char *text); /* makes a str of bytes that need not be UTF-8, as os.fsdecode() does */
PyObject *args_text_n(const char *text, uint64_t bytes);

#define ARGS_COUNT(array) (sizeof(array) / sizeof *(array))

/* Returns a tuple of numbers of up to 64 bits, in which LEAT_NONE is None. */
#define ARGS_TUPLE(...) args_tuple((const uint64_t[]) { __VA_ARGS__ }, ARGS_COUNT(((const uint64_t[]) { __VA_ARGS__ })))
PyObject *args_tuple(const uint64_t *numbers, size_t count);

/* Runs a statement, such as a call of the library, without Python's lock. */
#define ARGS_UNLOCKED(statement)                                                                                       \
    do {                                                                                                               \
        Py_BEGIN_ALLOW_THREADS;                                                                                        \
        statement;                                                                                                     \
        Py_END_ALLOW_THREADS;                                                                                          \
    } while (0)

/* ---- Fields of the library's structs (fields.c), which a table of base/fields.h names ---- */

/* Return a field of *from as a new object, and several fields as a new dict. */
PyObject *fields_get(const struct field *field, const void *from);
PyObject *fields_dict(const struct field *fields, size_t count, const void *from);

/* Returns {name: {word: value}} for the fields whose values have words. */
PyObject *fields_choices(const struct field *fields, size_t count);

/* Sets fields of *to from a dict with some of the names, which must live as long as *to is used. Returns false with
 * an exception set on failure: TypeError for an unknown name. */
int fields_set(const struct field *fields, size_t count, void *to, PyObject *dict);

/* ---- Memory and types (types.c) ---- */

/* Makes room for `count` items, those in use included, in an array of `room` (a size_t) items that malloc() gave, or
 * NULL and 0. New items have no value yet. If there is no memory, it changes nothing, sets no exception and returns
 * false. Python's lock is not needed. */
#define GROW(items, count, room) module_grow(&(items), sizeof *(items), (count), &(room))
int module_grow(void *items, size_t item_bytes, uint64_t count, size_t *room);

/* Makes a type of `spec` and adds it to the module. *type (`type` may be NULL) is a borrowed pointer, which is valid
 * while the module lives. */
int module_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type);

/* Return a new object of a type, zeroed after its head; and end a type's dealloc, by freeing the object and dropping
 * its type. */
PyObject *module_new_object(PyTypeObject *type);
void module_free_object(PyObject *self);

#endif
