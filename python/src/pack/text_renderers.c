/* text_renderers.c: see text_options.h. The library calls from threads of its own. */
#include <stdio.h>
#include <string.h>

#include "text_options.h"

/* Puts the exception that is set, as Python prints it in one line, into `err`. */
static void say_exception(struct leat_error *err)
{
    PyObject *type, *value, *trace, *text;
    const char *said = NULL;

    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    text = value ? PyObject_Str(value) : NULL;
    said = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    if (err) {
        *err = (struct leat_error) { .status = LEAT_E_IO };
        snprintf(err->message, sizeof err->message, "a process that renders conversations cannot be started: %s",
                 said ? said : "an exception was raised");
    }
    PyErr_Clear();
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

enum leat_status text_renderers_open(void *context, int *fd, struct leat_error *err)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *number = PyObject_CallMethod(context, "open", NULL);
    long opened = number ? PyLong_AsLong(number) : -1;

    if (opened < 0)
        say_exception(err);
    *fd = (int)opened;
    Py_XDECREF(number);
    PyGILState_Release(state);
    return opened < 0 ? LEAT_E_IO : LEAT_OK;
}

void text_renderers_close(void *context, int fd)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *done = PyObject_CallMethod(context, "close", "i", fd);

    if (!done)
        PyErr_WriteUnraisable(context);
    Py_XDECREF(done);
    PyGILState_Release(state);
}
