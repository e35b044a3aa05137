/* text_pack.c: pack() and merge() of leat._leat, which python/leat/packing.py wraps. See text_run.h. */
#include <stdlib.h>
#include <string.h>

#include "core/args.h"
#include "text_options.h"
#include "text_run.h"

/* ---- Progress ---- */

struct watching {
    struct text_watch base;
    PyObject *notice, *output; /* functions that take a tuple */
    bool started;
    uint64_t text_before; /* of a run that is resumed */
};

static uint32_t on_pack(void *context, const struct leat_pack_progress *p)
{
    struct watching *w = context;

    /* the first report after "checking" comes before any work, if a run was resumed */
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

static void on_notice(void *context, const struct leat_pack_notice *notice)
{
    struct watching *w = context;

    if (!w->base.raised)
        w->base.raised = pause_tell(&w->base.pause, w->notice, "((iyKIKy))", (int)notice->kind, notice->path,
                                    (unsigned long long)notice->count, (unsigned)notice->reason,
                                    (unsigned long long)notice->offset, notice->message) < 0;
}

static void on_output(void *context, const struct leat_by_output *o)
{
    struct watching *w = context;

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
    struct text_pack_options options;
    struct leat_info splits[TEXT_SPLITS];
    struct leat_pack_report report;
};

static PyObject *run_pack(struct run *r, PyObject *function, PyObject *notice, PyObject *output)
{
    struct watching w = { .base.function = function, .notice = notice, .output = output };
    struct leat_error err;
    enum leat_status s;

    r->options.options.progress = on_pack;
    r->options.options.notice = on_notice;
    r->options.options.output = on_output;
    r->options.options.context = &w;
    r->report = (struct leat_pack_report)LEAT_PACK_REPORT_INIT;
    r->report.splits = r->splits;
    for (size_t i = 0; i < TEXT_SPLITS; i++)
        r->splits[i] = (struct leat_info)LEAT_INFO_INIT;
    pause_begin(&w.base.pause);
    s = leat_pack(r->output, r->inputs, r->input_count, &r->options.options, &r->report, &err);
    pause_end(&w.base.pause);
    if (!text_run_ended(w.base.raised, s, &err, r->output, r->report.resumable))
        return NULL;
    return Py_BuildValue("NNK", text_report(&r->report), text_infos(r->splits, r->options.options.split_count),
                         (unsigned long long)w.text_before);
}

/* pack(output, inputs, tokenizer, options, progress, notice, made) -> (report, splits, bytes of text of the run that it
 * resumes); notice((kind, path, count, reason)); made((name, value, split or None, documents, tokens, identity)) */
static PyObject *text_pack(PyObject *module, PyObject *args)
{
    PyObject *output = NULL, *inputs, *names = NULL, *tokenizer, *options, *progress, *notice, *made, *result = NULL;
    struct run *r = calloc(1, sizeof *r);
    struct text_tokenizer *t;

    (void)module;
    if (!r)
        return PyErr_NoMemory();
    if (PyArg_ParseTuple(args, "O&OOOOOO", args_path, &output, &inputs, &tokenizer, &options, &progress, &notice,
                         &made) &&
        (t = text_tokenizer_of(tokenizer)) != NULL && text_options_take(&r->options, t, options) == 0 &&
        (r->inputs = args_paths(inputs, &r->input_count, &names)) != NULL) {
        r->output = output ? PyBytes_AsString(output) : NULL;
        result = run_pack(r, progress, notice, made);
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
    struct watching *w = context;

    if (!w->base.raised)
        w->base.raised = pause_tell(&w->base.pause, w->notice, "((Iy))", (unsigned)notice->reason, notice->path) < 0;
}

static PyObject *run_merge(const char *output, const char *const *parts, size_t count, struct leat_merge_options *o,
                           struct leat_info *splits, PyObject *function, PyObject *notice, PyObject *output_made)
{
    struct leat_merge_report report = LEAT_MERGE_REPORT_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    struct watching w = { .base.function = function, .notice = notice, .output = output_made };
    struct leat_error err;
    enum leat_status s;

    report.splits = splits;
    report.info = &info;
    o->progress = text_on_bytes;
    o->notice = on_merge_notice;
    o->output = on_output;
    o->context = &w;
    pause_begin(&w.base.pause);
    s = leat_merge(output, parts, count, o, &report, &err);
    pause_end(&w.base.pause);
    if (!text_run_ended(w.base.raised, s, &err, output, false))
        return NULL;
    return Py_BuildValue("NNKK", text_infos(&info, 1), text_infos(splits, o->split_count),
                         (unsigned long long)report.documents, (unsigned long long)report.deduplicated);
}

/* merge(output, parts, shuffle, seed, dedup, splits, threads, memory, replace, in_place, allow_empty, created,
 * progress, notice, made) -> (info, splits, documents of all parts, left out); notice((reason, name)) */
static PyObject *text_merge(PyObject *module, PyObject *args)
{
    struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT;
    unsigned long long seed, memory, created;
    PyObject *output = NULL, *given, *names = NULL, *list, *progress, *notice, *made;
    PyObject *result = NULL;
    struct leat_split splits[TEXT_SPLITS];
    struct leat_info infos[TEXT_SPLITS];
    const char **parts = NULL;
    size_t part_count;
    Py_ssize_t count;

    (void)module;
    if (!PyArg_ParseTuple(args, "O&OpKpOIKpppKOOO", args_path, &output, &given, &o.shuffle, &seed, &o.dedup, &list,
                          &o.threads, &memory, &o.force, &o.in_place, &o.allow_empty, &created, &progress, &notice,
                          &made))
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
        result =
            run_merge(output ? PyBytes_AsString(output) : NULL, parts, part_count, &o, infos, progress, notice, made);
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
