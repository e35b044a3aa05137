/* loader.c: leat._leat.Loader. The loader's handle keeps the plan open, and each batch keeps the loader's handle
 * open. next() returns a batch that is held. take() returns a batch in memory that the consumer owns, and releases
 * the GIL once. Only one thread at a time gets a batch; while it waits, it checks for signals (pause.h). */
#include <time.h>

#include "batch.h"
#include "loader/loader_fields.h"
#include "plan/plan.h"

#define WAIT_NS 100000000u /* longest wait between two checks for signals */

struct loader {
    PyObject base;
    struct handle *handle; /* NULL if the loader is closed */
    struct handle *plan, *pool;
    struct batch_form form;
    uint64_t cursor; /* position in the plan after the last batch that the library gave */
};

static PyTypeObject *loader_type;

static struct loader *loader_of(PyObject *self)
{
    return (struct loader *)(void *)self;
}

/* ---- Opening ---- */

static void close_loader(void *loader)
{
    leat_loader_close(loader);
}

static PyObject *wrap(struct leat_loader *loader, struct handle *plan, const struct leat_loader_options *o)
{
    struct handle *handle = handle_make(loader, close_loader);
    struct loader *self;

    if (!handle)
        return PyErr_NoMemory();
    self = handle_needs(handle, plan) ? PyObject_New(struct loader, loader_type) : (PyErr_NoMemory(), NULL);
    if (!self) {
        handle_drop(handle);
        return NULL;
    }
    self->handle = handle;
    self->plan = handle_hold(plan);
    self->pool = memory_pool_make();
    self->cursor = o->position;
    self->form = (struct batch_form) { .wanted = o->outputs.wanted,
                                       .number_bytes = o->outputs.number_bytes,
                                       .unshifted = o->outputs.unshifted,
                                       .mask_first = o->outputs.mask_first,
                                       .cu_seqlens_room = o->outputs.cu_seqlens_room,
                                       .count = BATCH_OUTPUTS };
    while (self->form.count < BATCH_ALL &&
           leat_loader_column_type(loader, self->form.count - BATCH_OUTPUTS,
                                   &self->form.columns[self->form.count - BATCH_OUTPUTS].type,
                                   &self->form.columns[self->form.count - BATCH_OUTPUTS].width))
        self->form.count++;
    if (self->pool)
        return (PyObject *)self;
    Py_DECREF(self);
    return PyErr_NoMemory();
}

/* Reads a tuple of (name, at, fill, widen) for each column. Its names live as long as the tuple. */
static int read_columns(PyObject *given, struct leat_loader_column columns[BATCH_COLUMNS])
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(given) && i < (Py_ssize_t)BATCH_COLUMNS; i++) {
        columns[i] = (struct leat_loader_column)LEAT_LOADER_COLUMN_INIT;
        if (!PyArg_ParseTuple(PyTuple_GetItem(given, i), "sIdI", &columns[i].name, &columns[i].at, &columns[i].fill,
                              &columns[i].widen))
            return 0;
    }
    return 1;
}

/* open_loader(plan, (device type, device), options, columns): Opens a loader. The device has DLPack's numbers, and the
 * options have the names of loader_fields.h. */
static PyObject *open_loader(PyObject *module, PyObject *args)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_loader_column all[BATCH_COLUMNS];
    PyObject *plan, *given, *columns, *result;
    struct leat_loader *loader;
    struct handle *handle;
    struct leat_error err;
    enum leat_status s;
    int type, device;

    (void)module;
    if (!PyArg_ParseTuple(args, "O(ii)O!O!:open_loader", &plan, &type, &device, &PyDict_Type, &given, &PyTuple_Type,
                          &columns))
        return NULL;
    handle = plan_handle(plan);
    if (!handle || !fields_set(FIELDS(loader_options), &o, given) || !read_columns(columns, all))
        return NULL;
    o.columns = all;
    o.column_count = (uint64_t)PyTuple_Size(columns);
    ARGS_UNLOCKED(s = leat_loader_open(&loader, handle_object(handle), &o, &err));
    if (s != LEAT_OK)
        return errors_raise(&err);
    result = wrap(loader, handle, &o);
    if (result) {
        loader_of(result)->form.device_type = type;
        loader_of(result)->form.device = device;
    }
    return result;
}

