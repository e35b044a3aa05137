/* foreign.c: export(), adopt(), pull() and push() of leat._leat, which exchange whole datasets with other tools and
 * servers. */
#include "pack.h"

/* ---- export ---- */

static PyObject *run_export(const char *output, const char *const *parts, size_t count, struct leat_export_options *o,
                            PyObject *function)
{
    struct leat_export_report report = LEAT_EXPORT_REPORT_INIT;
    struct run_watch w = { .function = function };
    struct leat_error err;
    enum leat_status s;

    o->progress = run_on_bytes;
    o->context = &w;
    pause_begin(&w.pause);
    s = leat_export(output, parts, count, o, &report, &err);
    pause_end(&w.pause);
    if (!run_ended(w.raised, s, &err, false))
        return NULL;
    return ARGS_TUPLE(report.documents, report.tokens, report.bytes, report.end_token, report.number_bytes);
}

/* export(output, parts, to, number_bytes, replace, progress): Returns (documents or None, tokens, bytes, end token
 * or None, bytes per id). */
static PyObject *text_export(PyObject *module, PyObject *args)
{
    struct leat_export_options o = LEAT_EXPORT_OPTIONS_INIT;
    PyObject *output = NULL, *given, *names = NULL, *progress, *result = NULL;
    const char **parts;
    size_t count;

    (void)module;
    if (!PyArg_ParseTuple(args, "O&OsIpO", args_path, &output, &given, &o.to, &o.number_bytes, &o.force, &progress))
        return NULL;
    parts = args_paths(given, &count, &names);
    if (parts)
        result = run_export(output ? PyBytes_AsString(output) : NULL, parts, count, &o, progress);
    Py_XDECREF(output);
    Py_XDECREF(names);
    PyMem_Free(parts);
    return result;
}

/* ---- adopt ---- */

#define INDEX_BYTES 4200 /* room for a path with the suffix .leat */

/* Reports progress. Before a file is open, the total is 0, by which the caller's function may divide; so it checks
 * only for signals. */
static uint32_t on_adopt(void *context, uint64_t done, uint64_t total)
{
    struct run_watch *w = context;
    PyObject *function = w->function;

    w->function = total > 0 ? function : Py_None;
    run_on_bytes(w, done, total);
    w->function = function;
    return w->raised;
}

static PyObject *run_adopt(const char *name, struct leat_adopt_options *o, PyObject *function)
{
    struct leat_info info = LEAT_INFO_INIT;
    struct run_watch w = { .function = function };
    char index[INDEX_BYTES] = { 0 };
    struct leat_error err;
    enum leat_status s;

    o->index = index;
    o->index_capacity = sizeof index;
    o->progress = on_adopt;
    o->context = &w;
    pause_begin(&w.pause);
    s = leat_adopt(name, o, &info, &err);
    pause_end(&w.pause);
    if (!run_ended(w.raised, s, &err, s == LEAT_E_STOPPED))
        return NULL;
    return Py_BuildValue("yNN", index, args_number(info.documents), args_number(info.tokens));
}

/* adopt(name, output or None, tokenizer or None, end, replace, created, progress): Returns (index, documents,
 * tokens). */
static PyObject *text_adopt(PyObject *module, PyObject *args)
{
    struct leat_adopt_options o = LEAT_ADOPT_OPTIONS_INIT;
    PyObject *name = NULL, *output = NULL, *tokenizer, *progress, *result = NULL;
    struct leat_stored_tokenizer stored;
    struct leat_tokenizer_info facts;
    bool known;

    (void)module;
    if (!PyArg_ParseTuple(args, "O&O&OO&pO&O", args_path, &name, args_path, &output, &tokenizer, args_u64_or_none,
                          &o.end_token, &o.force, args_u64, &o.created, &progress))
        return NULL;
    o.output = output ? PyBytes_AsString(output) : NULL;
    if (text_tokenizer_facts(tokenizer, &facts, &stored, &known)) {
        o.tokenizer = known ? &stored : NULL;
        o.fingerprint = known ? facts.fingerprint : NULL;
        o.vocabulary = facts.vocabulary;
        result = run_adopt(name ? PyBytes_AsString(name) : NULL, &o, progress);
    }
    Py_XDECREF(name);
    Py_XDECREF(output);
    return result;
}

