/* text_run.c: see text_run.h. */
#include "text_run.h"

uint32_t text_on_bytes(void *context, uint64_t done, uint64_t total)
{
    struct text_watch *w = context;

    if (!w->raised)
        w->raised = pause_tell(&w->pause, w->function, "(KK)", (unsigned long long)done, (unsigned long long)total) < 0;
    return w->raised;
}

/* ---- Failures ---- */

/*
 * Adds `resumable` to the leat.Error that is raised. If a signal handler or the caller's own function ended the run,
 * that exception is raised instead, with leat.Error as its cause.
 */
static void raise_all(const struct leat_error *err, const char *output, bool resumable, PyObject *stopped[3])
{
    PyObject *type, *value, *trace, *truth = resumable ? Py_True : Py_False;

    errors_raise(err, output);
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (value && PyObject_SetAttrString(value, "resumable", truth) < 0)
        PyErr_Clear();
    if (!stopped[0]) {
        PyErr_Restore(type, value, trace);
        return;
    }
    PyErr_NormalizeException(&stopped[0], &stopped[1], &stopped[2]);
    if (stopped[1] && value) {
        PyException_SetCause(stopped[1], value);
        value = NULL;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    PyErr_Restore(stopped[0], stopped[1], stopped[2]);
}

bool text_run_ended(bool raised, enum leat_status s, struct leat_error *err, const char *output, bool resumable)
{
    PyObject *stopped[3] = { NULL, NULL, NULL };

    if (raised)
        PyErr_Fetch(&stopped[0], &stopped[1], &stopped[2]);
    if (s != LEAT_OK)
        raise_all(err, output, resumable, stopped);
    else if (raised) /* it had ended before it could be stopped */
        PyErr_Restore(stopped[0], stopped[1], stopped[2]);
    return s == LEAT_OK && !raised;
}
