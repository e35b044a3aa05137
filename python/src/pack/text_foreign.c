/* text_foreign.c: export() and adopt() of leat._leat, which python/leat/ wraps. See text_run.h. */
#include <stdlib.h>

#include "core/args.h"
#include "text_run.h"

/* ---- export ---- */

static PyObject *run_export(const char *output, const char *const *parts, size_t count, struct leat_export_options *o,
                            PyObject *function)
{
    struct leat_export_report report = LEAT_EXPORT_REPORT_INIT;
    struct text_watch w = { .function = function };
    struct leat_error err;
    enum leat_status s;

    o->progress = text_on_bytes;
    o->context = &w;
    pause_begin(&w.pause);
    s = leat_export(output, parts, count, o, &report, &err);
    pause_end(&w.pause);
    if (!text_run_ended(w.raised, s, &err, output, false))
        return NULL;
    return Py_BuildValue("KKKKI", (unsigned long long)report.documents, (unsigned long long)report.tokens,
                         (unsigned long long)report.bytes, (unsigned long long)report.end_token,
                         (unsigned)report.number_bytes);
}

/* export(output, parts, to, number_bytes, replace, progress) -> (documents, tokens, bytes, end token, bytes per id) */
static PyObject *text_export(PyObject *module, PyObject *args)
{
    struct leat_export_options o = LEAT_EXPORT_OPTIONS_INIT;
    PyObject *output = NULL, *given, *names = NULL, *progress, *result = NULL;
    unsigned number_bytes;
    const char **parts;
    size_t count;

    (void)module;
    if (!PyArg_ParseTuple(args, "O&OsIpO", args_path, &output, &given, &o.to, &number_bytes, &o.force, &progress))
        return NULL;
    o.number_bytes = number_bytes;
    parts = args_paths(given, &count, &names);
    if (parts)
        result = run_export(output ? PyBytes_AsString(output) : NULL, parts, count, &o, progress);
    Py_XDECREF(output);
    Py_XDECREF(names);
    PyMem_Free(parts);
    return result;
}

/* ---- adopt ---- */

/* What is taken of a tokenizer; `object` may be None. False: an exception is set. */
static bool take_tokenizer(PyObject *object, struct leat_tokenizer_info *facts, struct leat_stored_tokenizer *stored,
                           bool *given)
{
    struct text_tokenizer *t = object == Py_None ? NULL : text_tokenizer_of(object);

    *facts = (struct leat_tokenizer_info)LEAT_TOKENIZER_INFO_INIT;
    *given = t != NULL;
    if (t) {
        leat_tokenizer_info(t->tokenizer, facts);
        leat_tokenizer_stored(t->tokenizer, stored);
    }
    return t || object == Py_None;
}

#define INDEX_BYTES 4200 /* of a path, and .leat */

static PyObject *run_adopt(const char *name, struct leat_adopt_options *o, PyObject *function)
{
    struct leat_info info = LEAT_INFO_INIT;
    struct text_watch w = { .function = function };
    char index[INDEX_BYTES] = { 0 };
    struct leat_error err;
    enum leat_status s;

    o->index = index;
    o->index_capacity = sizeof index;
    o->progress = text_on_bytes;
    o->context = &w;
    pause_begin(&w.pause);
    s = leat_adopt(name, o, &info, &err);
    pause_end(&w.pause);
    if (!text_run_ended(w.raised, s, &err, name, s == LEAT_E_STOPPED))
        return NULL;
    return Py_BuildValue("yKK", index, (unsigned long long)info.documents, (unsigned long long)info.tokens);
}

/* adopt(name, output or None, tokenizer or None, end, replace, created, progress) -> (index, documents, tokens) */
static PyObject *text_adopt(PyObject *module, PyObject *args)
{
    struct leat_adopt_options o = LEAT_ADOPT_OPTIONS_INIT;
    PyObject *name = NULL, *output = NULL, *tokenizer, *progress, *result = NULL;
    struct leat_stored_tokenizer stored;
    struct leat_tokenizer_info facts;
    unsigned long long end, created;
    bool known;

    (void)module;
    if (!PyArg_ParseTuple(args, "O&O&OKpKO", args_path, &name, args_path, &output, &tokenizer, &end, &o.force, &created,
                          &progress))
        return NULL;
    o.end_token = end;
    o.created = created;
    o.output = output ? PyBytes_AsString(output) : NULL;
    if (take_tokenizer(tokenizer, &facts, &stored, &known)) {
        o.tokenizer = known ? &stored : NULL;
        o.fingerprint = known ? facts.fingerprint : NULL;
        o.vocabulary = facts.vocabulary;
        result = run_adopt(name ? PyBytes_AsString(name) : NULL, &o, progress);
    }
    Py_XDECREF(name);
    Py_XDECREF(output);
    return result;
}

static PyMethodDef functions[] = {
    { "export", text_export, METH_VARARGS, NULL },
    { "adopt", text_adopt, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

int text_foreign_register(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
