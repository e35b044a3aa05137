/* batch.c: leat._leat.Batch. While a batch is held, its numbers are in a slot of the loader. write() and borrow()
 * read that slot, so the object keeps the loader open. Facts, samples, lengths and flags are small; they are copied
 * when the object is made and stay readable after the release. Outputs are rows of BATCH_EACH, and the code loops
 * over them, so a new output needs no code here. Properties are rows of the table `facts`. */
#include "batch.h"

#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

struct batch {
    PyObject base;
    struct handle *loader; /* the loader of a batch that is held; NULL after its release */
    struct handle *plan;
    const struct leat_batch *held;
    struct batch_form form;
    struct leat_batch facts; /* copied facts; their arrays share one allocation that begins with the samples */
};

static PyTypeObject *batch_type;

static struct batch *batch_of(PyObject *self)
{
    return (struct batch *)(void *)self;
}

/* ---- Outputs by number ---- */

#define ROW(name, field, python, kind)                                                                                 \
    [BATCH_##name] = { python, LEAT_OUTPUT_##name, kind, offsetof(struct leat_outputs, field) },
static const struct {
    const char *name;
    uint32_t bit;
    enum batch_kind kind;
    size_t offset; /* offset of the output's pointer in struct leat_outputs */
} rows[BATCH_OUTPUTS] = { BATCH_EACH(ROW) };

int batch_wants(const struct batch_form *form, unsigned which)
{
    return which >= BATCH_OUTPUTS || (form->wanted & rows[which].bit) != 0;
}

/* The numbers of each type of a column. */
static const struct {
    enum array_kind kind;
    unsigned bytes;
    const char *dtype;
} types[] = { [LEAT_COLUMN_U8] = { ARRAY_UNSIGNED, 1, "uint8" },    [LEAT_COLUMN_U16] = { ARRAY_UNSIGNED, 2, "uint16" },
              [LEAT_COLUMN_U32] = { ARRAY_UNSIGNED, 4, "uint32" },  [LEAT_COLUMN_I32] = { ARRAY_SIGNED, 4, "int32" },
              [LEAT_COLUMN_I64] = { ARRAY_SIGNED, 8, "int64" },     [LEAT_COLUMN_F16] = { ARRAY_FLOAT, 2, "float16" },
              [LEAT_COLUMN_BF16] = { ARRAY_BFLOAT, 2, "bfloat16" }, [LEAT_COLUMN_F32] = { ARRAY_FLOAT, 4, "float32" } };

const char *batch_dtype(uint32_t type)
{
    return types[type].dtype;
}

struct array_shape batch_shape(const struct leat_batch *b, const struct batch_form *form, unsigned which)
{
    struct array_shape a = { .shape = { b->rows, b->length },
                             .dimensions = 2,
                             .kind = ARRAY_SIGNED,
                             .bytes = form->number_bytes,
                             .writable = 1,
                             .device_type = form->device_type,
                             .device = form->device };

    if (which >= BATCH_OUTPUTS) {
        const struct batch_column *column = &form->columns[which - BATCH_OUTPUTS];

        a.kind = types[column->type].kind;
        a.bytes = types[column->type].bytes;
        a.dimensions = column->width > 1 ? 3 : 2;
        a.shape[2] = column->width;
        return a;
    }
    if (rows[which].kind == BATCH_MASK) {
        a.kind = ARRAY_BOOL;
        a.bytes = 1;
    } else if (rows[which].kind == BATCH_FLOATS) {
        a.kind = ARRAY_FLOAT;
        a.bytes = 4;
    } else if (rows[which].kind == BATCH_LIST) {
        a.dimensions = 1;
        a.bytes = 4;
        a.shape[0] = (int64_t)(form->cu_seqlens_room ? form->cu_seqlens_room : b->sequences + (uint64_t)1);
    } else if (rows[which].kind == BATCH_AHEAD) {
        a.dimensions = 3;
        a.shape[0] = b->ahead;
        a.shape[1] = b->rows;
        a.shape[2] = b->length;
    } else if (rows[which].kind == BATCH_WIDE) {
        a.bytes = 8;
    }
    return a;
}

void batch_begin(struct batch_memory *m, const struct batch_form *form)
{
    *m = (struct batch_memory) { LEAT_OUTPUTS_INIT, { NULL } };
    m->outputs.columns = form->count > BATCH_OUTPUTS ? m->columns : NULL;
    m->outputs.number_bytes = form->number_bytes;
    m->outputs.unshifted = form->unshifted;
    m->outputs.mask_first = form->mask_first;
}

void batch_set_output(struct batch_memory *m, unsigned which, void *memory)
{
    if (which >= BATCH_OUTPUTS)
        m->columns[which - BATCH_OUTPUTS] = memory;
    else
        memcpy((char *)&m->outputs + rows[which].offset, &memory, sizeof memory);
}

static void *batch_get_output(const struct leat_outputs *o, unsigned which)
{
    void *memory;

    if (which >= BATCH_OUTPUTS)
        return o->columns[which - BATCH_OUTPUTS];
    memcpy(&memory, (const char *)o + rows[which].offset, sizeof memory);
    return memory;
}

/* ---- Life ---- */

/* Copies the facts that the slot loses when it is filled again. */
static int copy_facts(struct batch *self, const struct leat_batch *b)
{
    size_t samples = b->rows * sizeof *b->samples, lengths = b->rows * sizeof *b->lengths;
    char *memory = malloc(samples + lengths + b->rows + 1);

    self->facts = *b;
    self->facts.tokens = NULL;
    self->facts.samples = (const struct leat_sample *)(void *)memory;
    if (!memory)
        return 0;
    memcpy(memory, b->samples, samples);
    memcpy(memory + samples, b->lengths, lengths);
    memcpy(memory + samples + lengths, b->flags, b->rows);
    self->facts.lengths = (const uint32_t *)(void *)(memory + samples);
    self->facts.flags = (const uint8_t *)memory + samples + lengths;
    return 1;
}

PyObject *batch_make(struct handle *loader, struct handle *plan, const struct leat_batch *batch,
                     const struct batch_form *form, int held)
{
    struct batch *self = PyObject_New(struct batch, batch_type);

    if (!self) {
        if (held)
            leat_batch_release(batch, NULL);
        return NULL;
    }
    self->held = held ? batch : NULL;
    self->loader = held ? handle_hold(loader) : NULL;
    self->plan = handle_hold(plan);
    self->form = *form;
    if (copy_facts(self, batch))
        return (PyObject *)self;
    Py_DECREF(self);
    return PyErr_NoMemory();
}

static void release(struct batch *self, void *stream)
{
    const struct leat_batch *held = self->held;
    struct handle *loader = self->loader;

    self->held = NULL;
    self->loader = NULL;
    if (held)
        leat_batch_release(held, stream);
    /* The last holder closes the loader, which waits for the loader's thread. */
    ARGS_UNLOCKED(handle_drop(loader));
}

static void batch_dealloc(PyObject *self)
{
    release(batch_of(self), NULL);
    handle_drop(batch_of(self)->plan);
    free((void *)(uintptr_t)batch_of(self)->facts.samples);
    module_free_object(self);
}

static int check_held(const struct batch *self)
{
    if (self->held)
        return 1;
    PyErr_SetString(PyExc_ValueError, "this batch has been released");
    return 0;
}

/* ---- Calls ---- */

/* write(addresses, rows, length, cu_seqlens_room, stream): Writes the outputs to these addresses, except those whose
 * address is None. Rows and length 0 mean those of the batch. */
static PyObject *batch_write(PyObject *object, PyObject *args)
{
    struct batch *self = batch_of(object);
    struct batch_memory m;
    struct leat_outputs *o = &m.outputs;
    struct handle *loader;
    struct leat_error err;
    PyObject *addresses;
    enum leat_status s;
    void *stream;

    batch_begin(&m, &self->form);
    if (!PyArg_ParseTuple(args, "O!O&O&O&O&:write", &PyTuple_Type, &addresses, args_u64, &o->rows, args_u64, &o->length,
                          args_u64, &o->cu_seqlens_room, args_address, &stream) ||
        !check_held(self))
        return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_Size(addresses) && i < (Py_ssize_t)self->form.count; i++) {
        void *memory;

        if (!args_address(PyTuple_GetItem(addresses, i), &memory))
            return NULL;
        batch_set_output(&m, (unsigned)i, memory);
    }
    loader = handle_hold(self->loader);
    ARGS_UNLOCKED(s = leat_batch_write(self->held, o, stream, &err));
    handle_drop(loader);
    return s == LEAT_OK ? Py_NewRef(Py_None) : errors_raise(&err);
}

