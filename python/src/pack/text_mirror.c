/* text_mirror.c: datasets to servers and back. */
#include "core/args.h"
#include "text_run.h"

/* Before the server has said how large the dataset is, only signals are looked at. */
static uint32_t on_bytes(void *context, uint64_t done, uint64_t total)
{
    struct text_watch *w = context;
    PyObject *function = w->function;
    uint32_t stop;

    if (total == 0)
        w->function = Py_None;
    stop = text_on_bytes(w, done, total);
    w->function = function;
    return stop;
}

/* pull(url, name, force, connections, progress) -> (bytes, kept, tokens, documents, requests, retries) */
static PyObject *text_pull(PyObject *module, PyObject *args)
{
    struct leat_pull_options o = LEAT_PULL_OPTIONS_INIT;
    struct leat_pull_report r = LEAT_PULL_REPORT_INIT;
    PyObject *url = NULL, *name = NULL, *result = NULL;
    struct text_watch w = { .raised = false };
    struct leat_error err;
    enum leat_status s;

    (void)module;
    if (PyArg_ParseTuple(args, "O&O&pIO", PyUnicode_FSConverter, &url, PyUnicode_FSConverter, &name, &o.force,
                         &o.connections, &w.function)) {
        o.progress = on_bytes;
        o.context = &w;
        pause_begin(&w.pause);
        s = leat_pull(PyBytes_AsString(url), PyBytes_AsString(name), &o, &r, &err);
        pause_end(&w.pause);
        if (text_run_ended(w.raised, s, &err, PyBytes_AsString(name), s == LEAT_E_STOPPED))
            result = Py_BuildValue("(KKKKKK)", (unsigned long long)r.bytes, (unsigned long long)r.kept,
                                   (unsigned long long)r.tokens, (unsigned long long)r.documents,
                                   (unsigned long long)r.requests, (unsigned long long)r.retries);
    }
    Py_XDECREF(url);
    Py_XDECREF(name);
    return result;
}

/* push(name, url, force, connections, progress) -> as pull() */
static PyObject *text_push(PyObject *module, PyObject *args)
{
    struct leat_push_options o = LEAT_PUSH_OPTIONS_INIT;
    struct leat_push_report r = LEAT_PUSH_REPORT_INIT;
    PyObject *url = NULL, *name = NULL, *result = NULL;
    struct text_watch w = { .raised = false };
    struct leat_error err;
    enum leat_status s;

    (void)module;
    if (PyArg_ParseTuple(args, "O&O&pIO", PyUnicode_FSConverter, &name, PyUnicode_FSConverter, &url, &o.force,
                         &o.connections, &w.function)) {
        o.progress = on_bytes;
        o.context = &w;
        pause_begin(&w.pause);
        s = leat_push(PyBytes_AsString(name), PyBytes_AsString(url), &o, &r, &err);
        pause_end(&w.pause);
        if (text_run_ended(w.raised, s, &err, PyBytes_AsString(name), s == LEAT_E_STOPPED))
            result = Py_BuildValue("(KKKKKK)", (unsigned long long)r.bytes, (unsigned long long)r.kept,
                                   (unsigned long long)r.tokens, (unsigned long long)r.documents,
                                   (unsigned long long)r.requests, (unsigned long long)r.retries);
    }
    Py_XDECREF(url);
    Py_XDECREF(name);
    return result;
}

static PyMethodDef functions[] = {
    { "pull", text_pull, METH_VARARGS, NULL },
    { "push", text_push, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

int text_mirror_register(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
