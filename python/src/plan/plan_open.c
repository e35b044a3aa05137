/*
 * plan_open.c: opens a plan, from sources, phases and skips as tuples, or from a plan's text.
 *
 * The options point at Python's bytes until the plan is open: struct plan_parts keeps them alive. Each list of
 * tuples is read into an array of the library's structs by a function per kind of tuple. Datasets that Python has
 * open are passed by their handles, and the plan's handle keeps them open.
 */
#include "dataset/dataset.h"
#include "plan.h"

/* The memory that the options point at until the plan is open. */
struct plan_parts {
    struct leat_plan_source *sources;
    struct leat_plan_phase *phases;
    struct leat_plan_range *skips;
    PyObject *strings; /* a list of the bytes objects that the options point at */
};

static void parts_free(struct plan_parts *p)
{
    PyMem_Free(p->sources);
    PyMem_Free(p->phases);
    PyMem_Free(p->skips);
    Py_XDECREF(p->strings);
}

/* Gets the text of a str, or NULL for None. It lives as long as the parts. Returns false with an exception set on
 * failure. */
static int keep_text(struct plan_parts *p, PyObject *object, const char **text)
{
    PyObject *bytes;
    int kept;

    *text = NULL;
    if (object == Py_None)
        return 1;
    if (!PyUnicode_FSConverter(object, &bytes))
        return 0;
    kept = PyList_Append(p->strings, bytes) == 0;
    *text = PyBytes_AsString(bytes);
    Py_DECREF(bytes);
    return kept;
}

#define FIT(type, member) FIELD_INSIDE(FIELD_NUMBER, type, fit, member)
#define FIT_ROWS(type)                                                                                                 \
    FIT(type, max_per_row), FIT(type, min_length), FIT(type, max_length), FIT(type, cut_length), FIT(type, align),     \
        FIT(type, overlap), FIT(type, begin), FIT(type, whole)
static const struct field rules[] = { FIT_ROWS(leat_plan_source), FIELD_ROW(FIELD_TEXT, leat_plan_source, where),
                                      FIELD_ROW(FIELD_TEXT, leat_plan_source, repeat) };

/* Reads (name, weight, epochs, dataset or None, dict of rules). */
static int take_source(struct plan_parts *p, PyObject *tuple, struct leat_plan_source *source)
{
    PyObject *name, *weight, *dataset, *given;
    struct handle *handle;

    *source = (struct leat_plan_source)LEAT_PLAN_SOURCE_INIT;
    if (!PyArg_ParseTuple(tuple, "OOO&OO!:source", &name, &weight, args_u64, &source->epochs, &dataset, &PyDict_Type,
                          &given) ||
        !keep_text(p, name, &source->name) || !keep_text(p, weight, &source->weight) ||
        !fields_set(FIELDS(rules), source, given))
        return 0;
    if (dataset == Py_None)
        return 1;
    handle = dataset_handle(dataset);
    source->dataset = handle ? handle_object(handle) : NULL;
    return handle != NULL;
}

/* Reads (begin, weights, seq_len). */
static int take_phase(struct plan_parts *p, PyObject *tuple, struct leat_plan_phase *phase)
{
    PyObject *weights;

    *phase = (struct leat_plan_phase)LEAT_PLAN_PHASE_INIT;
    return PyArg_ParseTuple(tuple, "O&OO&:phase", args_u64, &phase->begin, &weights, args_u64, &phase->seq_len) &&
           keep_text(p, weights, &phase->weights);
}

