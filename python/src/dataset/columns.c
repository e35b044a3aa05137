/* columns.c: reads and attaches columns. An Array of a column holds the view, which holds column and dataset. */
#include "columns.h"

#include <stdlib.h>

#include "core/array.h"
#include "dataset.h"

/* ---- Reading ---- */

/* The kinds of numbers in Python, by type; numpy has no bf16, whose bits it gets. */
static enum array_kind kind_of(uint32_t type)
{
    if (type == LEAT_COLUMN_F16 || type == LEAT_COLUMN_F32)
        return ARRAY_FLOAT;
    return type == LEAT_COLUMN_I32 || type == LEAT_COLUMN_I64 ? ARRAY_SIGNED : ARRAY_UNSIGNED;
}

static PyObject *describe(const struct leat_column_info *c)
{
    return Py_BuildValue("(KssKs)", (unsigned long long)c->part, c->name, leat_column_type_name(c->type),
                         (unsigned long long)c->width, c->at == LEAT_COLUMN_TOKEN ? "token" : "document");
}

/* columns(dataset): Returns a list of (part, name, type, width, at). */
static PyObject *columns(PyObject *module, PyObject *args)
{
    struct leat_columns *found = NULL;
    struct leat_error err;
    struct handle *handle;
    PyObject *dataset, *list;
    enum leat_status s;

    (void)module;
    if (!PyArg_ParseTuple(args, "O:columns", &dataset) || !(handle = dataset_handle(dataset)))
        return NULL;
    handle_hold(handle);
    ARGS_UNLOCKED(s = leat_dataset_columns(handle_object(handle), &found, &err));
    handle_drop(handle);
    if (s != LEAT_OK)
        return errors_raise(&err);
    list = PyList_New(0);
    for (uint64_t i = 0; list && i < found->count; i++) {
        PyObject *one = describe(&found->columns[i]);

        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    leat_columns_free(found);
    return list;
}

static void close_column(void *c)
{
    leat_column_close(c);
}

static void release_view(void *view)
{
    leat_view_release(view);
    free(view);
}

/* Returns a handle on the values of a column: a view, or a copy where the file is not mapped. */
static struct handle *hold_values(struct handle *column, const struct leat_column_info *info, void **data,
                                  enum leat_status *s, struct leat_error *err)
{
    const struct leat_column *c = handle_object(column);
    struct leat_view *view = malloc(sizeof *view);
    struct handle *held;

    *s = LEAT_OK;
    if (!view)
        return NULL;
    ARGS_UNLOCKED(*s = leat_column_view(c, 0, info->entries, view, err));
    if (*s == LEAT_OK) {
        *data = (void *)(uintptr_t)view->tokens;
        held = handle_make(view, release_view);
        if (held && handle_needs(held, column))
            return held;
        handle_drop(held);
        return NULL;
    }
    free(view);
    if (*s != LEAT_E_NOT_MAPPED)
        return NULL;
    *s = LEAT_OK;
    held = memory_make(NULL, (size_t)info->bytes);
    *data = held ? handle_object(held) : NULL;
    if (held)
        ARGS_UNLOCKED(*s = leat_column_read(c, 0, info->entries, *data, err));
    if (*s == LEAT_OK)
        return held;
    handle_drop(held);
    return NULL;
}

/* Returns the texts of a category as a list of str; None for another column. */
static PyObject *texts_of(const struct leat_column *c, const struct leat_column_info *info)
{
    PyObject *list;

    if (info->type != LEAT_COLUMN_CATEGORY)
        return Py_NewRef(Py_None);
    list = PyList_New((Py_ssize_t)info->texts);
    for (uint64_t i = 0; list && i < info->texts; i++) {
        const char *text = NULL;
        uint64_t bytes = 0;
        PyObject *one = leat_column_text(c, i, &text, &bytes, NULL) == LEAT_OK ? args_text_n(text, bytes) : NULL;

        if (!one || PyList_SetItem(list, (Py_ssize_t)i, one) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *make_array(struct handle *column, const struct leat_column_info *info)
{
    struct array_shape a = { .dimensions = info->width > 1 ? 2 : 1, .kind = kind_of(info->type), .little = 1 };
    struct leat_error err;
    enum leat_status s;
    struct handle *values = hold_values(column, info, &a.data, &s, &err);
    PyObject *array;

    if (!values)
        return s == LEAT_OK ? PyErr_NoMemory() : errors_raise(&err);
    a.bytes = info->entry_bytes / info->width;
    a.shape[0] = (int64_t)info->entries;
    a.shape[1] = info->width;
    array = array_make(values, &a);
    handle_drop(values);
    return array;
}

/* column(dataset, name): Returns an Array of its values, and its texts or None. */
static PyObject *column(PyObject *module, PyObject *args)
{
    struct leat_column_info info = LEAT_COLUMN_INFO_INIT;
    struct leat_column *c = NULL;
    struct handle *handle, *held;
    struct leat_error err;
    PyObject *dataset, *array = NULL, *texts = NULL;
    const char *name;
    enum leat_status s;

    (void)module;
    if (!PyArg_ParseTuple(args, "Os:column", &dataset, &name) || !(handle = dataset_handle(dataset)))
        return NULL;
    handle_hold(handle);
    ARGS_UNLOCKED(s = leat_column_open(&c, handle_object(handle), name, &err));
    if (s != LEAT_OK) {
        handle_drop(handle);
        return errors_raise(&err);
    }
    leat_column_info(c, &info);
    held = handle_make(c, close_column);
    if (held && handle_needs(held, handle)) {
        array = make_array(held, &info);
        texts = array ? texts_of(c, &info) : NULL;
    } else
        PyErr_NoMemory();
    handle_drop(held);
    handle_drop(handle);
    if (texts)
        return Py_BuildValue("(NN)", array, texts);
    Py_XDECREF(array);
    return NULL;
}

/* column_type(text): Returns (type, width) of "f32", "u32x8". */
static PyObject *column_type(PyObject *module, PyObject *args)
{
    struct leat_error err;
    uint32_t type, width;
    const char *text;

    (void)module;
    if (!PyArg_ParseTuple(args, "s:column_type", &text))
        return NULL;
    if (leat_column_type_read(text, &type, &width, &err) != LEAT_OK)
        return errors_raise(&err);
    return ARGS_TUPLE(type, width);
}

/* ---- Attaching ---- */

struct writer {
    PyObject base;
    struct leat_column_writer *w; /* NULL: ended */
    struct handle *dataset;
};

static PyTypeObject *writer_type;

static struct writer *writer_of(PyObject *self)
{
    return (struct writer *)(void *)self;
}

/* column_range(dataset, part, parts): Returns (first document, count). */
static PyObject *column_range(PyObject *module, PyObject *args)
{
    struct handle *handle;
    struct leat_error err;
    PyObject *dataset;
    enum leat_status s;
    uint64_t part, parts, first, count;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO&O&:column_range", &dataset, args_u64, &part, args_u64, &parts) ||
        !(handle = dataset_handle(dataset)))
        return NULL;
    handle_hold(handle);
    ARGS_UNLOCKED(s = leat_column_range(handle_object(handle), part, parts, &first, &count, &err));
    handle_drop(handle);
    return s == LEAT_OK ? ARGS_TUPLE(first, count) : errors_raise(&err);
}

/* column_commit(dataset, name, parts, force) */
static PyObject *column_commit(PyObject *module, PyObject *args)
{
    struct handle *handle;
    struct leat_error err;
    PyObject *dataset;
    const char *name;
    enum leat_status s;
    uint64_t parts;
    uint32_t force;

    (void)module;
    if (!PyArg_ParseTuple(args, "OsO&I:column_commit", &dataset, &name, args_u64, &parts, &force) ||
        !(handle = dataset_handle(dataset)))
        return NULL;
    handle_hold(handle);
    ARGS_UNLOCKED(s = leat_column_commit(handle_object(handle), name, parts, force, &err));
    handle_drop(handle);
    return errors_none(s, &err);
}

/* column_writer(dataset, name, type, width, at, force, part, parts) */
static PyObject *column_writer(PyObject *module, PyObject *args)
{
    struct leat_column_options options = LEAT_COLUMN_OPTIONS_INIT;
    struct leat_column_writer *w = NULL;
    struct handle *handle;
    struct leat_error err;
    PyObject *dataset, *self;
    enum leat_status s;

    (void)module;
    if (!PyArg_ParseTuple(args, "OsIIIIO&O&:column_writer", &dataset, &options.name, &options.type, &options.width,
                          &options.at, &options.force, args_u64, &options.part, args_u64, &options.parts) ||
        !(handle = dataset_handle(dataset)))
        return NULL;
    handle_hold(handle);
    ARGS_UNLOCKED(s = leat_column_writer_open(&w, handle_object(handle), &options, &err));
    self = s == LEAT_OK ? module_new_object(writer_type) : NULL;
    if (!self) {
        leat_column_writer_abandon(w);
        handle_drop(handle);
        return s == LEAT_OK ? NULL : errors_raise(&err);
    }
    writer_of(self)->w = w;
    writer_of(self)->dataset = handle;
    return self;
}

static struct leat_column_writer *take(PyObject *self)
{
    struct leat_column_writer *w = writer_of(self)->w;

    writer_of(self)->w = NULL;
    if (!w)
        PyErr_SetString(PyExc_ValueError, "this column is finished");
    return w;
}

/* Ends a call of the writer that took it: gives it back, or abandons it after a failure. */
static PyObject *give_back(PyObject *self, struct leat_column_writer *w, enum leat_status s,
                           const struct leat_error *err)
{
    if (s == LEAT_OK)
        writer_of(self)->w = w;
    else
        leat_column_writer_abandon(w);
    return errors_none(s, err);
}

/* add(address, entries, type) */
static PyObject *writer_add(PyObject *self, PyObject *args)
{
    struct leat_column_writer *w;
    struct leat_error err;
    enum leat_status s;
    uint64_t entries;
    uint32_t type;
    void *values;

    if (!PyArg_ParseTuple(args, "O&O&I:add", args_address, &values, args_u64, &entries, &type) || !(w = take(self)))
        return NULL;
    ARGS_UNLOCKED(s = leat_column_writer_add(w, values, entries, type, &err));
    return give_back(self, w, s, &err);
}

/* texts(text, ends): the texts in UTF-8, one after another, and where each ends */
static PyObject *writer_texts(PyObject *self, PyObject *args)
{
    struct leat_column_writer *w;
    struct leat_error err;
    enum leat_status s;
    PyObject *list;
    const char *text;
    Py_ssize_t bytes, count;
    uint64_t *ends;

    if (!PyArg_ParseTuple(args, "y#O!:texts", &text, &bytes, &PyList_Type, &list))
        return NULL;
    count = PyList_Size(list);
    ends = PyMem_Malloc(((size_t)count + 1) * sizeof *ends);
    if (!ends)
        return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count; i++)
        if (!args_u64(PyList_GetItem(list, i), &ends[i]) || ends[i] > (uint64_t)bytes) {
            PyMem_Free(ends);
            return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "text %zd ends after all texts", i);
        }
    w = take(self);
    s = w ? leat_column_writer_texts(w, text, ends, (uint64_t)count, &err) : LEAT_OK;
    PyMem_Free(ends);
    return w ? give_back(self, w, s, &err) : NULL;
}

static PyObject *writer_finish(PyObject *self, PyObject *unused)
{
    struct leat_column_writer *w = take(self);
    struct leat_error err;
    enum leat_status s;

    (void)unused;
    if (!w)
        return NULL;
    ARGS_UNLOCKED(s = leat_column_writer_finish(w, &err));
    return give_back(self, s == LEAT_OK ? NULL : w, s, &err);
}

static PyObject *writer_abandon(PyObject *self, PyObject *unused)
{
    (void)unused;
    leat_column_writer_abandon(writer_of(self)->w);
    writer_of(self)->w = NULL;
    Py_RETURN_NONE;
}

static void writer_dealloc(PyObject *self)
{
    leat_column_writer_abandon(writer_of(self)->w);
    handle_drop(writer_of(self)->dataset);
    module_free_object(self);
}

/* ---- The module ---- */

static PyMethodDef methods[] = {
    { "add", writer_add, METH_VARARGS, NULL },
    { "texts", writer_texts, METH_VARARGS, NULL },
    { "finish", writer_finish, METH_NOARGS, NULL },
    { "abandon", writer_abandon, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_dealloc, writer_dealloc },
    { Py_tp_methods, methods },
    { Py_tp_doc, "Attaches a column; leat.attach() uses it." },
    { 0, NULL },
};

static PyType_Spec spec = { .name = "leat._leat.ColumnWriter",
                            .basicsize = sizeof(struct writer),
                            .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                            .slots = slots };

static PyMethodDef functions[] = {
    { "columns", columns, METH_VARARGS, NULL },
    { "column", column, METH_VARARGS, NULL },
    { "column_commit", column_commit, METH_VARARGS, NULL },
    { "column_range", column_range, METH_VARARGS, NULL },
    { "column_type", column_type, METH_VARARGS, NULL },
    { "column_writer", column_writer, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

int columns_register(PyObject *module)
{
    PyObject *numbers = PyDict_New();
    const char *name;

    for (uint32_t type = LEAT_COLUMN_U8; numbers && (name = leat_column_type_name(type)) != NULL; type++) {
        PyObject *number = PyLong_FromUnsignedLong(type);

        if (!number || PyDict_SetItemString(numbers, name, number) < 0)
            Py_CLEAR(numbers);
        Py_XDECREF(number);
    }
    if (!numbers || PyModule_AddObjectRef(module, "COLUMN_TYPES", numbers) < 0) {
        Py_XDECREF(numbers);
        return -1;
    }
    Py_DECREF(numbers);
    return module_add_type(module, &spec, &writer_type) < 0 ? -1 : PyModule_AddFunctions(module, functions);
}
