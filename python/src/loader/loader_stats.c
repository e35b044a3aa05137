/* loader_stats.c: see batch.h. */
#include "batch.h"

#include <string.h>

#include "loader/loader_fields.h"

static PyObject *times(const struct leat_times *t)
{
    return Py_BuildValue("{s:K,s:d,s:d,s:d,s:d,s:d}", "count", (unsigned long long)t->count, "mean",
                         (double)t->mean * 1e-9, "p50", (double)t->p50 * 1e-9, "p99", (double)t->p99 * 1e-9, "p999",
                         (double)t->p999 * 1e-9, "max", (double)t->max * 1e-9);
}

static PyObject *value_of(const struct loader_field *f, const struct leat_loader_stats *s)
{
    const char *at = (const char *)s + f->offset;
    uint64_t wide;
    uint32_t narrow;
    int32_t node;
    double share;

    switch (f->kind) {
    case COUNT64:
        memcpy(&wide, at, sizeof wide);
        return PyLong_FromUnsignedLongLong(wide);
    case SECONDS:
        memcpy(&wide, at, sizeof wide);
        return PyFloat_FromDouble((double)wide * 1e-9);
    case COUNT32:
        memcpy(&narrow, at, sizeof narrow);
        return PyLong_FromUnsignedLong(narrow);
    case NODE:
        memcpy(&node, at, sizeof node);
        return PyLong_FromLong(node < 0 ? -1 : node);
    case SHARE:
        memcpy(&share, at, sizeof share);
        return PyFloat_FromDouble(share);
    case TIMES:
        return times((const struct leat_times *)(const void *)at);
    default:
        return PyUnicode_DecodeFSDefault(at);
    }
}

/* As lines of stats_file have them, but all of them. */
static PyObject *sources(const struct leat_loader *loader, const struct leat_plan *plan)
{
    struct leat_plan_source_info info = LEAT_PLAN_SOURCE_INFO_INIT;
    PyObject *list = PyList_New(0);
    struct leat_loader_source some[256];
    uint64_t got = 0;

    for (uint64_t first = 0; list && (got = leat_loader_sources(loader, first, 256, some)) > 0; first += got)
        for (uint64_t i = 0; list && i < got; i++) {
            PyObject *item;

            leat_plan_source_info(plan, first + i, &info, NULL);
            item = Py_BuildValue("{s:N,s:d,s:K,s:K,s:K}", "name", args_text(info.name), "share", some[i].share, "rows",
                                 (unsigned long long)some[i].rows, "tokens", (unsigned long long)some[i].tokens,
                                 "loss_tokens", (unsigned long long)some[i].loss_tokens);
            if (!item || PyList_Append(list, item) < 0)
                Py_CLEAR(list);
            Py_XDECREF(item);
        }
    return list;
}

static int add(PyObject *dict, const char *name, PyObject *value)
{
    int r = value ? PyDict_SetItemString(dict, name, value) : -1;

    Py_XDECREF(value);
    return r;
}

PyObject *loader_stats_dict(const struct leat_loader *loader, const struct leat_plan *plan)
{
    struct leat_loader_stats s = LEAT_LOADER_STATS_INIT;
    PyObject *result = PyDict_New();

    leat_loader_stats(loader, &s);
    for (size_t i = 0; result && i < LOADER_FIELDS; i++)
        if (add(result, loader_fields[i].name, value_of(&loader_fields[i], &s)) < 0)
            Py_CLEAR(result);
    if (result && add(result, "sources", sources(loader, plan)) < 0)
        Py_CLEAR(result);
    return result;
}
