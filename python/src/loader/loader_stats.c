/* loader_stats.c: see loader_stats.h. */
#include "loader_stats.h"

#include <string.h>

enum kind { COUNT64, COUNT32, SECONDS, SHARE, TIMES, TEXT };

struct field {
    const char *name;
    enum kind kind;
    size_t offset;
};

#define FIELD(name, kind, member)                                                                                      \
    {                                                                                                                  \
        name, kind, offsetof(struct leat_loader_stats, member)                                                         \
    }
static const struct field fields[] = {
    FIELD("batches", COUNT64, batches),
    FIELD("rows", COUNT64, rows),
    FIELD("tokens", COUNT64, tokens),
    FIELD("bytes", COUNT64, bytes),
    FIELD("read_bytes", COUNT64, read_bytes),
    FIELD("reads", COUNT64, reads),
    FIELD("hits", COUNT64, hits),
    FIELD("pages_verified", COUNT64, pages_verified),
    FIELD("rows_damaged", COUNT64, rows_damaged),
    FIELD("warmed_bytes", COUNT64, warmed_bytes),
    FIELD("next", TIMES, next),
    FIELD("order", SECONDS, order_ns),
    FIELD("gather", SECONDS, gather_ns),
    FIELD("storage", SECONDS, storage_ns),
    FIELD("documents", SECONDS, documents_ns),
    FIELD("outputs", SECONDS, outputs_ns),
    FIELD("copy", SECONDS, copy_ns),
    FIELD("slot", SECONDS, slot_ns),
    FIELD("consumer", SECONDS, consumer_ns),
    FIELD("waiting_share", SHARE, waiting_share),
    FIELD("waiting_share_all", SHARE, waiting_share_all),
    FIELD("first_batch", SECONDS, first_batch_ns),
    FIELD("ring_bytes", COUNT64, ring_bytes),
    FIELD("slots", COUNT32, slots),
    FIELD("reads_in_flight", COUNT32, reads_in_flight),
    FIELD("huge_pages", COUNT32, huge_pages),
    FIELD("warming", COUNT32, warming),
    FIELD("copied_bytes", COUNT64, copied_bytes),
    FIELD("unregistered", COUNT32, unregistered),
    FIELD("caching", COUNT32, caching),
    FIELD("remote_requests", COUNT64, remote_requests),
    FIELD("remote_retries", COUNT64, remote_retries),
    FIELD("remote_bytes", COUNT64, remote_bytes),
    FIELD("remote_share", SHARE, remote_share),
    FIELD("cached_bytes", COUNT64, cached_bytes),
    FIELD("cache_bytes", COUNT64, cache_bytes),
    FIELD("evicted_bytes", COUNT64, evicted_bytes),
    FIELD("cache_failed", COUNT32, cache_failed),
    FIELD("device_ring_bytes", COUNT64, device_ring_bytes),
    FIELD("device_memory_used", SHARE, device_memory_used),
    FIELD("unpinned", COUNT32, unpinned),
    FIELD("slots_wanted", COUNT32, slots_wanted),
    FIELD("engine", TEXT, engine),
    FIELD("device", TEXT, device),
};

static PyObject *times(const struct leat_times *t)
{
    return Py_BuildValue("{s:K,s:d,s:d,s:d,s:d,s:d}", "count", (unsigned long long)t->count, "mean",
                         (double)t->mean * 1e-9, "p50", (double)t->p50 * 1e-9, "p99", (double)t->p99 * 1e-9, "p999",
                         (double)t->p999 * 1e-9, "max", (double)t->max * 1e-9);
}

static PyObject *value_of(const struct field *f, const struct leat_loader_stats *s)
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
    for (size_t i = 0; result && i < sizeof fields / sizeof *fields; i++) {
        PyObject *value = value_of(&fields[i], &s);

        if (!value || PyDict_SetItemString(result, fields[i].name, value) < 0)
            Py_CLEAR(result);
        Py_XDECREF(value);
    }
    return result;
}