/* change(plan): Continues with another plan. It keeps the GIL, so that no other thread asks for statistics
 * meanwhile. */
static PyObject *loader_change(PyObject *object, PyObject *plan)
{
    struct handle *next = plan_handle(plan);
    struct loader *self = loader_of(object);
    struct leat_error err;

    if (!next)
        return NULL;
    if (!self->handle)
        return PyErr_SetString(PyExc_ValueError, "this loader is closed"), NULL;
    if (leat_loader_change(handle_object(self->handle), handle_object(next), &err) != LEAT_OK) {
        /* On failure, the loader may already use the new plan, which then has to stay open. */
        return handle_needs(self->handle, next) ? errors_raise(&err) : PyErr_NoMemory();
    }
    handle_needs_instead(self->handle, self->plan, next);
    handle_drop(self->plan);
    self->plan = handle_hold(next);
    Py_RETURN_NONE;
}

static PyObject *loader_close(PyObject *self, PyObject *unused)
{
    struct handle *handle = loader_of(self)->handle;

    (void)unused;
    loader_of(self)->handle = NULL;
    ARGS_UNLOCKED(handle_drop(handle));
    Py_RETURN_NONE;
}

static void loader_dealloc(PyObject *self)
{
    struct loader *object = loader_of(self);

    ARGS_UNLOCKED(handle_drop(object->handle));
    handle_drop(object->plan);
    handle_drop(object->pool);
    module_free_object(self);
}

/* ---- Batches ---- */

/* Holds the loader during a call, so that another thread may close it meanwhile. Returns NULL with an exception set
 * if it is closed. Turn lets only one thread call at a time. */
static struct handle *hold_loader(struct loader *self)
{
    if (!self->handle)
        return PyErr_SetString(PyExc_ValueError, "this loader is closed"), NULL;
    return handle_hold(self->handle);
}

static void drop_loader(struct handle *handle)
{
    ARGS_UNLOCKED(handle_drop(handle));
}

/* The arguments and results of an attempt to get a batch, which runs without the GIL. */
struct attempt {
    struct leat_loader *loader;
    struct handle *pool; /* pool of the memory for the outputs; NULL: the batch is held instead */
    const struct batch_form *form;
    const struct leat_batch *batch;
    struct handle *memory[BATCH_ALL];
    struct leat_error err;
};

static void drop_memory(struct attempt *t)
{
    for (unsigned i = 0; i < t->form->count; i++)
        handle_drop(t->memory[i]);
}

/* Writes the batch into memory of the pool. */
static enum leat_status write_batch(struct attempt *t)
{
    struct batch_memory m;

    batch_begin(&m, t->form);
    for (unsigned i = 0; i < t->form->count; i++) {
        struct array_shape a = batch_shape(t->batch, t->form, i);
        size_t numbers = 1;

        if (!batch_wants(t->form, i))
            continue;
        for (int k = 0; k < a.dimensions; k++)
            numbers *= (size_t)a.shape[k];
        t->memory[i] = memory_make(t->pool, numbers * a.bytes);
        if (!t->memory[i])
            return errors_set(&t->err, LEAT_E_NO_MEMORY, "no memory for a batch");
        batch_set_output(&m, i, handle_object(t->memory[i]));
        if (i == BATCH_CU_SEQLENS)
            m.outputs.cu_seqlens_room = numbers;
    }
    return leat_batch_write(t->batch, &m.outputs, NULL, &t->err);
}

static enum leat_status try(struct attempt *t)
{
    const struct timespec moment = { 0, 20000 };
    enum leat_status s = leat_loader_next_within(t->loader, WAIT_NS, &t->batch, &t->err);

    if (s == LEAT_E_AGAIN) /* A loader without a thread may return at once while a device is still busy. */
        nanosleep(&moment, NULL);
    return s == LEAT_OK && t->pool ? write_batch(t) : s;
}

