/* fields.c: reads and sets fields of the library's structs by tables of their names. */
#include <stdbool.h>
#include <string.h>

#include "module.h"

/* ---- Results ---- */

static PyObject *seconds(uint64_t ns)
{
    return PyFloat_FromDouble((double)ns * 1e-9);
}

static PyObject *times_dict(const struct leat_times *t)
{
    return Py_BuildValue("{s:K,s:N,s:N,s:N,s:N,s:N}", "count", (unsigned long long)t->count, "mean", seconds(t->mean),
                         "p50", seconds(t->p50), "p99", seconds(t->p99), "p999", seconds(t->p999), "max",
                         seconds(t->max));
}

PyObject *fields_get(const struct field *field, const void *from)
{
    const char *at = (const char *)from + field->offset, *text;
    uint64_t wide;
    uint32_t narrow;
    int32_t node;
    double share;

    switch (field->kind) {
    case FIELD_TEXT:
        memcpy(&text, at, sizeof text);
        return text ? args_text(text) : Py_NewRef(Py_None);
    case FIELD_BYTES:
        return PyBytes_FromStringAndSize(at, (Py_ssize_t)field->bytes);
    case FIELD_CHARS:
        return PyUnicode_DecodeFSDefault(at);
    case FIELD_NODE:
        memcpy(&node, at, sizeof node);
        return PyLong_FromLong(node < 0 ? -1 : node);
    case FIELD_SECONDS:
        memcpy(&wide, at, sizeof wide);
        return seconds(wide);
    case FIELD_SHARE:
        memcpy(&share, at, sizeof share);
        return PyFloat_FromDouble(share);
    case FIELD_TIMES:
        return times_dict((const struct leat_times *)(const void *)at);
    default:
        break;
    }
    if (field->bytes == sizeof wide) {
        memcpy(&wide, at, sizeof wide);
        return field->kind == FIELD_MAYBE ? args_number(wide) : PyLong_FromUnsignedLongLong(wide);
    }
    memcpy(&narrow, at, sizeof narrow);
    return field->kind == FIELD_FLAG ? PyBool_FromLong((long)narrow) : PyLong_FromUnsignedLong(narrow);
}

static int add_to_dict(PyObject *dict, const char *name, PyObject *value)
{
    int r = value ? PyDict_SetItemString(dict, name, value) : -1;

    Py_XDECREF(value);
    return r;
}

PyObject *fields_dict(const struct field *fields, size_t count, const void *from)
{
    PyObject *dict = PyDict_New();

    for (size_t i = 0; dict && i < count; i++)
        if (add_to_dict(dict, fields[i].name, fields_get(&fields[i], from)) < 0)
            Py_CLEAR(dict);
    return dict;
}

PyObject *fields_choices(const struct field *fields, size_t count)
{
    PyObject *all = PyDict_New();

    for (size_t i = 0; all && i < count; i++) {
        PyObject *words = fields[i].choices ? PyDict_New() : NULL;

        for (long k = 0; words && fields[i].choices[k]; k++)
            if (add_to_dict(words, fields[i].choices[k], PyLong_FromLong(k)) < 0)
                Py_CLEAR(words);
        if (fields[i].choices && add_to_dict(all, fields[i].name, words) < 0)
            Py_CLEAR(all);
    }
    return all;
}

/* ---- Arguments ---- */

static bool set_wide(void *at, PyObject *value)
{
    uint64_t number;

    if (!args_u64_or_none(value, &number))
        return false;
    memcpy(at, &number, sizeof number);
    return true;
}

/* Sets a field of 32 bits. It takes 31 bits, which are enough; a signed field may be below 0. */
static bool set_narrow(const struct field *field, void *at, PyObject *value)
{
    long long number = PyLong_AsLongLong(value);
    int32_t narrow;

    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_OverflowError))
        return false;
    if (PyErr_Occurred() || number > INT32_MAX || number < INT32_MIN) {
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "%s: %R is out of range", field->name, value);
        return false;
    }
    narrow = (int32_t)number;
    memcpy(at, &narrow, sizeof narrow);
    return true;
}

/* Takes only True and False: any text would be true, even "false". */
static bool set_flag(const struct field *field, void *at, PyObject *value)
{
    uint32_t flag = value == Py_True;

    if (!PyBool_Check(value))
        PyErr_Format(PyExc_TypeError, "%s must be True or False, not %R", field->name, value);
    memcpy(at, &flag, sizeof flag);
    return PyBool_Check(value);
}

static bool set_text(const struct field *field, void *at, PyObject *value)
{
    const char *text = NULL;
    Py_ssize_t bytes;

    if (value != Py_None) {
        text = PyUnicode_AsUTF8AndSize(value, &bytes);
        if (!text)
            return false;
        if (strlen(text) != (size_t)bytes) {
            PyErr_Format(PyExc_ValueError, "%s: %R has a zero byte", field->name, value);
            return false;
        }
    }
    memcpy(at, &text, sizeof text);
    return true;
}

/* Sets a pointer to the doubles in a bytes object, as array.array gives them, or to NULL for None. Objects of Python
 * are aligned to 16 bytes. */
static bool set_doubles(void *at, PyObject *value)
{
    struct {
        char *values;
        uint64_t count;
    } list = { NULL, 0 };
    Py_ssize_t bytes = 0;

    if (value != Py_None && PyBytes_AsStringAndSize(value, &list.values, &bytes) < 0)
        return false;
    list.count = (size_t)bytes / sizeof(double);
    memcpy(at, &list, sizeof list);
    return true;
}

static bool set(const struct field *field, void *to, PyObject *value)
{
    void *at = (char *)to + field->offset;

    switch (field->kind) {
    case FIELD_NUMBER:
    case FIELD_MAYBE:
    case FIELD_CHOICE:
        return field->bytes == sizeof(uint64_t) ? set_wide(at, value) : set_narrow(field, at, value);
    case FIELD_FLAG:
        return set_flag(field, at, value);
    case FIELD_TEXT:
        return set_text(field, at, value);
    case FIELD_DOUBLES:
        return set_doubles(at, value);
    default:
        break;
    }
    PyErr_Format(PyExc_TypeError, "%s cannot be given", field->name);
    return false;
}

int fields_set(const struct field *fields, size_t count, void *to, PyObject *dict)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;

    while (PyDict_Next(dict, &at, &key, &value)) {
        const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
        size_t i = 0;

        if (!name)
            return 0;
        while (i < count && strcmp(fields[i].name, name) != 0)
            i++;
        if (i == count) {
            PyErr_Format(PyExc_TypeError, "unknown option %R", key);
            return 0;
        }
        if (!set(&fields[i], to, value))
            return 0;
    }
    return 1;
}
