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
    case SHARE:
        memcpy(&share, at, sizeof share);
        return PyFloat_FromDouble(share);
    case TIMES:
        return times((const struct leat_times *)(const void *)at);
    default:
        return PyUnicode_DecodeFSDefault(at);
    }
}

PyObject *loader_stats_dict(const struct leat_loader *loader)
{
    struct leat_loader_stats s = LEAT_LOADER_STATS_INIT;
    PyObject *result = PyDict_New();

    leat_loader_stats(loader, &s);
    for (size_t i = 0; result && i < LOADER_FIELDS; i++) {
        PyObject *value = value_of(&loader_fields[i], &s);

        if (!value || PyDict_SetItemString(result, loader_fields[i].name, value) < 0)
            Py_CLEAR(result);
        Py_XDECREF(value);
    }
    return result;
}
