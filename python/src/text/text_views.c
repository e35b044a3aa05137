/* text_views.c: see text.h. */
#include <stdlib.h>

#include "text.h"

/* Reads it as UTF-16 would: pairs of surrogates become the character they mean, single ones U+FFFD. */
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

static int keep(struct text_views *views, PyObject *object)
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
    /* a str is a sequence, too, but never meant as one */
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
            (kept && keep(views, kept) < 0)) {
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