static int take_lists(struct plan_parts *p, struct leat_plan_options *o, PyObject *sources, PyObject *phases,
                      PyObject *skips)
{
    o->source_count = (size_t)PyList_Size(sources);
    o->phase_count = (size_t)PyList_Size(phases);
    o->skip_count = (size_t)PyList_Size(skips);
    p->strings = PyList_New(0);
    p->sources = PyMem_Malloc((o->source_count + 1) * sizeof *p->sources);
    p->phases = PyMem_Malloc((o->phase_count + 1) * sizeof *p->phases);
    p->skips = PyMem_Malloc((o->skip_count + 1) * sizeof *p->skips);
    if (!p->strings || !p->sources || !p->phases || !p->skips) {
        PyErr_NoMemory();
        return 0;
    }
    for (size_t i = 0; i < o->source_count; i++)
        if (!take_source(p, PyList_GetItem(sources, (Py_ssize_t)i), &p->sources[i]))
            return 0;
    for (size_t i = 0; i < o->phase_count; i++)
        if (!take_phase(p, PyList_GetItem(phases, (Py_ssize_t)i), &p->phases[i]))
            return 0;
    for (size_t i = 0; i < o->skip_count; i++)
        if (!PyArg_ParseTuple(PyList_GetItem(skips, (Py_ssize_t)i), "O&O&:skip", args_u64, &p->skips[i].first, args_u64,
                              &p->skips[i].end))
            return 0;
    o->sources = p->sources;
    o->phases = p->phases;
    o->skips = p->skips;
    return 1;
}

static void close_plan(void *plan)
{
    leat_plan_close(plan);
}

/* Lets a plan's handle keep open the datasets that Python had open. */
static int needs_datasets(struct handle *handle, PyObject *sources)
{
    Py_ssize_t count = sources ? PyList_Size(sources) : 0;

    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *dataset = PyTuple_GetItem(PyList_GetItem(sources, i), 3);

        if (dataset != Py_None && !handle_needs(handle, dataset_handle(dataset)))
            return 0;
    }
    return 1;
}

static PyObject *wrap(struct leat_plan *plan, PyObject *sources)
{
    struct handle *handle = handle_make(plan, close_plan);

    if (!handle)
        return PyErr_NoMemory();
    if (!needs_datasets(handle, sources)) {
        handle_drop(handle);
        return PyErr_NoMemory();
    }
    return plan_wrap(handle);
}

#define NUMBER(member)    FIELD_ROW(FIELD_NUMBER, leat_plan_options, member)
#define TEXT(member)      FIELD_ROW(FIELD_TEXT, leat_plan_options, member)
#define FIM(kind, member) FIELD_INSIDE(FIELD_##kind, leat_plan_options, fim, member)
static const struct field options[] = {
    NUMBER(seq_len),
    NUMBER(base_len),
    NUMBER(seed),
    NUMBER(order),
    NUMBER(epochs),
    FIT_ROWS(leat_plan_options),
    FIELD_INSIDE(FIELD_NUMBER, leat_plan_options, megatron, samples),
    TEXT(split),
    TEXT(use),
    FIELD_INSIDE(FIELD_TEXT, leat_plan_options, megatron, mid_level_dataset_surplus),
    FIM(TEXT, rate),
    FIM(TEXT, spm),
    FIM(NUMBER, prefix),
    FIM(NUMBER, middle),
    FIM(NUMBER, suffix),
    TEXT(bans),
    NUMBER(stop),
    FIELD_INSIDE(FIELD_NUMBER, leat_plan_options, stretches, stretch),
    FIELD_INSIDE(FIELD_NUMBER, leat_plan_options, stretches, mix),
    FIELD_INSIDE(FIELD_NUMBER, leat_plan_options, stretches, lanes),
};

/* open_plan(sources, phases, skips, opening, options): Opens a plan from lists of tuples and a dict of options. */
PyObject *plan_open(PyObject *module, PyObject *args)
{
    struct leat_plan_options o = LEAT_PLAN_OPTIONS_INIT;
    struct leat_open_options open = LEAT_OPEN_OPTIONS_INIT;
    PyObject *sources, *phases, *skips, *given, *result = NULL;
    struct plan_parts parts = { 0 };
    struct leat_error err;
    struct leat_plan *plan;
    enum leat_status s;

    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!O!O&O!:open_plan", &PyList_Type, &sources, &PyList_Type, &phases, &PyList_Type,
                          &skips, args_opening, &open, &PyDict_Type, &given))
        return NULL;
    if (fields_set(FIELDS(options), &o, given) && take_lists(&parts, &o, sources, phases, skips)) {
        o.open = &open;
        ARGS_UNLOCKED(s = leat_plan_open(&plan, &o, &err));
        result = s == LEAT_OK ? wrap(plan, sources) : errors_raise(&err);
    }
    parts_free(&parts);
    return result;
}

