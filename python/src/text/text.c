/*
 * text.c: converts texts and ids.
 *
 * Ids come as a list, which is read number by number, or as bytes with a type code, which python/leat makes from any
 * buffer: the limited API of Python 3.10 has no buffer protocol. Each number must fit in 32 bits, and a float is
 * never an id. While a list is read, an item's __index__ may run any code, which may even shorten the list: so each
 * item is fetched by its place and held while it is converted.
 */
#include "text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/integers.h"

/* ---- Texts ---- */

/* Returns the text as UTF-16 would read it: a pair of surrogates becomes its character, a single one U+FFFD. */
static PyObject *without_surrogates(PyObject *text)
{
    PyObject *words = PyUnicode_AsEncodedString(text, "utf-16", "surrogatepass"), *clean;

    if (!words)
        return NULL;
    clean = PyUnicode_FromEncodedObject(words, "utf-16", "replace");
    Py_DECREF(words);
    return clean;
}

static int view_of_str(PyObject *text, struct text_view *view)
{
    Py_ssize_t bytes;

    view->at = PyUnicode_AsUTF8AndSize(text, &bytes);
    view->bytes = (uint64_t)bytes;
    return view->at ? 0 : -1;
}

int text_view_of(PyObject *object, struct text_view *view, PyObject **kept)
{
    *kept = NULL;
    if (PyBytes_Check(object)) {
        *view = (struct text_view) { PyBytes_AsString(object), (uint64_t)PyBytes_Size(object) };
        return 0;
    }
    if (!PyUnicode_Check(object)) {
        PyErr_Format(PyExc_TypeError, "a text is a str or bytes, not %R", (PyObject *)Py_TYPE(object));
        return -1;
    }
    if (view_of_str(object, view) == 0)
        return 0;
    if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
        return -1;
    PyErr_Clear();
    *kept = without_surrogates(object);
    if (!*kept)
        return -1;
    if (view_of_str(*kept, view) == 0)
        return 0;
    Py_CLEAR(*kept);
    return -1;
}

static int keep_object(struct text_views *views, PyObject *object)
{
    int r = -1;

    if (!views->others)
        views->others = PyList_New(0);
    if (views->others)
        r = PyList_Append(views->others, object);
    Py_DECREF(object);
    return r;
}

int text_views_take(struct text_views *views, PyObject *sequence)
{
    *views = (struct text_views) { 0 };
    /* A str is a sequence too, but a caller who passes one means a list of texts. */
    if (PyUnicode_Check(sequence) || PyBytes_Check(sequence)) {
        PyErr_SetString(PyExc_TypeError, "expected a list of texts, not one text");
        return -1;
    }
    views->tuple = PySequence_Tuple(sequence);
    if (!views->tuple)
        return -1;
    views->count = (size_t)PyTuple_Size(views->tuple);
    views->items = calloc(views->count + 1, sizeof *views->items);
    if (!views->items) {
        PyErr_NoMemory();
        text_views_free(views);
        return -1;
    }
    for (size_t i = 0; i < views->count; i++) {
        PyObject *kept;

        if (text_view_of(PyTuple_GetItem(views->tuple, (Py_ssize_t)i), &views->items[i], &kept) < 0 ||
            (kept && keep_object(views, kept) < 0)) {
            text_views_free(views);
            return -1;
        }
        views->bytes += views->items[i].bytes;
    }
    return 0;
}

void text_views_free(struct text_views *views)
{
    free(views->items);
    Py_CLEAR(views->tuple);
    Py_CLEAR(views->others);
    *views = (struct text_views) { 0 };
}

/* ---- Ids ---- */

enum leat_status text_ids_append(struct text_ids *ids, const uint32_t *more, uint64_t count, struct leat_error *err)
{
    if (count > SIZE_MAX / 16 - ids->count || !GROW(ids->at, ids->count + count, ids->room))
        return errors_set(err, LEAT_E_NO_MEMORY, "no memory for %" PRIu64 " ids", count);
    if (count > 0)
        memcpy(ids->at + ids->count, more, (size_t)count * sizeof *more);
    ids->count += (size_t)count;
    return LEAT_OK;
}

