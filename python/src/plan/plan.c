/* plan.c: leat._leat.Plan. A plan never changes and stays open as long as its object, so methods call the library
 * without a lock. samples() may compute very many samples, so it releases the GIL and returns the bytes of all
 * struct leat_sample in one Array; numpy reads them by the offsets of sample_fields(). The Dataset of a source
 * belongs to the plan: its handle closes nothing, and keeps the plan open. */
#include "plan.h"

#include <stdlib.h>

#include "core/array.h"
#include "core/pause.h"
#include "dataset/dataset.h"

/* ---- Facts ---- */

static PyObject *plan_text(PyObject *self, PyObject *unused)
{
    PyObject *result = NULL;
    struct leat_error err;
    uint64_t bytes = 0;
    enum leat_status s = leat_plan_text(plan_of(self), NULL, 0, &bytes, &err);
    char *text = s == LEAT_OK ? PyMem_Malloc((size_t)bytes + 1) : NULL;

    (void)unused;
    if (text)
        s = leat_plan_text(plan_of(self), text, (size_t)bytes + 1, &bytes, &err);
    if (s != LEAT_OK)
        errors_raise(&err);
    else
        result = text ? args_text_n(text, bytes) : PyErr_NoMemory();
    PyMem_Free(text);
    return result;
}

#define NUMBER(member) FIELD_ROW(FIELD_NUMBER, leat_plan_info, member)
#define MAYBE(member)  FIELD_ROW(FIELD_MAYBE, leat_plan_info, member)
static const struct field facts[] = {
    NUMBER(sources),       NUMBER(phases),        MAYBE(samples),
    MAYBE(positions),      NUMBER(seed),          NUMBER(seq_len),
    NUMBER(max_seq_len),   NUMBER(base_len),      NUMBER(permutation_version),
    NUMBER(blend_version), NUMBER(split_version), NUMBER(token_width),
    NUMBER(align),         NUMBER(overlap),       NUMBER(max_tokens),
    NUMBER(max_rows),      NUMBER(pool),          NUMBER(stretch),
    NUMBER(mix),           NUMBER(lanes),
};
#undef NUMBER

static PyObject *plan_info(PyObject *self, PyObject *unused)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    PyObject *dict, *order;

    (void)unused;
    leat_plan_info(plan_of(self), &info);
    dict = fields_dict(FIELDS(facts), &info);
    order = dict ? PyUnicode_FromString(leat_order_name(info.order)) : NULL;
    if (!order || PyDict_SetItemString(dict, "order", order) < 0)
        Py_CLEAR(dict);
    Py_XDECREF(order);
    return dict;
}

/* source(number): Returns (name, blocks, tokens, dropped, weight, epochs, Dataset, documents, left_out, cut). The last
 * three are None for other orders than fit. */
static PyObject *plan_source(PyObject *self, PyObject *args)
{
    struct leat_plan_source_info i = LEAT_PLAN_SOURCE_INFO_INIT;
    struct handle *handle;
    struct leat_error err;
    PyObject *dataset;
    uint64_t number;

    if (!PyArg_ParseTuple(args, "O&:source", args_u64, &number))
        return NULL;
    if (leat_plan_source_info(plan_of(self), number, &i, &err) != LEAT_OK)
        return errors_raise(&err);
    /* The handle closes nothing, because the plan owns the dataset. */
    handle = handle_make((void *)(uintptr_t)i.dataset, NULL);
    if (!handle || !handle_needs(handle, ((struct plan *)(void *)self)->handle)) {
        handle_drop(handle);
        return PyErr_NoMemory();
    }
    dataset = dataset_wrap(handle);
    handle_drop(handle);
    if (!dataset)
        return NULL;
    return Py_BuildValue("(NKKKKKNNNN)", args_text(i.name), (unsigned long long)i.blocks, (unsigned long long)i.tokens,
                         (unsigned long long)i.dropped, (unsigned long long)i.weight, (unsigned long long)i.epochs,
                         dataset, args_number(i.documents), args_number(i.left_out), args_number(i.cut));
}

