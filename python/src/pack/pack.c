/* pack.c: pack() and merge() of leat._leat, which python/leat/packing.py wraps, and what all runs share (pack.h). */
#include "pack.h"

#include <stdlib.h>
#include <string.h>

/* ---- Runs ---- */

uint32_t run_on_bytes(void *context, uint64_t done, uint64_t total)
{
    struct run_watch *w = context;

    if (!w->raised)
        w->raised = pause_tell(&w->pause, w->function, "(KK)", (unsigned long long)done, (unsigned long long)total) < 0;
    return w->raised;
}

/* Raises leat.Error with its attribute `resumable`. If a signal handler or the caller's own function ended the run,
 * it raises that exception instead, with leat.Error as its cause. */
static void raise_all(const struct leat_error *err, bool resumable, PyObject *stopped[3])
{
    PyObject *type, *value, *trace, *truth = resumable ? Py_True : Py_False;

    errors_raise(err);
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

bool run_ended(bool raised, enum leat_status s, struct leat_error *err, bool resumable)
{
    PyObject *stopped[3] = { NULL, NULL, NULL };

    if (raised)
        PyErr_Fetch(&stopped[0], &stopped[1], &stopped[2]);
    if (s != LEAT_OK)
        raise_all(err, resumable, stopped);
    else if (raised) /* the run ended before the exception could stop it */
        PyErr_Restore(stopped[0], stopped[1], stopped[2]);
    return s == LEAT_OK && !raised;
}

/* ---- Reports ---- */

#define NUMBER(member) FIELD_ROW(FIELD_NUMBER, leat_pack_report, member)
static const struct field report_facts[] = {
    NUMBER(inputs),
    NUMBER(documents),
    NUMBER(tokens),
    NUMBER(text_bytes),
    NUMBER(disk_bytes),
    NUMBER(rejects),
    NUMBER(deduplicated),
    NUMBER(special_strings),
    NUMBER(damaged_inputs),
    NUMBER(peak_memory),
    NUMBER(skipped),
    NUMBER(replaced),
    NUMBER(not_json),
    NUMBER(kept_out),
    NUMBER(too_long),
    NUMBER(row_groups),
    FIELD_ROW(FIELD_FLAG, leat_pack_report, was_finished),
};
#undef NUMBER

PyObject *pack_report(const struct leat_pack_report *report)
{
    PyObject *dict = fields_dict(FIELDS(report_facts), report), *learned = PyUnicode_FromString(report->learned);

    if (dict && (!learned || PyDict_SetItemString(dict, "learned", learned) < 0))
        Py_CLEAR(dict);
    Py_XDECREF(learned);
    return dict;
}

static const struct field info_facts[] = {
    FIELD_ROW(FIELD_NUMBER, leat_info, documents),
    FIELD_ROW(FIELD_NUMBER, leat_info, tokens),
    FIELD_ROW(FIELD_BYTES, leat_info, identity),
};

PyObject *pack_infos(const struct leat_info *infos, size_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count);

    for (size_t i = 0; list && i < count; i++) {
        PyObject *item = fields_dict(FIELDS(info_facts), &infos[i]);

        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* ---- Progress ---- */

uint32_t pack_on_progress(void *context, const struct leat_pack_progress *p)
{
    struct pack_watch *w = context;

    /* A resumed run makes its first report after "checking" before any work. */
    if (!w->started && p->bytes_before > 0 && strcmp(p->bound, "checking") != 0) {
        w->started = true;
        w->text_before = p->text_bytes;
    }
    if (!w->base.raised)
        w->base.raised =
            pause_tell(&w->base.pause, w->base.function, "(KKKKKKKs)", (unsigned long long)p->bytes,
                       (unsigned long long)p->total_bytes, (unsigned long long)p->text_bytes,
                       (unsigned long long)p->tokens, (unsigned long long)p->documents, (unsigned long long)p->rejects,
                       (unsigned long long)p->bytes_before, p->bound ? p->bound : "") < 0;
    return w->base.raised;
}

void pack_on_notice(void *context, const struct leat_pack_notice *notice)
{
    struct pack_watch *w = context;

    if (!w->base.raised)
        w->base.raised = pause_tell(&w->base.pause, w->notice, "((iyKIKy))", (int)notice->kind, notice->path,
                                    (unsigned long long)notice->count, (unsigned)notice->reason,
                                    (unsigned long long)notice->offset, notice->message) < 0;
}

static void pack_on_output(void *context, const struct leat_by_output *o)
{
    struct pack_watch *w = context;

    if (!w->base.raised)
        w->base.raised = pause_tell(&w->base.pause, w->output, "((yyzKKy#))", o->name, o->value, o->split,
                                    (unsigned long long)o->info->documents, (unsigned long long)o->info->tokens,
                                    o->info->identity, (Py_ssize_t)sizeof o->info->identity) < 0;
}

/* ---- pack ---- */

struct run {
    const char *output;
    const char **inputs;
    size_t input_count;
    struct pack_options options;
    struct leat_info splits[PACK_SPLITS];
    struct leat_pack_report report;
};

static PyObject *run_pack(struct run *r, struct pack_watch *w)
{
    struct leat_error err;
    enum leat_status s;

    r->options.options.progress = pack_on_progress;
    r->options.options.notice = pack_on_notice;
    r->options.options.output = pack_on_output;
    r->options.options.context = w;
    r->report = (struct leat_pack_report)LEAT_PACK_REPORT_INIT;
    r->report.splits = r->splits;
    for (size_t i = 0; i < PACK_SPLITS; i++)
        r->splits[i] = (struct leat_info)LEAT_INFO_INIT;
    pause_begin(&w->base.pause);
    s = leat_pack(r->output, r->inputs, r->input_count, &r->options.options, &r->report, &err);
    pause_end(&w->base.pause);
    if (!run_ended(w->base.raised, s, &err, r->report.resumable))
        return NULL;
    return Py_BuildValue("NNK", pack_report(&r->report), pack_infos(r->splits, r->options.options.split_count),
                         (unsigned long long)w->text_before);
}

/*
 * pack(output, inputs, tokenizer, options, progress, notice, made): Returns (report, splits, bytes of text that the
 * resumed run had packed). It calls notice((kind, path, count, reason)) and made((name, value, split or None,
 * documents, tokens, identity)).
 */
static PyObject *text_pack(PyObject *module, PyObject *args)
{
    PyObject *output = NULL, *inputs, *names = NULL, *tokenizer, *given, *result = NULL;
    struct pack_watch w = { .started = false };
    struct run *r = calloc(1, sizeof *r);
    struct text_tokenizer *t;

    (void)module;
    if (!r)
        return PyErr_NoMemory();
    if (PyArg_ParseTuple(args, "O&OOOOOO", args_path, &output, &inputs, &tokenizer, &given, &w.base.function, &w.notice,
                         &w.output) &&
        (t = text_tokenizer_of(tokenizer)) != NULL && pack_options_take(&r->options, t, given) == 0 &&
        (r->inputs = args_paths(inputs, &r->input_count, &names)) != NULL) {
        r->output = output ? PyBytes_AsString(output) : NULL;
        result = run_pack(r, &w);
    }
    Py_XDECREF(output);
    Py_XDECREF(names);
    PyMem_Free(r->inputs);
    free(r);
    return result;
}

/* ---- merge ---- */

static void on_merge_notice(void *context, const struct leat_pack_notice *notice)
{
    struct pack_watch *w = context;

    if (!w->base.raised)
        w->base.raised = pause_tell(&w->base.pause, w->notice, "((Iy))", (unsigned)notice->reason, notice->path) < 0;
}

#define NUMBER(member) FIELD_ROW(FIELD_NUMBER, leat_merge_options, member)
#define FLAG(member)   FIELD_ROW(FIELD_FLAG, leat_merge_options, member)
static const struct field merge_options[] = {
    FLAG(shuffle),  NUMBER(seed), FLAG(dedup),       NUMBER(threads),
    NUMBER(memory), FLAG(force),  FLAG(allow_empty), NUMBER(created),
};

bool pack_joining_begin(struct pack_joining *j, PyObject *list, PyObject *dict)
{
    struct leat_merge_options *o = &j->options;
    Py_ssize_t count = pack_splits_take(j->split, list);

    *o = (struct leat_merge_options)LEAT_MERGE_OPTIONS_INIT;
    if (count < 0 || !fields_set(FIELDS(merge_options), o, dict))
        return false;
    j->report = (struct leat_merge_report)LEAT_MERGE_REPORT_INIT;
    j->info = (struct leat_info)LEAT_INFO_INIT;
    for (size_t i = 0; i < PACK_SPLITS; i++)
        j->infos[i] = j->info;
    j->report.splits = j->infos;
    j->report.info = &j->info;
    o->splits = j->split;
    o->split_count = (uint64_t)count;
    o->progress = run_on_bytes;
    o->notice = on_merge_notice;
    o->output = pack_on_output;
    o->context = &j->watch;
    return true;
}

PyObject *pack_joining_result(const struct pack_joining *j)
{
    return Py_BuildValue("NNNN", pack_infos(&j->info, 1), pack_infos(j->infos, (size_t)j->options.split_count),
                         args_number(j->report.documents), args_number(j->report.deduplicated));
}

static PyObject *run_merge(const char *output, const char *const *parts, size_t count, struct pack_joining *j)
{
    struct leat_error err;
    enum leat_status s;

    pause_begin(&j->watch.base.pause);
    s = leat_merge(output, parts, count, &j->options, &j->report, &err);
    pause_end(&j->watch.base.pause);
    return run_ended(j->watch.base.raised, s, &err, false) ? pack_joining_result(j) : NULL;
}

/* merge(output, parts, splits, options, progress, notice, made): Returns (info, splits, documents of all parts,
 * documents left out). It calls notice((reason, name)). */
static PyObject *text_merge(PyObject *module, PyObject *args)
{
    PyObject *output = NULL, *given, *names = NULL, *list, *dict, *result = NULL;
    struct pack_joining j = { .watch = { .started = false } };
    const char **parts = NULL;
    size_t part_count;

    (void)module;
    if (!PyArg_ParseTuple(args, "O&OO!O!OOO", args_path, &output, &given, &PyList_Type, &list, &PyDict_Type, &dict,
                          &j.watch.base.function, &j.watch.notice, &j.watch.output))
        return NULL;
    if (pack_joining_begin(&j, list, dict) && (parts = args_paths(given, &part_count, &names)) != NULL)
        result = run_merge(output ? PyBytes_AsString(output) : NULL, parts, part_count, &j);
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

int pack_register(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
