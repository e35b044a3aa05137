/* text_pack.c: pack() and merge() of leat._leat, of which python/leat/packing.py makes those of leat. */
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* ---- Progress ---- */

struct watching {
    PyThreadState *state;
    PyObject *function; /* None: nothing but signals */
    bool raised;        /* an exception is set; it ends the run */
};

static int tell(struct watching *w, PyObject *arguments)
{
    PyObject *result = arguments ? PyObject_CallObject(w->function, arguments) : NULL;

    Py_XDECREF(arguments);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

static int on_pack(void *context, const struct leat_pack_progress *p)
{
    struct watching *w = context;

    if (w->raised)
        return 1;
    PyEval_RestoreThread(w->state);
    w->raised = PyErr_CheckSignals() < 0;
    if (!w->raised && w->function != Py_None)
        w->raised =
            tell(w, Py_BuildValue("(KKKKKKKs)", (unsigned long long)p->bytes, (unsigned long long)p->total_bytes,
                                  (unsigned long long)p->text_bytes, (unsigned long long)p->tokens,
                                  (unsigned long long)p->documents, (unsigned long long)p->rejects,
                                  (unsigned long long)p->bytes_before, p->bound ? p->bound : "")) < 0;
    w->state = PyEval_SaveThread();
    return w->raised;
}

static int on_merge(void *context, uint64_t done, uint64_t total)
{
    struct watching *w = context;

    if (w->raised)
        return 1;
    PyEval_RestoreThread(w->state);
    w->raised = PyErr_CheckSignals() < 0;
    if (!w->raised && w->function != Py_None)
        w->raised = tell(w, Py_BuildValue("(KK)", (unsigned long long)done, (unsigned long long)total)) < 0;
    w->state = PyEval_SaveThread();
    return w->raised;
}

/* ---- Paths ---- */

struct paths {
    PyObject *list; /* of bytes */
    const char **items;
    size_t count;
};

static int paths_take(struct paths *paths, PyObject *given)
{
    Py_ssize_t count = PyList_Size(given);

    *paths = (struct paths) { 0 };
    if (count < 0)
        return -1;
    paths->count = (size_t)count;
    paths->list = PyList_New(count);
    paths->items = calloc(paths->count + 1, sizeof *paths->items);
    for (Py_ssize_t i = 0; paths->list && paths->items && i < count; i++) {
        PyObject *bytes;

        if (!PyUnicode_FSConverter(PyList_GetItem(given, i), &bytes))
            return -1;
        paths->items[i] = PyBytes_AsString(bytes);
        if (PyList_SetItem(paths->list, i, bytes) < 0)
            return -1;
    }
    if (paths->list && paths->items)
        return 0;
    PyErr_NoMemory();
    return -1;
}

static void paths_free(struct paths *paths)
{
    Py_XDECREF(paths->list);
    free(paths->items);
}

/* ---- Failures ---- */

/*
 * With leat.Error raised: gives it `resumable`. If a signal handler or the caller's own function had ended the run, that
 * exception is raised, with leat.Error as its cause.
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

/* ---- pack ---- */

struct run {
    const char *output;
    struct paths inputs;
    struct text_pack_options options;
    struct leat_info splits[TEXT_SPLITS];
    struct leat_pack_report report;
};

static PyObject *run_pack(struct run *r, PyObject *function)
{
    struct watching w = { .function = function };
    PyObject *stopped[3] = { NULL, NULL, NULL };
    struct leat_error err;
    enum leat_status s;

    r->options.options.progress = on_pack;
    r->options.options.context = &w;
    r->report = (struct leat_pack_report)LEAT_PACK_REPORT_INIT;
    r->report.splits = r->splits;
    for (size_t i = 0; i < TEXT_SPLITS; i++)
        r->splits[i] = (struct leat_info)LEAT_INFO_INIT;
    w.state = PyEval_SaveThread();
    s = leat_pack(r->output, r->inputs.items, r->inputs.count, &r->options.options, &r->report, &err);
    PyEval_RestoreThread(w.state);
    if (w.raised)
        PyErr_Fetch(&stopped[0], &stopped[1], &stopped[2]);
    if (s != LEAT_OK) {
        raise_all(&err, r->output, r->report.resumable, stopped);
        return NULL;
    }
    /* it had come to its end before it could be stopped */
    if (w.raised) {
        PyErr_Restore(stopped[0], stopped[1], stopped[2]);
        return NULL;
    }
    return Py_BuildValue("NN", text_report(&r->report), text_infos(r->splits, r->options.options.split_count));
}

/* pack(output, inputs, tokenizer, options, progress) -> (report, splits) */
static PyObject *text_pack(PyObject *module, PyObject *args)
{
    PyObject *output = NULL, *inputs, *tokenizer, *options, *progress, *result = NULL;
    struct run *r = calloc(1, sizeof *r);
    struct text_tokenizer *t;

    (void)module;
    if (!r)
        return PyErr_NoMemory();
    if (PyArg_ParseTuple(args, "O&OOOO", text_path, &output, &inputs, &tokenizer, &options, &progress) &&
        (t = text_tokenizer_of(tokenizer)) != NULL && text_options_take(&r->options, t, options) == 0 &&
        paths_take(&r->inputs, inputs) == 0) {
        r->output = output ? PyBytes_AsString(output) : NULL;
        result = run_pack(r, progress);
    }
    Py_XDECREF(output);
    paths_free(&r->inputs);
    free(r);
    return result;
}

/* ---- merge ---- */

static PyObject *run_merge(const char *output, const struct paths *parts, struct leat_merge_options *o,
                           struct leat_info *splits, PyObject *function)
{
    struct leat_merge_report report = LEAT_MERGE_REPORT_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    struct watching w = { .function = function };
    PyObject *stopped[3] = { NULL, NULL, NULL };
    struct leat_error err;
    enum leat_status s;

    report.splits = splits;
    o->report = &report;
    o->progress = on_merge;
    o->context = &w;
    w.state = PyEval_SaveThread();
    s = leat_merge(output, parts->items, parts->count, o, &info, &err);
    PyEval_RestoreThread(w.state);
    if (w.raised)
        PyErr_Fetch(&stopped[0], &stopped[1], &stopped[2]);
    if (s != LEAT_OK) {
        raise_all(&err, output, false, stopped);
        return NULL;
    }
    if (w.raised) {
        PyErr_Restore(stopped[0], stopped[1], stopped[2]);
        return NULL;
    }
    return Py_BuildValue("NNKK", text_infos(&info, 1), text_infos(splits, o->split_count),
                         (unsigned long long)report.documents, (unsigned long long)report.deduplicated);
}

/* merge(output, parts, shuffle, seed, dedup, splits, memory, replace, created, progress)
 * -> (info, splits, documents of all parts, left out) */
static PyObject *text_merge(PyObject *module, PyObject *args)
{
    struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT;
    unsigned long long seed, memory, created;
    PyObject *output = NULL, *given, *list, *progress, *result = NULL;
    struct leat_split splits[TEXT_SPLITS];
    struct leat_info infos[TEXT_SPLITS];
    struct paths parts = { 0 };
    Py_ssize_t count;

    (void)module;
    if (!PyArg_ParseTuple(args, "O&OpKpOKpKO", text_path, &output, &given, &o.shuffle, &seed, &o.dedup, &list, &memory,
                          &o.replace, &created, &progress))
        return NULL;
    for (size_t i = 0; i < TEXT_SPLITS; i++)
        infos[i] = (struct leat_info)LEAT_INFO_INIT;
    o.seed = seed;
    o.memory = memory;
    o.created = created;
    o.splits = splits;
    count = text_splits_take(splits, list);
    if (count >= 0 && paths_take(&parts, given) == 0) {
        o.split_count = (size_t)count;
        result = run_merge(output ? PyBytes_AsString(output) : NULL, &parts, &o, infos, progress);
    }
    Py_XDECREF(output);
    paths_free(&parts);
    return result;
}

static PyMethodDef functions[] = {
    { "pack", text_pack, METH_VARARGS, NULL },
    { "merge", text_merge, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

int text_pack_register(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
