/* args.c: converts arguments and results between Python and C, and calls the library without Python's lock. */
#include "module.h"

int args_u64(PyObject *object, void *out)
{
    PyObject *number = PyNumber_Index(object);
    unsigned long long value;

    if (!number)
        return 0;
    value = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    if (value == (unsigned long long)-1 && PyErr_Occurred()) {
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "%R is not a number from 0 to 2^64 - 1", object);
        return 0;
    }
    *(uint64_t *)out = value;
    return 1;
}

int args_u64_or_none(PyObject *object, void *out)
{
    if (object != Py_None)
        return args_u64(object, out);
    *(uint64_t *)out = LEAT_NONE;
    return 1;
}

int args_address(PyObject *object, void *out)
{
    uint64_t value = 0;

    if (object != Py_None && !args_u64(object, &value))
        return 0;
    *(void **)out = (void *)(uintptr_t)value;
    return 1;
}

uint32_t args_on_waiting(void *context, const char *why)
{
    PyGILState_STATE state = PyGILState_Ensure();
    int raised = PyErr_CheckSignals() < 0 || (why && PyErr_WarnEx(PyExc_RuntimeWarning, why, 1) < 0);

    (void)context;
    PyGILState_Release(state);
    return (uint32_t)raised;
}

int args_opening(PyObject *object, void *options)
{
    struct leat_open_options *how = options;
    unsigned seconds;
    PyObject *folder;
    int access, online;

    if (!PyTuple_Check(object)) {
        PyErr_SetString(PyExc_TypeError, "how to open a dataset must be a tuple");
        return 0;
    }
    if (!PyArg_ParseTuple(object, "iOO&pI", &access, &folder, args_u64, &how->cache_size, &online, &seconds))
        return 0;
    how->retry_seconds = seconds;
    how->waiting = args_on_waiting;
    how->access = (enum leat_access)access;
    how->online = (uint32_t)online;
    how->cache = folder == Py_None ? NULL : PyBytes_AsString(folder);
    return folder == Py_None || how->cache;
}

int args_path(PyObject *object, void *bytes)
{
    if (object == Py_None) {
        *(PyObject **)bytes = NULL;
        return 1;
    }
    return PyUnicode_FSConverter(object, bytes);
}

PyObject *args_number(uint64_t value)
{
    if (value != LEAT_NONE)
        return PyLong_FromUnsignedLongLong(value);
    return Py_NewRef(Py_None);
}

PyObject *args_text(const char *text)
{
    return PyUnicode_DecodeFSDefault(text);
}

PyObject *args_text_n(const char *text, uint64_t bytes)
{
    return PyUnicode_DecodeFSDefaultAndSize(text, (Py_ssize_t)bytes);
}

PyObject *args_tuple(const uint64_t *numbers, size_t count)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);

    for (size_t i = 0; tuple && i < count; i++) {
        PyObject *number = args_number(numbers[i]);

        if (!number || PyTuple_SetItem(tuple, (Py_ssize_t)i, number) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

const char **args_paths(PyObject *list, size_t *count, PyObject **owner)
{
    Py_ssize_t n = PySequence_Size(list);
    const char **paths = n < 0 ? NULL : PyMem_Malloc((size_t)(n + 1) * sizeof *paths);
    PyObject *bytes = n < 0 ? NULL : PyTuple_New(n);

    *count = n < 0 ? 0 : (size_t)n;
    if (n >= 0 && !paths)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; paths && bytes && i < n; i++) {
        PyObject *item = PySequence_GetItem(list, i), *path = NULL;

        if (item && PyUnicode_FSConverter(item, &path) && PyTuple_SetItem(bytes, i, path) == 0)
            paths[i] = PyBytes_AsString(path);
        else
            Py_CLEAR(bytes);
        Py_XDECREF(item);
    }
    if (paths && bytes) {
        *owner = bytes;
        return paths;
    }
    PyMem_Free(paths);
    Py_XDECREF(bytes);
    return NULL;
}
