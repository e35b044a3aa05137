/* show.c: show(), for sentences that are made in Python: see leat_show() in leat.h. */
#include <stdlib.h>

#include "module.h"

/* Names of files may stand for bytes that are not UTF-8 (os.fsdecode()); other surrogates are written as Python
 * does. */
static PyObject *bytes_of(PyObject *text)
{
    PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape");

    if (!bytes && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
        PyErr_Clear();
        bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
    }
    return bytes;
}

/* show(text): it, as people may see it. */
static PyObject *show(PyObject *module, PyObject *text)
{
    PyObject *bytes = bytes_of(text), *result = NULL;
    uint64_t length;
    char *shown;

    (void)module;
    if (!bytes)
        return NULL;
    length = leat_show(NULL, 0, PyBytes_AsString(bytes), (uint64_t)PyBytes_Size(bytes));
    shown = malloc((size_t)length + 1);
    if (shown) {
        leat_show(shown, length + 1, PyBytes_AsString(bytes), (uint64_t)PyBytes_Size(bytes));
        result = PyUnicode_DecodeUTF8(shown, (Py_ssize_t)length, "strict");
    } else {
        PyErr_NoMemory();
    }
    free(shown);
    Py_DECREF(bytes);
    return result;
}

static PyMethodDef functions[] = {
    { "show", show, METH_O, NULL },
    { NULL, NULL, 0, NULL },
};

int show_register(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