/* Gets the next batch. Returns LEAT_OK, LEAT_E_END, or another status with an exception set. After it, the library's
 * cursor is past the batch, even if the batch never reaches the caller. */
static enum leat_status get_batch(struct loader *self, struct attempt *t)
{
    enum leat_status s;

    do {
        ARGS_UNLOCKED(s = try(t));
        if (s == LEAT_E_AGAIN && PyErr_CheckSignals() < 0)
            return LEAT_E_STATE;
    } while (s == LEAT_E_AGAIN);
    if (t->batch)
        self->cursor = t->batch->cursor;
    if (s == LEAT_OK || (s == LEAT_E_END && !t->batch))
        return s;
    if (t->batch)
        leat_batch_release(t->batch, NULL);
    drop_memory(t);
    errors_raise(&t->err);
    return s;
}

/* next(): Returns a Batch that is held until it is released, or None at the end of the plan. */
static PyObject *loader_next(PyObject *object, PyObject *unused)
{
    struct loader *self = loader_of(object);
    struct attempt t = { .form = &self->form };
    struct handle *handle = hold_loader(self);
    PyObject *result = NULL;
    enum leat_status s;

    (void)unused;
    if (!handle)
        return NULL;
    t.loader = handle_object(handle);
    s = get_batch(self, &t);
    if (s == LEAT_OK)
        result = batch_make(handle, self->plan, t.batch, &self->form, 1);
    else if (s == LEAT_E_END)
        result = Py_NewRef(Py_None);
    drop_loader(handle);
    return result;
}

/* Returns the tuple (Batch, output, ...) of an attempt. The outputs take over the attempt's memory. */
static PyObject *make_outputs(struct loader *self, struct handle *handle, struct attempt *t, int capsules)
{
    PyObject *result = PyTuple_New(1 + (Py_ssize_t)self->form.count), *item;

    item = result ? batch_make(handle, self->plan, t->batch, &self->form, 0) : NULL;
    if (!item || PyTuple_SetItem(result, 0, item) < 0)
        Py_CLEAR(result);
    for (unsigned i = 0; result && i < self->form.count; i++) {
        struct array_shape a = batch_shape(t->batch, &self->form, i);

        if (t->memory[i])
            a.data = handle_object(t->memory[i]);
        item = !t->memory[i] ? Py_NewRef(Py_None)
               : capsules    ? array_capsule(t->memory[i], &a)
                             : array_make(t->memory[i], &a);
        if (!item || PyTuple_SetItem(result, 1 + (Py_ssize_t)i, item) < 0)
            Py_CLEAR(result);
    }
    return result;
}

/* take(capsules): Returns (Batch, output, ...), whose outputs are Arrays or DLPack capsules of host memory that the
 * consumer owns, or None if not wanted. The batch is released. Returns None at the end of the plan. */
static PyObject *loader_take(PyObject *object, PyObject *args)
{
    struct loader *self = loader_of(object);
    struct attempt t = { .form = &self->form, .pool = self->pool };
    struct handle *handle;
    PyObject *result = NULL;
    enum leat_status s;
    int capsules;

    if (!PyArg_ParseTuple(args, "p:take", &capsules))
        return NULL;
    handle = hold_loader(self);
    if (!handle)
        return NULL;
    t.loader = handle_object(handle);
    s = get_batch(self, &t);
    if (s == LEAT_OK) {
        result = make_outputs(self, handle, &t, capsules);
        leat_batch_release(t.batch, NULL);
        drop_memory(&t);
    } else if (s == LEAT_E_END) {
        result = Py_NewRef(Py_None);
    }
    drop_loader(handle);
    return result;
}

/* ---- What it has done ---- */

/* Returns the statistics of all sources. A line in a file of statistics has only the largest ones. */
static PyObject *sources_list(const struct leat_loader *loader, const struct leat_plan *plan)
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