/* parse_plan(text, label, opening) */
PyObject *plan_parse(PyObject *module, PyObject *args)
{
    struct leat_open_options open = LEAT_OPEN_OPTIONS_INIT;
    const char *label;
    struct leat_error err;
    struct leat_plan *plan;
    PyObject *given, *text, *named, *result = NULL;
    Py_ssize_t bytes;
    enum leat_status s;
    char *at;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO&O&:parse_plan", &given, PyUnicode_FSConverter, &named, args_opening, &open))
        return NULL;
    label = PyBytes_AsString(named);
    /* The text may name files, so it is encoded like file names. It may also be no plan at all, and have zero bytes. */
    text = PyUnicode_Check(given) ? PyUnicode_EncodeFSDefault(given) : Py_NewRef(given);
    if (text && PyBytes_AsStringAndSize(text, &at, &bytes) == 0) {
        ARGS_UNLOCKED(s = leat_plan_parse(&plan, at, (size_t)bytes, label, &open, &err));
        result = s == LEAT_OK ? wrap(plan, NULL) : errors_raise(&err);
    }
    Py_XDECREF(text);
    Py_DECREF(named);
    return result;
}

/* Wraps a plan that was made of another plan and uses its datasets. */
static PyObject *wrap_made(struct leat_plan *plan, struct handle *needed)
{
    struct handle *handle = handle_make(plan, close_plan);

    if (!handle)
        return PyErr_NoMemory();
    if (!handle_needs(handle, needed)) {
        handle_drop(handle);
        return PyErr_NoMemory();
    }
    return plan_wrap(handle);
}

/* by_tokens(max_tokens, max_rows, pool): Returns the plan in batches by tokens. */
PyObject *plan_by_tokens(PyObject *self, PyObject *args)
{
    struct handle *needed = plan_handle(self);
    uint64_t max_tokens, max_rows, pool;
    struct leat_plan *plan;
    struct leat_error err;
    enum leat_status s;

    if (!PyArg_ParseTuple(args, "O&O&O&:by_tokens", args_u64, &max_tokens, args_u64, &max_rows, args_u64, &pool))
        return NULL;
    ARGS_UNLOCKED(s = leat_plan_by_tokens(&plan, handle_object(needed), max_tokens, max_rows, pool, &err));
    return s == LEAT_OK ? wrap_made(plan, needed) : errors_raise(&err);
}

/* ban(lines): Returns the plan with further bans. */
PyObject *plan_ban(PyObject *self, PyObject *args)
{
    struct handle *needed = plan_handle(self);
    struct leat_plan *plan;
    struct leat_error err;
    PyObject *bytes;
    enum leat_status s;

    if (!PyArg_ParseTuple(args, "O&:ban", PyUnicode_FSConverter, &bytes))
        return NULL;
    ARGS_UNLOCKED(s = leat_plan_ban(&plan, handle_object(needed), PyBytes_AsString(bytes), &err));
    Py_DECREF(bytes);
    return s == LEAT_OK ? wrap_made(plan, needed) : errors_raise(&err);
}

/* reorder(order, seq_len): Returns a plan with the sources in another order. seq_len 0 keeps the length. */
PyObject *plan_reorder(PyObject *self, PyObject *args)
{
    struct handle *needed = plan_handle(self);
    struct leat_plan *plan;
    struct leat_error err;
    enum leat_status s;
    uint64_t seq_len;
    int order;

    if (!PyArg_ParseTuple(args, "iO&:reorder", &order, args_u64, &seq_len))
        return NULL;
    ARGS_UNLOCKED(s = leat_plan_reorder(&plan, handle_object(needed), (enum leat_order)order, seq_len, &err));
    return s == LEAT_OK ? wrap_made(plan, needed) : errors_raise(&err);
}

/* ---- Changes ---- */

/* Wraps a changed plan, which needs the datasets of the plan that it came from, and those that were added. */
static PyObject *wrap_changed(struct leat_plan *plan, const struct handle *from, PyObject *changes)
{
    struct handle *handle = handle_make(plan, close_plan);
    Py_ssize_t count = changes ? PyList_Size(changes) : 0;
    int ok;

    if (!handle)
        return PyErr_NoMemory();
    ok = handle_needs_same(handle, from);
    for (Py_ssize_t i = 0; ok && i < count; i++)
        ok = needs_datasets(handle, PyTuple_GetItem(PyList_GetItem(changes, i), 2));
    if (ok)
        return plan_wrap(handle);
    handle_drop(handle);
    return PyErr_NoMemory();
}