#define NUMBER(member) FIELD_ROW(FIELD_NUMBER, leat_fit_report, member)
static const struct field fit_facts[] = {
    NUMBER(documents),  NUMBER(predictions), NUMBER(empty),    NUMBER(rows),   NUMBER(full_rows), NUMBER(pieces),
    NUMBER(max_pieces), NUMBER(patterns),    NUMBER(padding),  NUMBER(cut),    NUMBER(lost),      NUMBER(window_rows),
    NUMBER(window_cut), NUMBER(window_lost), NUMBER(left_out), NUMBER(unused), NUMBER(context),
};

/* fit_report(source, seq_len): Returns how rows of whole documents of a length compare with windows. */
static PyObject *plan_fit_report(PyObject *self, PyObject *args)
{
    struct leat_fit_report r = LEAT_FIT_REPORT_INIT;
    uint64_t source, seq_len;
    struct leat_error err;
    enum leat_status s;

    if (!PyArg_ParseTuple(args, "O&O&:fit_report", args_u64, &source, args_u64, &seq_len))
        return NULL;
    ARGS_UNLOCKED(s = leat_plan_fit_report(plan_of(self), source, seq_len, &r, &err));
    return s == LEAT_OK ? fields_dict(FIELDS(fit_facts), &r) : errors_raise(&err);
}

/* ---- Samples ---- */

PyObject *plan_sample_tuple(const struct leat_plan *plan, const struct leat_sample *x)
{
    struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;
    struct leat_piece piece = { .document = LEAT_NONE };
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_error err;
    uint64_t count;
    struct leat_piece *pieces = calloc((size_t)x->pieces + 1, sizeof *pieces);
    enum leat_status s;

    if (!pieces)
        return PyErr_NoMemory();
    s = leat_plan_pieces(plan, x, 1, pieces, &err);
    if (s == LEAT_OK && x->pieces > 0)
        piece = pieces[0]; /* the first piece of the row */
    free(pieces);
    if (s == LEAT_OK)
        s = leat_plan_source_info(plan, piece.source, &source, &err);
    if (s == LEAT_OK)
        leat_dataset_info(source.dataset, &info);
    if (s == LEAT_OK && piece.document == LEAT_NONE && info.documents != LEAT_NONE)
        s = leat_dataset_documents_in(source.dataset, piece.token, 1, &piece.document, &count, &err);
    if (s != LEAT_OK)
        return errors_raise(&err);
    return ARGS_TUPLE(x->number, x->source, x->window, piece.document, x->offset, x->part, x->epoch, x->length,
                      x->block, x->token);
}

/* banned(source, document, n): Returns True if the document is banned in sample n. */
static PyObject *plan_banned(PyObject *self, PyObject *args)
{
    uint64_t source, document, n;

    if (!PyArg_ParseTuple(args, "O&O&O&:banned", args_u64, &source, args_u64, &document, args_u64, &n))
        return NULL;
    return PyBool_FromLong((long)leat_plan_banned(plan_of(self), source, document, n));
}

static PyObject *plan_sample(PyObject *self, PyObject *args)
{
    struct leat_sample sample;
    struct leat_error err;
    uint64_t number;

    if (!PyArg_ParseTuple(args, "O&:sample", args_u64, &number))
        return NULL;
    if (leat_plan_sample(plan_of(self), number, &sample, &err) != LEAT_OK)
        return errors_raise(&err);
    return plan_sample_tuple(plan_of(self), &sample);
}

/* samples(position, count): Returns an Array with the bytes of each struct leat_sample, which sample_fields()
 * describes. */
