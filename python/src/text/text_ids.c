/*
 * text_ids.c: see text.h.
 *
 * Ids come as a list, read number by number, or as bytes with a type code, which python/leat makes from any buffer: the
 * limited API of Python 3.10 has no buffer protocol. Each number must fit in 32 bits, and a float is never an id. While
 * a list is read, an item's __index__ may run any code, which may even shorten the list: so each item is fetched by its
 * place and held while it is converted.
 */
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* ---- A list that grows ---- */

static enum leat_status no_memory(struct leat_error *err, uint64_t count)
{
    return errors_set(err, LEAT_E_NO_MEMORY, "no memory for %llu ids", (unsigned long long)count);
}

enum leat_status text_ids_append(struct text_ids *ids, const uint32_t *more, uint64_t count, struct leat_error *err)
{
    if (count > SIZE_MAX / 16 - ids->count)
        return no_memory(err, count);
    if (ids->count + count > ids->room) {
        size_t room = ids->count + (size_t)count + ids->room / 2 + 64;
        uint32_t *at = realloc(ids->at, room * sizeof *at);

        if (!at)
            return no_memory(err, room);
        ids->at = at;
        ids->room = room;
    }
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
    /* numpy's integers and the like too, but no floats */
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

/* The i-th number of an array of a type code, as it stands in memory; false if it is not an id. */
static bool load(const char *at, char code, size_t i, uint32_t *id)
{
    long long value = 0;
    unsigned long long plain;

#define LOAD(type)                                                                                                     \
    do {                                                                                                               \
        type number;                                                                                                   \
        memcpy(&number, at + i * sizeof number, sizeof number);                                                        \
        value = (long long)number;                                                                                     \
    } while (0)
    switch (code) {
    case 'b':
        LOAD(signed char);
        break;
    case 'B':
        LOAD(unsigned char);
        break;
    case 'h':
        LOAD(short);
        break;
    case 'H':
        LOAD(unsigned short);
        break;
    case 'i':
        LOAD(int);
        break;
    case 'I':
        LOAD(unsigned);
        break;
    case 'l':
        LOAD(long);
        break;
    case 'q':
        LOAD(long long);
        break;
    default: /* 'L', 'Q': the same size on all machines that leat knows */
        memcpy(&plain, at + i * sizeof plain, sizeof plain);
        *id = (uint32_t)plain;
        return plain <= UINT32_MAX;
    }
#undef LOAD
    *id = (uint32_t)value;
    return value >= 0 && value <= UINT32_MAX;
}

static size_t width_of(char code)
{
    switch (code) {
    case 'b':
    case 'B':
        return 1;
    case 'h':
    case 'H':
        return sizeof(short);
    case 'i':
    case 'I':
        return sizeof(int);
    case 'l':
    case 'L':
        return sizeof(long);
    case 'q':
    case 'Q':
        return sizeof(long long);
    default:
        return 0;
    }
}

/* (bytes, code) */
static int take_array(struct text_ids *ids, PyObject *bytes, PyObject *code)
{
    Py_ssize_t length;
    const char *letter = PyUnicode_AsUTF8AndSize(code, &length), *at = PyBytes_AsString(bytes);
    size_t width = letter && length == 1 ? width_of(letter[0]) : 0, size = (size_t)PyBytes_Size(bytes);

    if (!letter)
        return -1;
    if (width == 0 || size % width != 0) {
        PyErr_Format(PyExc_TypeError, "ids must be integers, not %R", code);
        return -1;
    }
    if (reserve(ids, size / width) < 0)
        return -1;
    for (size_t i = 0; i < ids->count; i++)
        if (!load(at, letter[0], i, &ids->at[i])) {
            PyErr_Format(PyExc_OverflowError, "number %zu of %zu is not an id: ids are from 0 to 2**32 - 1", i,
                         ids->count);
            return -1;
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
        /* an item's __index__ may change the list: NULL with IndexError then */
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