/* Reads (at, weights or None, sources, seq_len) into a change and parts of its own. */
static int take_change(struct plan_parts *p, PyObject *tuple, struct leat_plan_change *change)
{
    PyObject *weights, *sources;

    *change = (struct leat_plan_change)LEAT_PLAN_CHANGE_INIT;
    p->strings = PyList_New(0);
    if (!p->strings ||
        !PyArg_ParseTuple(tuple, "O&OO!O&:change", args_u64, &change->at, &weights, &PyList_Type, &sources, args_u64,
                          &change->seq_len) ||
        !keep_text(p, weights, &change->weights))
        return 0;
    change->source_count = (size_t)PyList_Size(sources);
    p->sources = PyMem_Malloc((change->source_count + 1) * sizeof *p->sources);
    if (!p->sources)
        return PyErr_NoMemory(), 0;
    for (size_t i = 0; i < change->source_count; i++)
        if (!take_source(p, PyList_GetItem(sources, (Py_ssize_t)i), &p->sources[i]))
            return 0;
    change->sources = p->sources;
    return 1;
}

/* change(changes, opening): Returns the plan with these changes, one after another. */
PyObject *plan_change(PyObject *self, PyObject *args)
{
    struct leat_open_options open = LEAT_OPEN_OPTIONS_INIT;
    struct handle *from = plan_handle(self);
    PyObject *given, *result = NULL;
    struct leat_plan_change *changes;
    struct plan_parts *parts;
    struct leat_plan *plan;
    struct leat_error err;
    enum leat_status s;
    size_t count, taken = 0;

    if (!PyArg_ParseTuple(args, "O!O&:change", &PyList_Type, &given, args_opening, &open))
        return NULL;
    count = (size_t)PyList_Size(given);
    changes = PyMem_Calloc(count + 1, sizeof *changes);
    parts = PyMem_Calloc(count + 1, sizeof *parts);
    if (!changes || !parts)
        PyErr_NoMemory();
    else
        while (taken < count && take_change(&parts[taken], PyList_GetItem(given, (Py_ssize_t)taken), &changes[taken]))
            taken++;
    if (changes && parts && taken == count) {
        ARGS_UNLOCKED(s = leat_plan_change(&plan, handle_object(from), changes, count, &open, &err));
        result = s == LEAT_OK ? wrap_changed(plan, from, given) : errors_raise(&err);
    }
    for (size_t i = 0; parts && i < count; i++)
        parts_free(&parts[i]);
    PyMem_Free(parts);
    PyMem_Free(changes);
    return result;
}

/* change_text(text, label, opening): Returns the plan with the changes of a text. */
PyObject *plan_change_text(PyObject *self, PyObject *args)
{
    struct leat_open_options open = LEAT_OPEN_OPTIONS_INIT;
    struct handle *from = plan_handle(self);
    PyObject *given, *text, *label, *result = NULL;
    struct leat_plan *plan;
    struct leat_error err;
    Py_ssize_t bytes;
    enum leat_status s;
    char *at;

    if (!PyArg_ParseTuple(args, "UO&O&:change_text", &given, PyUnicode_FSConverter, &label, args_opening, &open))
        return NULL;
    text = PyUnicode_EncodeFSDefault(given);
    if (text && PyBytes_AsStringAndSize(text, &at, &bytes) == 0) {
        ARGS_UNLOCKED(s = leat_plan_change_parse(&plan, handle_object(from), at, (size_t)bytes, PyBytes_AsString(label),
                                                 &open, &err));
        result = s == LEAT_OK ? wrap_changed(plan, from, NULL) : errors_raise(&err);
    }
    Py_XDECREF(text);
    Py_DECREF(label);
    return result;
}

/* change_place(n): Returns the first sample from n on at which a change may begin. */
PyObject *plan_change_place(PyObject *self, PyObject *args)
{
    uint64_t number;

    if (!PyArg_ParseTuple(args, "O&:change_place", args_u64, &number))
        return NULL;
    return args_number(leat_plan_change_place(handle_object(plan_handle(self)), number));
}