static PyObject *plan_samples(PyObject *self, PyObject *args)
{
    struct array_shape a = { .dimensions = 2, .kind = ARRAY_UNSIGNED, .bytes = 1, .writable = 1 };
    struct handle *memory;
    struct leat_error err;
    uint64_t position, count, got;
    PyObject *result;
    enum leat_status s;

    if (!PyArg_ParseTuple(args, "O&O&:samples", args_u64, &position, args_u64, &count))
        return NULL;
    memory = count < SIZE_MAX / 4 / sizeof(struct leat_sample)
                 ? memory_make(NULL, (size_t)count * sizeof(struct leat_sample))
                 : NULL;
    if (!memory)
        return PyErr_NoMemory();
    ARGS_UNLOCKED(s = leat_plan_samples(plan_of(self), position, count, handle_object(memory), &got, &err));
    if (s == LEAT_OK) {
        a.data = handle_object(memory);
        a.shape[0] = (int64_t)got;
        a.shape[1] = sizeof(struct leat_sample);
    }
    result = s == LEAT_OK ? array_make(memory, &a) : errors_raise(&err);
    handle_drop(memory);
    return result;
}

#define FIELD(name, member)                                                                                            \
    name, (int)offsetof(struct leat_sample, member), (int)sizeof(((struct leat_sample *)0)->member)

/* sample_fields(): Returns (name, offset, bytes) for each field of a sample. */
static PyObject *plan_sample_fields(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return Py_BuildValue("[(sii)(sii)(sii)(sii)(sii)(sii)(sii)(sii)(sii)(sii)]", FIELD("n", number),
                         FIELD("source", source), FIELD("window", window), FIELD("offset", offset), FIELD("part", part),
                         FIELD("epoch", epoch), FIELD("length", length), FIELD("block", block), FIELD("token", token),
                         FIELD("slice", slice));
}

static PyObject *plan_number(PyObject *self, PyObject *args)
{
    uint64_t position;

    if (!PyArg_ParseTuple(args, "O&:number", args_u64, &position))
        return NULL;
    return PyLong_FromUnsignedLongLong(leat_plan_number(plan_of(self), position));
}

/* position(n): Returns (position, whether n is skipped). */
static PyObject *plan_position(PyObject *self, PyObject *args)
{
    uint64_t number, position;
    uint32_t skipped;

    if (!PyArg_ParseTuple(args, "O&:position", args_u64, &number))
        return NULL;
    position = leat_plan_position(plan_of(self), number, &skipped);
    return Py_BuildValue("(KO)", (unsigned long long)position, skipped ? Py_True : Py_False);
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
    t->no_memory = !GROW(t->found, t->found_count + 1, t->room);
    if (t->no_memory)
        return 1;
    t->found[t->found_count++] = *sample;
    return atomic_load(&t->call.stop);
}

static int compare_numbers(const void *a, const void *b)
{
    const struct leat_sample *x = a, *y = b;

    return x->number < y->number ? -1 : x->number > y->number;
}

