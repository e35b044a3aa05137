/* runs.c: runs in parts (leat/run.h), which python/leat/run.py wraps. A run is a capsule. Calls release the GIL, so
 * only one call at a time may use a run. */
#include "pack.h"

#include <stdlib.h>
#include <string.h>

#define NAME "leat._leat.run"

struct held {
    struct leat_run *run;
    bool busy; /* true while a call uses the run */
};

static void release(PyObject *capsule)
{
    struct held *h = PyCapsule_GetPointer(capsule, NAME);

    leat_run_close(h->run);
    free(h);
}

/* Makes a capsule that owns the run. */
static PyObject *capsule_of(struct leat_run *run)
{
    struct held *h = calloc(1, sizeof *h);
    PyObject *capsule = h ? PyCapsule_New(h, NAME, release) : PyErr_NoMemory();

    if (capsule) {
        h->run = run;
        return capsule;
    }
    leat_run_close(run);
    free(h);
    return NULL;
}

/* Claims the run for a call, which sets h->busy to false at its end. Returns NULL with an exception set if another
 * call uses it. */
static struct held *claim_run(PyObject *capsule)
{
    struct held *h = PyCapsule_GetPointer(capsule, NAME);

    if (h && h->busy) {
        PyErr_SetString(PyExc_RuntimeError, "this Run is in use by another thread: open one for each thread");
        return NULL;
    }
    if (h)
        h->busy = true;
    return h;
}

/* Sets the attribute `advice` of the leat.Error that is raised: (file, mend, waits), with numbers of leat/run.h's
 * enums. */
static void set_advice(const struct leat_run_advice *advice)
{
    PyObject *type, *value, *trace, *error, *tuple;

    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    error = value && PyErr_GivenExceptionMatches(value, errors_class) ? Py_NewRef(value)
            : value                                                   ? PyException_GetCause(value)
                                                                      : NULL;
    tuple = error ? Py_BuildValue("III", advice->file, advice->mend, advice->waits) : NULL;
    if (tuple && PyObject_SetAttrString(error, "advice", tuple) < 0)
        PyErr_Clear();
    Py_XDECREF(tuple);
    Py_XDECREF(error);
    PyErr_Restore(type, value, trace);
}

/* Calls run_ended(), and adds advice to its error. */
static bool ended_with_advice(bool raised, enum leat_status s, struct leat_error *err, bool resumable)
{
    struct leat_run_advice advice = LEAT_RUN_ADVICE_INIT;

    if (s != LEAT_OK) {
        leat_run_advice(err, &advice);
        err->hint = advice.hint;
    }
    if (run_ended(raised, s, err, resumable))
        return true;
    if (s != LEAT_OK)
        set_advice(&advice);
    return false;
}

/* Returns the name that args_path() read, or NULL with an exception set for None. */
static const char *name_of(PyObject *path)
{
    if (!path)
        PyErr_SetString(PyExc_TypeError, "missing name: None names no folder and no dataset");
    return path ? PyBytes_AsString(path) : NULL;
}

/* ---- Plan and open ----------------------------------------------------------------------------------------------- */

static PyObject *create(const char *folder, struct leat_run_options *o, struct pack_options *pack, struct pack_watch *w)
{
    struct leat_run *run;
    struct leat_error err;
    enum leat_status s;

    pack->options.progress = pack_on_progress;
    pack->options.notice = pack_on_notice;
    pack->options.context = w;
    o->pack = &pack->options;
    pause_begin(&w->base.pause);
    s = leat_run_create(&run, folder, o, &err);
    pause_end(&w->base.pause);
    if (ended_with_advice(w->base.raised, s, &err, false))
        return capsule_of(run);
    if (s == LEAT_OK)
        leat_run_close(run);
    return NULL;
}