/* ---- pull and push ---- */

/* The arguments (from, to, force, connections, progress) of a copy between a server and this machine. */
struct copying {
    PyObject *from, *to;
    uint32_t force, connections;
    struct run_watch watch;
};

/* Reports progress. Before the server has said how large the dataset is, it checks only for signals. */
static uint32_t on_copy(void *context, uint64_t done, uint64_t total)
{
    struct run_watch *w = context;
    PyObject *function = w->function;
    uint32_t stop;

    if (total == 0)
        w->function = Py_None;
    stop = run_on_bytes(w, done, total);
    w->function = function;
    return stop;
}

static bool copy_begin(struct copying *c, PyObject *args)
{
    *c = (struct copying) { .from = NULL };
    if (PyArg_ParseTuple(args, "O&O&pIO", PyUnicode_FSConverter, &c->from, PyUnicode_FSConverter, &c->to, &c->force,
                         &c->connections, &c->watch.function)) {
        pause_begin(&c->watch.pause);
        return true;
    }
    Py_XDECREF(c->from);
    Py_XDECREF(c->to);
    return false;
}

/* Ends a copy, and returns (bytes, kept, tokens, documents, requests, retries). */
static PyObject *copy_end(struct copying *c, enum leat_status s, struct leat_error *err, const uint64_t numbers[6])
{
    PyObject *result = NULL;

    pause_end(&c->watch.pause);
    if (run_ended(c->watch.raised, s, err, s == LEAT_E_STOPPED))
        result = args_tuple(numbers, 6);
    Py_XDECREF(c->from);
    Py_XDECREF(c->to);
    return result;
}

#define NUMBERS(r) ((const uint64_t[]) { (r).bytes, (r).kept, (r).tokens, (r).documents, (r).requests, (r).retries })

/* pull(url, name, force, connections, progress): Returns what copy_end() does. */
static PyObject *text_pull(PyObject *module, PyObject *args)
{
    struct leat_pull_options o = LEAT_PULL_OPTIONS_INIT;
    struct leat_pull_report r = LEAT_PULL_REPORT_INIT;
    struct leat_error err;
    enum leat_status s;
    struct copying c;

    (void)module;
    if (!copy_begin(&c, args))
        return NULL;
    o.force = c.force;
    o.connections = c.connections;
    o.progress = on_copy;
    o.context = &c.watch;
    s = leat_pull(PyBytes_AsString(c.from), PyBytes_AsString(c.to), &o, &r, &err);
    return copy_end(&c, s, &err, NUMBERS(r));
}

/* push(name, url, force, connections, progress): Returns what copy_end() does. */
static PyObject *text_push(PyObject *module, PyObject *args)
{
    struct leat_push_options o = LEAT_PUSH_OPTIONS_INIT;
    struct leat_push_report r = LEAT_PUSH_REPORT_INIT;
    struct leat_error err;
    enum leat_status s;
    struct copying c;

    (void)module;
    if (!copy_begin(&c, args))
        return NULL;
    o.force = c.force;
    o.connections = c.connections;
    o.progress = on_copy;
    o.context = &c.watch;
    s = leat_push(PyBytes_AsString(c.from), PyBytes_AsString(c.to), &o, &r, &err);
    return copy_end(&c, s, &err, NUMBERS(r));
}

static PyMethodDef functions[] = {
    { "export", text_export, METH_VARARGS, NULL },
    { "adopt", text_adopt, METH_VARARGS, NULL },
    { "pull", text_pull, METH_VARARGS, NULL },
    { "push", text_push, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

int foreign_register(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
