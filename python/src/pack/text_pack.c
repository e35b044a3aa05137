/*
 * text_pack.c: pack() and merge() of leat._leat, of which python/leat/packing.py makes those of leat.
 *
 * The GIL is released for the whole run. The library's callbacks take it (pause_tell()), let signal handlers run and
 * call Python's functions. If one raises, the exception stays set, and the answer to progress stops the library. The
 * caller then gets that exception; its cause is leat.Error, whose `resumable` says whether the run can go on. An
 * exception that comes too late to stop the run is raised all the same.
 */
#include <stdlib.h>
#include <string.h>

#include "core/args.h"
#include "core/pause.h"
#include "text_options.h"

/* ---- Progress ---- */

struct watching {
    struct pause pause;
    PyObject *function; /* None: nothing but signals */
    PyObject *notice;
    bool raised; /* an exception is set; it ends the run */
    bool started;
    uint64_t text_before; /* of a run that is resumed */
};

static uint32_t on_pack(void *context, const struct leat_pack_progress *p)
{
    struct watching *w = context;

    if (!w->started) { /* reports it before any work, if a run was resumed */
        w->started = true;
        w->text_before = p->bytes_before > 0 ? p->text_bytes : 0;
    }
    if (!w->raised)
        w->raised =
            pause_tell(&w->pause, w->function, "(KKKKKKKs)", (unsigned long long)p->bytes,
                       (unsigned long long)p->total_bytes, (unsigned long long)p->text_bytes,
                       (unsigned long long)p->tokens, (unsigned long long)p->documents, (unsigned long long)p->rejects,
                       (unsigned long long)p->bytes_before, p->bound ? p->bound : "") < 0;
    return w->raised;
}

static void on_notice(void *context, const struct leat_pack_notice *notice)
{
    struct watching *w = context;

    if (!w->raised)
        w->raised = pause_tell(&w->pause, w->notice, "((iyK))", (int)notice->kind, notice->path,
                               (unsigned long long)notice->count) < 0;
}

static uint32_t on_merge(void *context, uint64_t done, uint64_t total)
{
    struct watching *w = context;

    if (!w->raised)
        w->raised = pause_tell(&w->pause, w->function, "(KK)", (unsigned long long)done, (unsigned long long)total) < 0;
    return w->raised;
}

/* ---- Failures ---- */

/*
 * With leat.Error raised: gives it `resumable`. If a signal handler or the caller's own function had ended the run,
 * that exception is raised, with leat.Error as its cause.
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
    const char **inputs;
    size_t input_count;
    struct text_pack_options options;
    struct leat_info splits[TEXT_SPLITS];
    struct leat_pack_report report;
};

static PyObject *run_pack(struct run *r, PyObject *function, PyObject *notice)
{
    struct watching w = { .function = function, .notice = notice };
    PyObject *stopped[3] = { NULL, NULL, NULL };
    struct leat_error err;
    enum leat_status s;

    r->options.options.progress = on_pack;
    r->options.options.notice = on_notice;
    r->options.options.context = &w;
    r->report = (struct leat_pack_report)LEAT_PACK_REPORT_INIT;
    r->report.splits = r->splits;
    for (size_t i = 0; i < TEXT_SPLITS; i++)
        r->splits[i] = (struct leat_info)LEAT_INFO_INIT;
    pause_begin(&w.pause);
    s = leat_pack(r->output, r->inputs, r->input_count, &r->options.options, &r->report, &err);
    pause_end(&w.pause);
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
    return Py_BuildValue("NNK", text_report(&r->report), text_infos(r->splits, r->options.options.split_count),
                         (unsigned long long)w.text_before);
}

/* pack(output, inputs, tokenizer, options, progress, notice) -> (report, splits, bytes of text of the run that it
 * resumes); notice((kind, path, count)) */
static PyObject *text_pack(PyObject *module, PyObject *args)
{
    PyObject *output = NULL, *inputs, *names = NULL, *tokenizer, *options, *progress, *notice, *result = NULL;
    struct run *r = calloc(1, sizeof *r);
    struct text_tokenizer *t;

    (void)module;
    if (!r)
        return PyErr_NoMemory();
    if (PyArg_ParseTuple(args, "O&OOOOO", args_path, &output, &inputs, &tokenizer, &options, &progress, &notice) &&
        (t = text_tokenizer_of(tokenizer)) != NULL && text_options_take(&r->options, t, options) == 0 &&
        (r->inputs = args_paths(inputs, &r->input_count, &names)) != NULL) {
        r->output = output ? PyBytes_AsString(output) : NULL;
        result = run_pack(r, progress, notice);
    }
    Py_XDECREF(output);
    Py_XDECREF(names);
    PyMem_Free(r->inputs);
    free(r);
    return result;
}

/* ---- merge ---- */

static PyObject *run_merge(const char *output, const char *const *parts, size_t count, struct leat_merge_options *o,
                           struct leat_info *splits, PyObject *function)
{
    struct leat_merge_report report = LEAT_MERGE_REPORT_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    struct watching w = { .function = function };
    PyObject *stopped[3] = { NULL, NULL, NULL };
    struct leat_error err;
    enum leat_status s;

    report.splits = splits;
    report.info = &info;
    o->progress = on_merge;
    o->context = &w;
    pause_begin(&w.pause);
    s = leat_merge(output, parts, count, o, &report, &err);
    pause_end(&w.pause);
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
    PyObject *output = NULL, *given, *names = NULL, *list, *progress, *result = NULL;
    struct leat_split splits[TEXT_SPLITS];
    struct leat_info infos[TEXT_SPLITS];
    const char **parts = NULL;
    size_t part_count;
    Py_ssize_t count;

    (void)module;
    if (!PyArg_ParseTuple(args, "O&OpKpOKpKO", args_path, &output, &given, &o.shuffle, &seed, &o.dedup, &list, &memory,
                          &o.force, &created, &progress))
        return NULL;
    for (size_t i = 0; i < TEXT_SPLITS; i++)
        infos[i] = (struct leat_info)LEAT_INFO_INIT;
    o.seed = seed;
    o.memory = memory;
    o.created = created;
    o.splits = splits;
    count = text_splits_take(splits, list);
    if (count >= 0 && (parts = args_paths(given, &part_count, &names)) != NULL) {
        o.split_count = (size_t)count;
        result = run_merge(output ? PyBytes_AsString(output) : NULL, parts, part_count, &o, infos, progress);
    }
    Py_XDECREF(output);
    Py_XDECREF(names);
    PyMem_Free(parts);
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