/* borrow(stream): Returns a tuple of Arrays in the slot, with None for outputs that were not asked for. They are
 * valid until the batch is released; their memory stays allocated after it. */
static PyObject *batch_borrow(PyObject *object, PyObject *args)
{
    struct leat_outputs o = LEAT_OUTPUTS_INIT;
    struct batch *self = batch_of(object);
    PyObject *result;
    struct leat_error err;
    void *stream;

    if (!PyArg_ParseTuple(args, "O&:borrow", args_address, &stream) || !check_held(self))
        return NULL;
    if (leat_batch_borrow(self->held, &o, stream, &err) != LEAT_OK)
        return errors_raise(&err);
    result = PyTuple_New(self->form.count);
    for (unsigned i = 0; result && i < self->form.count; i++) {
        struct array_shape a = batch_shape(&self->facts, &self->form, i);
        PyObject *item;

        a.data = batch_get_output(&o, i);
        item = a.data ? array_make(self->loader, &a) : Py_NewRef(Py_None);
        if (!item || PyTuple_SetItem(result, (Py_ssize_t)i, item) < 0)
            Py_CLEAR(result);
    }
    return result;
}

static PyObject *batch_release(PyObject *object, PyObject *args)
{
    void *stream;

    if (!PyArg_ParseTuple(args, "O&:release", args_address, &stream))
        return NULL;
    release(batch_of(object), stream);
    Py_RETURN_NONE;
}