static PyObject *loader_get_stats(PyObject *object, PyObject *unused)
{
    struct leat_loader_stats s = LEAT_LOADER_STATS_INIT;
    struct loader *self = loader_of(object);
    PyObject *dict, *sources;

    (void)unused;
    if (!self->handle)
        return PyErr_SetString(PyExc_ValueError, "this loader is closed"), NULL;
    leat_loader_stats(handle_object(self->handle), &s);
    dict = fields_dict(FIELDS(loader_stats), &s);
    sources = dict ? sources_list(handle_object(self->handle), handle_object(self->plan)) : NULL;
    if (!sources || PyDict_SetItemString(dict, "sources", sources) < 0)
        Py_CLEAR(dict);
    Py_XDECREF(sources);
    return dict;
}

/* notice(): Returns a sentence for the user, or None. */
static PyObject *loader_notice(PyObject *object, PyObject *unused)
{
    struct loader *self = loader_of(object);
    char text[1024];

    (void)unused;
    if (!self->handle || !leat_loader_notice(handle_object(self->handle), text, sizeof text))
        Py_RETURN_NONE;
    return args_text(text);
}

static PyObject *loader_line(PyObject *object, PyObject *unused)
{
    struct loader *self = loader_of(object);
    char text[1024];

    (void)unused;
    if (!self->handle)
        return PyErr_SetString(PyExc_ValueError, "this loader is closed"), NULL;
    leat_loader_stats_line(handle_object(self->handle), text, sizeof text);
    return args_text(text);
}

/* Returns (dtype, width) of each column. */
static PyObject *loader_get_columns(PyObject *object, void *unused)
{
    const struct batch_form *form = &loader_of(object)->form;
    PyObject *list = PyList_New(0);

    (void)unused;
    for (unsigned i = BATCH_OUTPUTS; list && i < form->count; i++) {
        const struct batch_column *c = &form->columns[i - BATCH_OUTPUTS];
        PyObject *item = Py_BuildValue("(sI)", batch_dtype(c->type), (unsigned)c->width);

        if (!item || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyObject *loader_get_cursor(PyObject *object, void *unused)
{
    (void)unused;
    return args_number(loader_of(object)->cursor);
}

static PyObject *loader_get_max_length(PyObject *object, void *unused)
{
    struct loader *self = loader_of(object);

    (void)unused;
    if (!self->handle)
        return PyErr_SetString(PyExc_ValueError, "this loader is closed"), NULL;
    return args_number(leat_loader_max_length(handle_object(self->handle)));
}

static PyObject *loader_get_closed(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(loader_of(object)->handle == NULL);
}

/* ---- The type ---- */

static PyMethodDef methods[] = {
    { "next", loader_next, METH_NOARGS, NULL },       { "take", loader_take, METH_VARARGS, NULL },
    { "change", loader_change, METH_O, NULL },        { "close", loader_close, METH_NOARGS, NULL },
    { "stats", loader_get_stats, METH_NOARGS, NULL }, { "notice", loader_notice, METH_NOARGS, NULL },
    { "stats_line", loader_line, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL },
};

static PyGetSetDef properties[] = {
    { "closed", loader_get_closed, NULL, NULL, NULL },
    { "columns", loader_get_columns, NULL, NULL, NULL },
    { "cursor", loader_get_cursor, NULL, NULL, NULL },
    { "max_length", loader_get_max_length, NULL, NULL, NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_dealloc, loader_dealloc },
    { Py_tp_methods, methods },
    { Py_tp_getset, properties },
    { Py_tp_doc, "A loader of the library; leat.Loader wraps it." },
    { 0, NULL },
};

static PyType_Spec spec = { .name = "leat._leat.Loader",
                            .basicsize = sizeof(struct loader),
                            .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                            .slots = slots };

static PyMethodDef functions[] = {
    { "open_loader", open_loader, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

/* Adds LOADER_CHOICES: {option: {word: number}}. */
static int add_choices(PyObject *module)
{
    PyObject *all = fields_choices(FIELDS(loader_options));
    int r = all ? PyModule_AddObjectRef(module, "LOADER_CHOICES", all) : -1;

    Py_XDECREF(all);
    return r;
}

int loader_register(PyObject *module)
{
    if (module_add_type(module, &spec, &loader_type) < 0 || add_choices(module) < 0)
        return -1;
    return PyModule_AddFunctions(module, functions);
}
