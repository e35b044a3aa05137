/* plan_sample.c: samples as tuples, and the search for those that show a document. */
#include <stdlib.h>

#include "core/args.h"
#include "core/pause.h"
#include "plan.h"

PyObject *plan_sample_tuple(const struct leat_plan *plan, const struct leat_sample *x)
{
    struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;
    struct leat_piece piece = { .document = LEAT_NONE }; /* the row's first */
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_error err;
    uint64_t count;
    enum leat_status s = leat_plan_pieces(plan, x->number, &piece, 1, &count, &err);

    if (s == LEAT_OK)
        s = leat_plan_source_info(plan, piece.source, &source, &err);
    if (s == LEAT_OK)
        leat_dataset_info(source.dataset, &info);
    if (s == LEAT_OK && piece.document == LEAT_NONE && info.documents != LEAT_NONE)
        s = leat_dataset_documents_in(source.dataset, piece.token, 1, &piece.document, &count, &err);
    if (s != LEAT_OK)
        return errors_raise(&err, source.name);
    return Py_BuildValue("(KIKNKIKIKK)", (unsigned long long)x->number, x->source, (unsigned long long)x->window,
                         args_number(piece.document), (unsigned long long)x->offset, x->part,
                         (unsigned long long)x->epoch, x->length, (unsigned long long)x->block,
                         (unsigned long long)x->token);
}

/* pieces(n): a list of (source, part, token, count, at, document or None), in the order of sample n's row */
PyObject *plan_pieces(PyObject *self, PyObject *args)
{
    struct leat_piece *pieces = NULL;
    uint64_t number, count, room;
    PyObject *list = NULL;
    struct leat_error err;
    enum leat_status s;

    if (!PyArg_ParseTuple(args, "O&:pieces", args_u64, &number))
        return NULL;
    s = leat_plan_pieces(plan_of(self), number, NULL, 0, &room, &err);
    if (s == LEAT_OK && !(pieces = calloc((size_t)room + 1, sizeof *pieces)))
        return PyErr_NoMemory();
    if (s == LEAT_OK)
        s = leat_plan_pieces(plan_of(self), number, pieces, room, &count, &err);
    if (s == LEAT_OK)
        list = PyList_New((Py_ssize_t)count);
    else
        errors_raise(&err, NULL);
    for (uint64_t i = 0; list && i < count; i++) {
        const struct leat_piece *p = &pieces[i];
        PyObject *item = Py_BuildValue("(IIKIIN)", p->source, p->part, (unsigned long long)p->token, p->count, p->at,
                                       args_number(p->document));

        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0)
            Py_CLEAR(list);
    }
    free(pieces);
    return list;
}

/* ---- Which samples show this ---- */

struct tracing {
    struct pause_work call;
    const struct leat_plan *plan;
    uint64_t source, first, count, epochs, until;
    struct leat_sample *found;
    size_t found_count, room;
    int no_memory;
    enum leat_status status;
    struct leat_error err;
};

static uint32_t add_found(void *context, const struct leat_sample *sample)
{
    struct tracing *t = context;
    uint32_t skipped;

    leat_plan_position(t->plan, sample->number, &skipped);
    if (skipped)
        return atomic_load(&t->call.stop);
    if (t->found_count == t->room) {
        size_t room = t->room ? 2 * t->room : 64;
        struct leat_sample *found = realloc(t->found, room * sizeof *found);

        t->no_memory = !found;
        if (!found)
            return 1;
        t->found = found;
        t->room = room;
    }
    t->found[t->found_count++] = *sample;
    return atomic_load(&t->call.stop);
}

static int compare_numbers(const void *a, const void *b)
{
    const struct leat_sample *x = a, *y = b;

    return x->number < y->number ? -1 : x->number > y->number;
}

static void work(void *context)
{
    struct tracing *t = context;

    t->status = leat_plan_trace(t->plan, &(struct leat_trace) { t->source, t->first, t->count, t->epochs, 0, t->until },
                                add_found, t, &t->err);
    if (t->found_count > 0)
        qsort(t->found, t->found_count, sizeof *t->found, compare_numbers);
}

static PyObject *list_found(const struct tracing *t)
{
    PyObject *list = PyList_New((Py_ssize_t)t->found_count);

    for (size_t i = 0; list && i < t->found_count; i++) {
        PyObject *tuple = plan_sample_tuple(t->plan, &t->found[i]);

        if (!tuple || PyList_SetItem(list, (Py_ssize_t)i, tuple) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* trace(source, first, count, epochs, until): tuples of the samples that show these tokens, by their numbers */
PyObject *plan_trace(PyObject *self, PyObject *args)
{
    struct tracing t = { .plan = plan_of(self) };
    PyObject *result = NULL;

    if (!PyArg_ParseTuple(args, "O&O&O&O&O&:trace", args_u64, &t.source, args_u64, &t.first, args_u64, &t.count,
                          args_u64_or_none, &t.epochs, args_u64_or_none, &t.until))
        return NULL;
    t.call = (struct pause_work) { .work = work, .context = &t };
    if (pause_run(&t.call) == 0) {
        if (t.no_memory)
            PyErr_NoMemory();
        else
            result = t.status == LEAT_OK ? list_found(&t) : errors_raise(&t.err, NULL);
    }
    free(t.found);
    return result;
}