void text_ids_free(struct text_ids *ids)
{
    free(ids->at);
    *ids = (struct text_ids) { 0 };
}

/* ---- From Python ---- */

static int refuse(PyObject *value)
{
    PyErr_Format(PyExc_OverflowError, "%R is not an id: ids are from 0 to 2**32 - 1", value);
    return -1;
}

static int take_int(PyObject *object, uint32_t *id)
{
    /* This takes numpy's integers and other objects with __index__, but no floats. */
    PyObject *number = PyNumber_Index(object);
    long long value = number ? PyLong_AsLongLong(number) : -1;
    int r = 0;

    if (!number) {
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError, "ids must be integers, not %R", object);
        return -1;
    }
    if (value == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        r = refuse(number);
    } else if (value < 0 || value > UINT32_MAX) {
        r = refuse(number);
    }
    Py_DECREF(number);
    *id = (uint32_t)value;
    return r;
}

static int reserve(struct text_ids *ids, size_t count)
{
    ids->at = calloc(count + 1, sizeof *ids->at);
    ids->count = ids->room = count;
    if (!ids->at) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

/* Takes the ids of a pair (bytes, code). */
static int take_array(struct text_ids *ids, PyObject *bytes, PyObject *code)
{
    Py_ssize_t length;
    const char *letter = PyUnicode_AsUTF8AndSize(code, &length), *at = PyBytes_AsString(bytes);
    size_t width = letter && length == 1 ? integers_width(letter[0]) : 0, size = (size_t)PyBytes_Size(bytes);

    if (!letter)
        return -1;
    if (width == 0 || size % width != 0) {
        PyErr_Format(PyExc_TypeError, "ids must be integers, not %R", code);
        return -1;
    }
    if (reserve(ids, size / width) < 0)
        return -1;
    for (size_t i = 0; i < ids->count; i++) {
        uint64_t number = integers_load(letter[0], at, i);

        if (number > UINT32_MAX) {
            PyErr_Format(PyExc_OverflowError, "number %zu of %zu is not an id: ids are from 0 to 2**32 - 1", i,
                         ids->count);
            return -1;
        }
        ids->at[i] = (uint32_t)number;
    }
    return 0;
}

static int take_list(struct text_ids *ids, PyObject *list)
{
    bool is_list = PyList_Check(list);
    Py_ssize_t count = is_list ? PyList_Size(list) : PyTuple_Size(list);

    if (reserve(ids, (size_t)count) < 0)
        return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        /* An item's __index__ may have shortened the list; then this is NULL, with IndexError. */
        PyObject *item = is_list ? PyList_GetItem(list, i) : PyTuple_GetItem(list, i);

        if (!item)
            return -1;
        Py_INCREF(item);
        if (take_int(item, &ids->at[i]) < 0) {
            Py_DECREF(item);
            return -1;
        }
        Py_DECREF(item);
    }
    return 0;
}

int text_ids_take(struct text_ids *ids, PyObject *object)
{
    int r = -1;

    *ids = (struct text_ids) { 0 };
    if (PyTuple_Check(object) && PyTuple_Size(object) == 2 && PyBytes_Check(PyTuple_GetItem(object, 0)) &&
        PyUnicode_Check(PyTuple_GetItem(object, 1)))
        r = take_array(ids, PyTuple_GetItem(object, 0), PyTuple_GetItem(object, 1));
    else if (PyList_Check(object) || PyTuple_Check(object))
        r = take_list(ids, object);
    else
        PyErr_Format(PyExc_TypeError, "ids are a list or an array of integers, not %R", (PyObject *)Py_TYPE(object));
    if (r < 0)
        text_ids_free(ids);
    return r;
}

/* ---- To Python ---- */

PyObject *text_ids_give(const uint32_t *ids, size_t count, enum text_form form)
{
    PyObject *list;

    if (form == TEXT_BYTES)
        return PyByteArray_FromStringAndSize((const char *)ids, (Py_ssize_t)(count * sizeof *ids));
    list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *number = PyLong_FromUnsignedLong(ids[i]);

        if (!number || PyList_SetItem(list, (Py_ssize_t)i, number) < 0)
            Py_CLEAR(list);
    }
    return list;
}