/* run_create(folder, inputs, tokenizer, its name, pattern, from, parts, options, notice): Returns the run. */
static PyObject *run_create(PyObject *module, PyObject *args)
{
    struct leat_run_options o = LEAT_RUN_OPTIONS_INIT;
    struct pack_watch w = { .base = { .function = Py_None } };
    struct pack_options *pack = calloc(1, sizeof *pack);
    PyObject *folder = NULL, *spec = NULL, *from = NULL, *inputs, *names = NULL, *tokenizer, *given, *result = NULL;
    struct text_tokenizer *t;
    const char **words = NULL;
    size_t count = 0;
    unsigned parts;

    (void)module;
    if (!pack)
        return PyErr_NoMemory();
    if (PyArg_ParseTuple(args, "O&OOO&zO&IOO", args_path, &folder, &inputs, &tokenizer, args_path, &spec, &o.pattern,
                         args_path, &from, &parts, &given, &w.notice) &&
        name_of(folder) != NULL && (t = text_tokenizer_of(tokenizer)) != NULL &&
        pack_options_take(pack, t, given) == 0 && (words = args_paths(inputs, &count, &names)) != NULL) {
        o.parts = parts;
        o.inputs = words;
        o.input_count = count;
        o.tokenizer = spec ? PyBytes_AsString(spec) : NULL;
        o.from = from ? PyBytes_AsString(from) : NULL;
        result = create(PyBytes_AsString(folder), &o, pack, &w);
    }
    Py_XDECREF(folder);
    Py_XDECREF(spec);
    Py_XDECREF(from);
    Py_XDECREF(names);
    PyMem_Free(words);
    free(pack);
    return result;
}

/* run_open(folder) -> run */
static PyObject *run_open(PyObject *module, PyObject *args)
{
    PyObject *folder = NULL, *result = NULL;
    struct leat_run *run;
    struct leat_error err;
    enum leat_status s;
    const char *name;

    (void)module;
    if (!PyArg_ParseTuple(args, "O&", args_path, &folder))
        return NULL;
    if (!(name = name_of(folder)))
        return NULL;
    ARGS_UNLOCKED(s = leat_run_open(&run, name, &err));
    if (ended_with_advice(false, s, &err, false))
        result = capsule_of(run);
    Py_XDECREF(folder);
    return result;
}

/* run_info(run): Returns (folder, parts, files, bytes, [name and fraction of each split], whether it has
 * conversations). */
static PyObject *run_info(PyObject *module, PyObject *capsule)
{
    struct leat_run_info info = LEAT_RUN_INFO_INIT;
    struct held *h = PyCapsule_GetPointer(capsule, NAME);
    PyObject *splits = h ? PyList_New(0) : NULL;

    (void)module;
    if (!splits)
        return NULL;
    leat_run_info(h->run, &info);
    for (uint64_t i = 0; splits && i < info.pack->split_count; i++) {
        PyObject *pair = Py_BuildValue("ss", info.pack->splits[i].name, info.pack->splits[i].fraction);

        if (!pair || PyList_Append(splits, pair) < 0)
            Py_CLEAR(splits);
        Py_XDECREF(pair);
    }
    return splits ? Py_BuildValue("NIKKNN", args_text(info.folder), info.parts, (unsigned long long)info.files,
                                  (unsigned long long)info.bytes, splits, PyBool_FromLong(info.pack->chat != NULL))
                  : NULL;
}

/* ---- A step ------------------------------------------------------------------------------------------------------ */

static PyObject *pack_part(struct held *h, unsigned part, struct leat_pack_options *o, struct pack_watch *w)
{
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;
    struct leat_info splits[PACK_SPLITS];
    struct leat_run_info info = LEAT_RUN_INFO_INIT;
    struct leat_error err;
    char name[4096];
    enum leat_status s;

    for (size_t i = 0; i < PACK_SPLITS; i++)
        splits[i] = (struct leat_info)LEAT_INFO_INIT;
    report.splits = splits;
    o->progress = pack_on_progress;
    o->notice = pack_on_notice;
    o->context = w;
    leat_run_part_name(h->run, part, name, sizeof name);
    pause_begin(&w->base.pause);
    s = leat_run_step(h->run, part, o, &report, &err);
    pause_end(&w->base.pause);
    if (!ended_with_advice(w->base.raised, s, &err, report.resumable))
        return NULL;
    leat_run_info(h->run, &info);
    return Py_BuildValue("NNNK", args_text(name), pack_report(&report), pack_infos(splits, info.pack->split_count),
                         (unsigned long long)w->text_before);
}

/* run_step(run, part, options, progress, notice): Returns (name, report, splits, bytes of text that earlier steps
 * packed). */
static PyObject *run_step(PyObject *module, PyObject *args)
{
    struct pack_options *o = calloc(1, sizeof *o);
    struct pack_watch w = { .started = false };
    PyObject *capsule, *given, *result = NULL;
    struct held *h;
    unsigned part;

    (void)module;
    if (!o)
        return PyErr_NoMemory();
    if (PyArg_ParseTuple(args, "OIOOO", &capsule, &part, &given, &w.base.function, &w.notice) &&
        pack_options_take(o, NULL, given) == 0 && (h = claim_run(capsule)) != NULL) {
        result = pack_part(h, part, &o->options, &w);
        h->busy = false;
    }
    free(o);
    return result;
}