/* tokens(): Returns an Array in the slot, rows x width, which is valid until the batch is released. */
static PyObject *batch_tokens(PyObject *object, PyObject *unused)
{
    const struct batch *self = batch_of(object);
    struct array_shape a = { .dimensions = 2, .kind = ARRAY_UNSIGNED, .little = 1 };

    (void)unused;
    if (!check_held(self))
        return NULL;
    if (!self->held->tokens) {
        PyErr_SetString(PyExc_RuntimeError, "the rows of this batch are not contiguous in memory (as for cold files on "
                                            "a GPU): they have no array on the host");
        return NULL;
    }
    a.data = (void *)(uintptr_t)self->held->tokens;
    a.shape[0] = self->facts.rows;
    a.shape[1] = self->facts.width;
    a.bytes = self->facts.token_width;
    return array_make(self->loader, &a);
}

/* Returns a list with the result of a function for each row's sample, and None for a padded row. */
static PyObject *list_of_samples(const struct batch *self,
                                 PyObject *(*make)(const struct leat_plan *plan, const struct leat_sample *sample))
{
    PyObject *list = PyList_New(self->facts.rows);

    for (uint32_t row = 0; list && row < self->facts.rows; row++) {
        PyObject *item = self->facts.flags[row] & LEAT_ROW_PADDED
                             ? Py_NewRef(Py_None)
                             : make(handle_object(self->plan), &self->facts.samples[row]);

        if (!item || PyList_SetItem(list, (Py_ssize_t)row, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* samples(): Returns where each row comes from, in tuples like those of Plan.sample(). */
static PyObject *batch_samples(PyObject *object, PyObject *unused)
{
    (void)unused;
    return list_of_samples(batch_of(object), plan_sample_tuple);
}

static PyObject *source_of(const struct leat_plan *plan, const struct leat_sample *sample)
{
    (void)plan;
    return PyLong_FromUnsignedLong(sample->source);
}

/* sources(): Returns the number of each row's source. */
static PyObject *batch_sources(PyObject *object, PyObject *unused)
{
    (void)unused;
    return list_of_samples(batch_of(object), source_of);
}

/* Returns a list with one number per row, for lengths() and flags(). */
static PyObject *list_of(const struct batch *self, int flags)
{
    PyObject *list = PyList_New(self->facts.rows);

    for (uint32_t row = 0; list && row < self->facts.rows; row++) {
        PyObject *item = PyLong_FromUnsignedLong(flags ? self->facts.flags[row] : self->facts.lengths[row]);

        if (!item || PyList_SetItem(list, (Py_ssize_t)row, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *batch_lengths(PyObject *object, PyObject *unused)
{
    (void)unused;
    return list_of(batch_of(object), 0);
}

static PyObject *batch_flags(PyObject *object, PyObject *unused)
{
    (void)unused;
    return list_of(batch_of(object), 1);
}

/* ---- Facts ---- */

#define NUMBER(member) FIELD_ROW(FIELD_NUMBER, leat_batch, member)
static const struct field facts[] = {
    NUMBER(number),    NUMBER(position),   NUMBER(cursor),       NUMBER(damaged),     NUMBER(rows),  NUMBER(length),
    NUMBER(sequences), NUMBER(max_seqlen), NUMBER(damaged_rows), NUMBER(token_width), NUMBER(ahead),
};

static PyObject *get_fact(PyObject *self, void *closure)
{
    return fields_get(closure, &batch_of(self)->facts);
}

static PyObject *get_held(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(batch_of(self)->held != NULL);
}

static PyGetSetDef properties[ARGS_COUNT(facts) + 2];

static void make_properties(void)
{
    size_t count = ARGS_COUNT(facts);

    for (size_t i = 0; i < count; i++)
        properties[i] = (PyGetSetDef) { facts[i].name, get_fact, NULL, NULL, (void *)(uintptr_t)&facts[i] };
    properties[count] = (PyGetSetDef) { "held", get_held, NULL, NULL, NULL };
}

static PyMethodDef methods[] = {
    { "write", batch_write, METH_VARARGS, NULL },
    { "borrow", batch_borrow, METH_VARARGS, NULL },
    { "release", batch_release, METH_VARARGS, NULL },
    { "tokens", batch_tokens, METH_NOARGS, NULL },
    { "samples", batch_samples, METH_NOARGS, NULL },
    { "lengths", batch_lengths, METH_NOARGS, NULL },
    { "flags", batch_flags, METH_NOARGS, NULL },
    { "sources", batch_sources, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_dealloc, batch_dealloc },
    { Py_tp_methods, methods },
    { Py_tp_getset, properties },
    { Py_tp_doc, "A batch of the library; leat.Batch wraps it." },
    { 0, NULL },
};

static PyType_Spec spec = { .name = "leat._leat.Batch",
                            .basicsize = sizeof(struct batch),
                            .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                            .slots = slots };

/* Adds OUTPUTS, a dict of the outputs in their order: {name: (bit, dtype)}. The dtype is None if the loader chooses
 * it. */
static int add_outputs(PyObject *module)
{
    static const char *const dtypes[] = { [BATCH_NUMBERS] = NULL, [BATCH_MASK] = "bool", [BATCH_FLOATS] = "float32",
                                          [BATCH_LIST] = "int32", [BATCH_AHEAD] = NULL,  [BATCH_WIDE] = "int64" };
    PyObject *outputs = PyDict_New();
    int ok = outputs != NULL;

    for (int i = 0; ok && i < BATCH_OUTPUTS; i++) {
        PyObject *row = Py_BuildValue("(Iz)", (unsigned)rows[i].bit, dtypes[rows[i].kind]);

        ok = row && PyDict_SetItemString(outputs, rows[i].name, row) == 0;
        Py_XDECREF(row);
    }
    ok = ok && PyModule_AddObjectRef(module, "OUTPUTS", outputs) == 0;
    Py_XDECREF(outputs);
    return ok ? 0 : -1;
}

int batch_register(PyObject *module)
{
    make_properties();
    return add_outputs(module) < 0 ? -1 : module_add_type(module, &spec, &batch_type);
}