static void trace_samples(void *context)
{
    struct tracing *t = context;

    t->status = leat_plan_trace(
        t->plan,
        &(struct leat_trace) { sizeof(struct leat_trace), t->source, t->first, t->count, t->epochs, 0, t->until },
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

/* trace(source, first, count, epochs, until): Returns tuples of the samples that show these tokens, sorted by
 * number. */
static PyObject *plan_trace(PyObject *self, PyObject *args)
{
    struct tracing t = { .plan = plan_of(self) };
    PyObject *result = NULL;

    if (!PyArg_ParseTuple(args, "O&O&O&O&O&:trace", args_u64, &t.source, args_u64, &t.first, args_u64, &t.count,
                          args_u64_or_none, &t.epochs, args_u64_or_none, &t.until))
        return NULL;
    t.call = (struct pause_work) { .work = trace_samples, .context = &t };
    if (pause_run(&t.call) == 0) {
        if (t.no_memory)
            PyErr_NoMemory();
        else
            result = t.status == LEAT_OK ? list_found(&t) : errors_raise(&t.err);
    }
    free(t.found);
    return result;
}

/* ---- States ---- */

static PyObject *plan_state_save(PyObject *self, PyObject *args)
{
    struct leat_plan_state state = LEAT_PLAN_STATE_INIT;
    char text[LEAT_PLAN_STATE_BYTES];
    struct leat_error err;

    if (!PyArg_ParseTuple(args, "O&O&:state_save", args_u64, &state.position, args_u64, &state.damaged))
        return NULL;
    if (leat_plan_state_save(plan_of(self), &state, text, &err) != LEAT_OK)
        return errors_raise(&err);
    return PyUnicode_FromString(text);
}

/* state_load(text): Returns (position, damaged, skipped). */
static PyObject *plan_state_load(PyObject *self, PyObject *args)
{
    struct leat_plan_state state = LEAT_PLAN_STATE_INIT;
    struct leat_error err;
    const char *text;
    Py_ssize_t bytes;

    if (!PyArg_ParseTuple(args, "s#:state_load", &text, &bytes))
        return NULL;
    if (leat_plan_state_load(plan_of(self), text, (size_t)bytes, &state, &err) != LEAT_OK)
        return errors_raise(&err);
    return ARGS_TUPLE(state.position, state.damaged, state.skipped);
}

/* ---- The module ---- */

static PyMethodDef methods[] = {
    { "text", plan_text, METH_NOARGS, NULL },
    { "info", plan_info, METH_NOARGS, NULL },
    { "source", plan_source, METH_VARARGS, NULL },
    { "sample", plan_sample, METH_VARARGS, NULL },
    { "samples", plan_samples, METH_VARARGS, NULL },
    { "pieces", plan_pieces, METH_VARARGS, NULL },
    { "reorder", plan_reorder, METH_VARARGS, NULL },
    { "by_tokens", plan_by_tokens, METH_VARARGS, NULL },
    { "change", plan_change, METH_VARARGS, NULL },
    { "change_text", plan_change_text, METH_VARARGS, NULL },
    { "change_place", plan_change_place, METH_VARARGS, NULL },
    { "ban", plan_ban, METH_VARARGS, NULL },
    { "banned", plan_banned, METH_VARARGS, NULL },
    { "number", plan_number, METH_VARARGS, NULL },
    { "position", plan_position, METH_VARARGS, NULL },
    { "trace", plan_trace, METH_VARARGS, NULL },
    { "rows", plan_rows, METH_VARARGS, NULL },
    { "labels_apart", plan_labels_apart, METH_NOARGS, NULL },
    { "rows_apart", plan_rows_apart, METH_VARARGS, NULL },
    { "fit_report", plan_fit_report, METH_VARARGS, NULL },
    { "state_save", plan_state_save, METH_VARARGS, NULL },
    { "state_load", plan_state_load, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyMethodDef functions[] = {
    { "open_plan", plan_open, METH_VARARGS, NULL },
    { "parse_plan", plan_parse, METH_VARARGS, NULL },
    { "sample_fields", plan_sample_fields, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL },
};

/* Adds ORDERS, the names of the orders; the index of a name is the order's number. */
static int add_orders(PyObject *module)
{
    PyObject *names = PyList_New(0), *tuple;
    int added = names ? 0 : -1;

    for (unsigned i = 0; added == 0 && leat_order_name((enum leat_order)i); i++) {
        PyObject *name = PyUnicode_FromString(leat_order_name((enum leat_order)i));

        added = name ? PyList_Append(names, name) : -1;
        Py_XDECREF(name);
    }
    tuple = added == 0 ? PyList_AsTuple(names) : NULL;
    Py_XDECREF(names);
    added = tuple ? PyModule_AddObjectRef(module, "ORDERS", tuple) : -1;
    Py_XDECREF(tuple);
    return added;
}

int plan_register(PyObject *module)
{
    if (add_orders(module) < 0)
        return -1;
    return plan_add_type(module, methods) < 0 ? -1 : PyModule_AddFunctions(module, functions);
}