/* ---- Where it stands --------------------------------------------------------------------------------------------- */

static const struct field part_facts[] = {
    FIELD_ROW(FIELD_NUMBER, leat_run_part, tokens), FIELD_ROW(FIELD_NUMBER, leat_run_part, documents),
    FIELD_ROW(FIELD_NUMBER, leat_run_part, bytes),  FIELD_ROW(FIELD_NUMBER, leat_run_part, total_bytes),
    FIELD_ROW(FIELD_NUMBER, leat_run_part, pid),    FIELD_ROW(FIELD_NUMBER, leat_run_part, state),
};

static PyObject *part_tuple(const struct leat_run_part *part)
{
    return Py_BuildValue("NddNN", fields_dict(FIELDS(part_facts), part), part->tokens_per_s, part->age,
                         args_text(part->host), args_text(part->reason));
}

static PyObject *status_tuple(const struct leat_run_status *st)
{
    PyObject *items = PyList_New(st->parts), *counts = PyList_New(LEAT_RUN_STATES);

    for (uint32_t i = 0; items && i < st->parts; i++) {
        PyObject *item = part_tuple(&st->items[i]);

        if (!item || PyList_SetItem(items, i, item) < 0)
            Py_CLEAR(items);
    }
    for (int i = 0; counts && i < LEAT_RUN_STATES; i++) {
        PyObject *count = args_number(st->count[i]);

        if (!count || PyList_SetItem(counts, i, count) < 0)
            Py_CLEAR(counts);
    }
    if (items && counts)
        return Py_BuildValue("NNNKKddds", counts, PyBool_FromLong((long)st->complete), items,
                             (unsigned long long)st->tokens, (unsigned long long)st->documents, st->share,
                             st->tokens_per_s, st->seconds_left, st->left);
    Py_XDECREF(items);
    Py_XDECREF(counts);
    return NULL;
}

/* run_status(run): Returns (counts by state, complete, [(facts, tokens_per_s, age, host, reason)], tokens,
 * documents, share, tokens_per_s, seconds left, parts left). */
static PyObject *run_status(PyObject *module, PyObject *capsule)
{
    struct leat_run_status st = LEAT_RUN_STATUS_INIT;
    struct leat_error err;
    PyObject *result = NULL;
    enum leat_status s;
    struct held *h = claim_run(capsule);

    (void)module;
    if (!h)
        return NULL;
    ARGS_UNLOCKED(s = leat_run_status(h->run, &st, &err));
    if (ended_with_advice(false, s, &err, false))
        result = status_tuple(&st);
    h->busy = false;
    return result;
}

/* ---- Joining ----------------------------------------------------------------------------------------------------- */

/* run_join(run, output, splits, options, progress, notice, made): Returns what merge() returns. */
static PyObject *run_join(PyObject *module, PyObject *args)
{
    PyObject *capsule, *output = NULL, *list, *dict, *result = NULL;
    struct pack_joining j = { .watch = { .started = false } };
    struct leat_error err;
    enum leat_status s;
    struct held *h;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO&O!O!OOO", &capsule, args_path, &output, &PyList_Type, &list, &PyDict_Type, &dict,
                          &j.watch.base.function, &j.watch.notice, &j.watch.output))
        return NULL;
    if (name_of(output) != NULL && pack_joining_begin(&j, list, dict) && (h = claim_run(capsule)) != NULL) {
        pause_begin(&j.watch.base.pause);
        s = leat_run_join(h->run, PyBytes_AsString(output), &j.options, &j.report, &err);
        pause_end(&j.watch.base.pause);
        h->busy = false;
        if (ended_with_advice(j.watch.base.raised, s, &err, false))
            result = pack_joining_result(&j);
    }
    Py_XDECREF(output);
    return result;
}

static PyMethodDef functions[] = {
    { "run_create", run_create, METH_VARARGS, NULL },
    { "run_open", run_open, METH_VARARGS, NULL },
    { "run_info", run_info, METH_O, NULL },
    { "run_step", run_step, METH_VARARGS, NULL },
    { "run_status", run_status, METH_O, NULL },
    { "run_join", run_join, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

int runs_register(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
