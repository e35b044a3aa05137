/* plan_rows.c: rows at any positions of a plan, without a loader, for datasets that are indexed by number. Where each
 * label is the next input, a row is one array of length + 1 tokens; plan_apart.c has those of other plans. */
#include <stdlib.h>

#include "core/args.h"
#include "core/array.h"
#include "core/memory.h"
#include "plan.h"

static enum leat_status no_memory(uint64_t count, const char *what, struct leat_error *err)
{
    err->status = LEAT_E_NO_MEMORY;
    snprintf(err->message, sizeof err->message, "no memory for a row of %llu %s", (unsigned long long)count, what);
    return LEAT_E_NO_MEMORY;
}

/* A row is one array of inputs and labels, so each piece must go on where the one before it ends: a label of its own
 * would stand where the next piece's first token does. */
static enum leat_status check_pieces(const struct leat_sample *x, const struct leat_piece *pieces, uint64_t count,
                                     struct leat_error *err)
{
    uint64_t at = 0, i = 0;

    for (; i < count && pieces[i].at == at; i++)
        at += pieces[i].count;
    if (i == count && at == x->tokens)
        return LEAT_OK;
    err->status = LEAT_E_UNSUPPORTED;
    snprintf(err->message, sizeof err->message,
             "sample %llu has pieces that bring labels of their own; a row of tokens has no room for them",
             (unsigned long long)x->number);
    return LEAT_E_UNSUPPORTED;
}

/* The tokens of a sample's pieces, each at its place. */
static enum leat_status read_pieces(const struct leat_plan *plan, const struct leat_sample *x, uint32_t *ids,
                                    struct leat_error *err)
{
    struct leat_piece *pieces = calloc((size_t)x->pieces + 1, sizeof *pieces);
    enum leat_status s;
    uint64_t count = 0;

    if (!pieces)
        return no_memory(x->pieces, "pieces", err);
    s = leat_plan_pieces(plan, x->number, pieces, x->pieces, &count, err);
    if (s == LEAT_OK)
        s = check_pieces(x, pieces, count, err);
    for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
        struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;

        s = leat_plan_source_info(plan, pieces[i].source, &source, err);
        if (s == LEAT_OK)
            s = leat_dataset_read_u32(source.dataset, pieces[i].token, pieces[i].count, ids + pieces[i].at, err);
    }
    free(pieces);
    return s;
}

/* The tokens of one sample, widened. */
static enum leat_status read_row(const struct leat_plan *plan, const struct leat_sample *x, unsigned number_bytes,
                                 uint32_t *ids, char *to, struct leat_error *err)
{
    enum leat_status s = read_pieces(plan, x, number_bytes == 4 ? (uint32_t *)(void *)to : ids, err);

    if (s != LEAT_OK || number_bytes == 4)
        return s;
    for (uint64_t i = 0; i < x->tokens; i++)
        ((int64_t *)(void *)to)[i] = ids[i];
    return LEAT_OK;
}

static enum leat_status read_rows(const struct leat_plan *plan, const struct leat_sample *samples, size_t count,
                                  unsigned number_bytes, char *to, struct leat_error *err)
{
    size_t width = (size_t)samples[0].length + 1;
    uint32_t *ids = malloc(width * sizeof *ids);
    enum leat_status s = LEAT_OK;

    if (!ids)
        return no_memory(width, "tokens", err);
    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        s = read_row(plan, &samples[i], number_bytes, ids, to + i * width * number_bytes, err);
    free(ids);
    return s;
}

struct leat_sample *plan_find_samples(const struct leat_plan *plan, PyObject *positions, size_t count)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    struct leat_sample *samples = malloc((count + 1) * sizeof *samples);
    struct leat_error err;

    if (!samples)
        return PyErr_NoMemory(), NULL;
    leat_plan_info(plan, &info);
    for (size_t i = 0; i < count; i++) {
        uint64_t position, got = 0;

        if (!args_u64(PyList_GetItem(positions, (Py_ssize_t)i), &position))
            break;
        if (leat_plan_samples(plan, position, 1, &samples[i], &got, &err) != LEAT_OK)
            errors_raise(&err, NULL);
        else if (got == 0)
            PyErr_Format(PyExc_IndexError, "the plan ends before position %llu", (unsigned long long)position);
        else if (samples[i].length != samples[0].length && info.order != LEAT_ORDER_FIT)
            PyErr_SetString(PyExc_ValueError, "the samples at these positions differ in length");
        if (PyErr_Occurred())
            break;
    }
    if (!PyErr_Occurred())
        return samples;
    free(samples);
    return NULL;
}

/* rows(positions, number_bytes): an Array of count x (length + 1) signed numbers. */
PyObject *plan_rows(PyObject *self, PyObject *args)
{
    struct array_shape a = { .dimensions = 2, .kind = ARRAY_SIGNED, .writable = 1 };
    struct handle *memory = NULL;
    struct leat_sample *samples;
    PyObject *positions, *result = NULL;
    struct leat_error err;
    enum leat_status s;
    size_t count;

    if (!PyArg_ParseTuple(args, "O!I:rows", &PyList_Type, &positions, &a.bytes))
        return NULL;
    count = (size_t)PyList_Size(positions);
    if (count == 0 || (a.bytes != 4 && a.bytes != 8))
        return PyErr_SetString(PyExc_ValueError, "missing positions, or a width other than 4 or 8"), NULL;
    samples = plan_find_samples(plan_of(self), positions, count);
    if (!samples)
        return NULL;
    a.shape[0] = (int64_t)count;
    a.shape[1] = (int64_t)samples[0].length + 1;
    if (count < SIZE_MAX / 16 / (size_t)a.shape[1])
        memory = memory_make(NULL, count * (size_t)a.shape[1] * a.bytes);
    if (memory) {
        a.data = handle_thing(memory);
        ARGS_UNLOCKED(s = read_rows(plan_of(self), samples, count, a.bytes, a.data, &err));
        result = s == LEAT_OK ? array_make(memory, &a) : errors_raise(&err, NULL);
    } else {
        PyErr_NoMemory();
    }
    handle_drop(memory);
    free(samples);
    return result;
}
