/*
 * dataset.c: see dataset.h.
 *
 * Every method runs between dataset_begin(), which holds the handle so that close() on another thread cannot close the
 * dataset under it, and dataset_end(), which drops the handle and raises the error. Calls that may read files release
 * the GIL. read() and starts() copy into new memory, whose size is checked against the dataset first; view() gives an
 * Array of the map itself, whose handle releases the view and keeps the dataset open until then.
 */
#include "dataset.h"

#include <stdbool.h>
#include <stdlib.h>

#include "core/args.h"
#include "core/array.h"
#include "core/memory.h"

static PyTypeObject *dataset_type;

static struct dataset *dataset_of(PyObject *self)
{
    return (struct dataset *)(void *)self;
}

static void close_dataset(void *d)
{
    leat_dataset_close(d);
}

int dataset_begin(PyObject *self, struct dataset_call *call)
{
    struct dataset *object = dataset_of(self);

    if (!object->handle) {
        PyErr_SetString(PyExc_ValueError, "this dataset is closed");
        return 0;
    }
    call->handle = handle_hold(object->handle);
    call->d = handle_thing(call->handle);
    call->name = PyBytes_AsString(object->name);
    return 1;
}

PyObject *dataset_end(struct dataset_call *call, enum leat_status s, PyObject *result)
{
    handle_drop(call->handle);
    if (s == LEAT_OK)
        return result;
    Py_XDECREF(result);
    return errors_raise(&call->err, call->name);
}

PyObject *dataset_wrap(struct handle *handle, const char *name)
{
    struct dataset *self = PyObject_New(struct dataset, dataset_type);

    if (!self)
        return NULL;
    self->handle = handle_hold(handle);
    self->decoder = NULL;
    self->name = PyBytes_FromString(name);
    if (self->name)
        return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

struct handle *dataset_handle(PyObject *object)
{
    if (!PyObject_TypeCheck(object, dataset_type))
        return PyErr_SetString(PyExc_TypeError, "expected a leat.Dataset"), NULL;
    if (!dataset_of(object)->handle)
        return PyErr_SetString(PyExc_ValueError, "this dataset is closed"), NULL;
    return dataset_of(object)->handle;
}

static void dataset_dealloc(PyObject *self)
{
    struct dataset *object = dataset_of(self);

    dataset_decoder_free(object->decoder);
    handle_drop(object->handle);
    Py_XDECREF(object->name);
    module_free_object(self);
}

static PyObject *dataset_close(PyObject *self, PyObject *unused)
{
    struct dataset *object = dataset_of(self);
    struct handle *handle = object->handle;

    (void)unused;
    object->handle = NULL;
    ARGS_UNLOCKED(handle_drop(handle));
    Py_RETURN_NONE;
}

/* open_dataset(names, opening) */
static PyObject *open_dataset(PyObject *module, PyObject *args)
{
    struct leat_open_options options = LEAT_OPEN_OPTIONS_INIT;
    PyObject *names, *owner, *result = NULL;
    struct leat_dataset *d;
    struct leat_error err;
    struct handle *handle;
    enum leat_status s;
    const char **paths;
    size_t count;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO&:open_dataset", &names, args_opening, &options))
        return NULL;
    paths = args_paths(names, &count, &owner);
    if (!paths)
        return NULL;
    ARGS_UNLOCKED(s = leat_dataset_open_list(&d, paths, count, &options, &err));
    if (s != LEAT_OK) {
        errors_raise(&err, count > 0 ? paths[0] : NULL);
    } else {
        handle = handle_make(d, close_dataset);
        result = handle ? dataset_wrap(handle, paths[0]) : PyErr_NoMemory();
        handle_drop(handle);
    }
    PyMem_Free(paths);
    Py_DECREF(owner);
    return result;
}

/* ---- Facts ---- */

static PyObject *dataset_info(PyObject *self, PyObject *unused)
{
    struct leat_info i = LEAT_INFO_INIT;
    struct dataset_call call;

    (void)unused;
    if (!dataset_begin(self, &call))
        return NULL;
    leat_dataset_info(call.d, &i);
    return dataset_end(
        &call, LEAT_OK,
        Py_BuildValue(
            "{s:K,s:N,s:K,s:K,s:K,s:N,s:N,s:K,s:K,s:N,s:I,s:I,s:O,s:O,s:O,s:O,s:y#,s:y#}", "tokens",
            (unsigned long long)i.tokens, "documents", args_number(i.documents), "inputs", (unsigned long long)i.inputs,
            "parts", (unsigned long long)i.parts, "vocabulary", (unsigned long long)i.vocabulary, "end_token",
            args_number(i.end_token), "begin_token", args_number(i.begin_token), "token_bytes",
            (unsigned long long)i.token_bytes, "index_bytes", (unsigned long long)i.index_bytes, "created",
            args_number(i.created ? i.created : LEAT_NONE), "token_width", i.token_width, "format_version",
            i.format_version, "stores_lines", i.stores_lines ? Py_True : Py_False, "stores_ids",
            i.stores_ids ? Py_True : Py_False, "stores_hashes", i.stores_hashes ? Py_True : Py_False, "stores_mask",
            i.stores_mask ? Py_True : Py_False, "identity", (const char *)i.identity, (Py_ssize_t)sizeof i.identity,
            "fingerprint", (const char *)i.fingerprint, (Py_ssize_t)sizeof i.fingerprint));
}

static PyObject *dataset_part(PyObject *self, PyObject *args)
{
    struct leat_part p = LEAT_PART_INIT;
    struct dataset_call call;
    enum leat_status s;
    uint64_t number;

    if (!PyArg_ParseTuple(args, "O&:part", args_u64, &number) || !dataset_begin(self, &call))
        return NULL;
    s = leat_dataset_part(call.d, number, &p, &call.err);
    return dataset_end(&call, s,
                       s != LEAT_OK ? NULL
                                    : Py_BuildValue("(NKKNNKKy#)", args_text(p.name), (unsigned long long)p.first_token,
                                                    (unsigned long long)p.tokens, args_number(p.first_document),
                                                    args_number(p.documents), (unsigned long long)p.first_input,
                                                    (unsigned long long)p.inputs, (const char *)p.identity,
                                                    (Py_ssize_t)sizeof p.identity));
}

/* ---- Tokens ---- */

/* read(first, count): an Array of the stored width, a copy. */
static PyObject *dataset_read(PyObject *self, PyObject *args)
{
    struct array_shape a = { .dimensions = 1, .kind = ARRAY_UNSIGNED, .writable = 1 };
    struct leat_info info = LEAT_INFO_INIT;
    struct handle *memory = NULL;
    struct dataset_call call;
    uint64_t first, count;
    enum leat_status s;
    PyObject *result;

    if (!PyArg_ParseTuple(args, "O&O&:read", args_u64, &first, args_u64, &count) || !dataset_begin(self, &call))
        return NULL;
    leat_dataset_info(call.d, &info);
    a.bytes = info.token_width;
    /* a count beyond the dataset is refused by the call, before anything is written */
    if (count <= info.tokens)
        memory = memory_make(NULL, (size_t)count * a.bytes);
    if (count <= info.tokens && !memory)
        return dataset_end(&call, LEAT_OK, PyErr_NoMemory());
    a.data = memory ? handle_thing(memory) : NULL;
    a.shape[0] = (int64_t)count;
    ARGS_UNLOCKED(s = leat_dataset_read(call.d, first, count, a.data, &call.err));
    result = s == LEAT_OK ? array_make(memory, &a) : NULL;
    handle_drop(memory);
    return dataset_end(&call, s, result);
}

static void release_view(void *view)
{
    leat_view_release(view);
    free(view);
}

/* view(first, count): an Array in the map. */
static PyObject *dataset_view(PyObject *self, PyObject *args)
{
    struct array_shape a = { .dimensions = 1, .kind = ARRAY_UNSIGNED, .little = 1 };
    struct leat_info info = LEAT_INFO_INIT;
    struct handle *handle = NULL;
    struct leat_view *view;
    struct dataset_call call;
    uint64_t first, count;
    enum leat_status s;
    PyObject *result = NULL;

    if (!PyArg_ParseTuple(args, "O&O&:view", args_u64, &first, args_u64, &count) || !dataset_begin(self, &call))
        return NULL;
    view = malloc(sizeof *view);
    if (!view)
        return dataset_end(&call, LEAT_OK, PyErr_NoMemory());
    leat_dataset_info(call.d, &info);
    ARGS_UNLOCKED(s = leat_dataset_view(call.d, first, count, view, &call.err));
    if (s != LEAT_OK) {
        free(view);
        return dataset_end(&call, s, NULL);
    }
    a.bytes = info.token_width;
    a.data = (void *)(uintptr_t)view->tokens;
    a.shape[0] = (int64_t)view->count;
    handle = handle_make(view, release_view);
    if (handle && handle_needs(handle, call.handle))
        result = array_make(handle, &a);
    else
        PyErr_NoMemory();
    handle_drop(handle);
    return dataset_end(&call, LEAT_OK, result);
}

/* ---- Documents ---- */

static PyObject *dataset_document(PyObject *self, PyObject *args)
{
    struct dataset_call call;
    uint64_t number, first = 0, count = 0;
    enum leat_status s;

    if (!PyArg_ParseTuple(args, "O&:document", args_u64, &number) || !dataset_begin(self, &call))
        return NULL;
    ARGS_UNLOCKED(s = leat_dataset_document(call.d, number, &first, &count, &call.err));
    return dataset_end(&call, s, Py_BuildValue("(KK)", (unsigned long long)first, (unsigned long long)count));
}

/* A number for each document, or for each token, from `first` on, as an Array. */
static PyObject *numbers(PyObject *self, PyObject *args, const char *format, bool starts)
{
    struct array_shape a = { .dimensions = 1, .kind = ARRAY_UNSIGNED, .bytes = starts ? 8 : 1, .writable = 1 };
    struct leat_info info = LEAT_INFO_INIT;
    struct handle *memory = NULL;
    struct dataset_call call;
    uint64_t first, count, most;
    enum leat_status s;
    PyObject *result;

    if (!PyArg_ParseTuple(args, format, args_u64, &first, args_u64, &count) || !dataset_begin(self, &call))
        return NULL;
    leat_dataset_info(call.d, &info);
    most = starts ? info.documents + 1 : info.tokens;
    if (count <= most) /* more is refused before it is written */
        memory = memory_make(NULL, (size_t)count * a.bytes);
    if (count <= most && !memory)
        return dataset_end(&call, LEAT_OK, PyErr_NoMemory());
    a.data = memory ? handle_thing(memory) : NULL;
    a.shape[0] = (int64_t)count;
    ARGS_UNLOCKED(s = starts ? leat_dataset_starts(call.d, first, count, a.data, &call.err)
                             : leat_dataset_mask(call.d, first, count, a.data, &call.err));
    result = s == LEAT_OK ? array_make(memory, &a) : NULL;
    handle_drop(memory);
    return dataset_end(&call, s, result);
}

/* starts(number, count): an Array of u64. */
static PyObject *dataset_starts(PyObject *self, PyObject *args)
{
    return numbers(self, args, "O&O&:starts", true);
}

/* mask(first, count): an Array of u8. */
static PyObject *dataset_mask(PyObject *self, PyObject *args)
{
    return numbers(self, args, "O&O&:mask", false);
}

static PyObject *dataset_documents_in(PyObject *self, PyObject *args)
{
    struct dataset_call call;
    uint64_t first, count, document = 0, documents = 0;
    enum leat_status s;

    if (!PyArg_ParseTuple(args, "O&O&:documents_in", args_u64, &first, args_u64, &count) || !dataset_begin(self, &call))
        return NULL;
    ARGS_UNLOCKED(s = leat_dataset_documents_in(call.d, first, count, &document, &documents, &call.err));
    return dataset_end(&call, s, Py_BuildValue("(KK)", (unsigned long long)document, (unsigned long long)documents));
}

/* ---- The type ---- */

static PyMethodDef methods[] = {
    { "close", dataset_close, METH_NOARGS, NULL },
    { "info", dataset_info, METH_NOARGS, NULL },
    { "part", dataset_part, METH_VARARGS, NULL },
    { "read", dataset_read, METH_VARARGS, NULL },
    { "view", dataset_view, METH_VARARGS, NULL },
    { "document", dataset_document, METH_VARARGS, NULL },
    { "starts", dataset_starts, METH_VARARGS, NULL },
    { "mask", dataset_mask, METH_VARARGS, NULL },
    { "documents_in", dataset_documents_in, METH_VARARGS, NULL },
    { "input", dataset_input, METH_VARARGS, NULL },
    { "origin", dataset_origin, METH_VARARGS, NULL },
    { "text_hash", dataset_text_hash, METH_VARARGS, NULL },
    { "find_input", dataset_find_input, METH_VARARGS, NULL },
    { "find_origin", dataset_find_origin, METH_VARARGS, NULL },
    { "find_id", dataset_find_id, METH_VARARGS, NULL },
    { "tokenizer", dataset_tokenizer, METH_NOARGS, NULL },
    { "metadata", dataset_metadata, METH_VARARGS, NULL },
    { "verify", dataset_verify, METH_VARARGS, NULL },
    { "verify_range", dataset_verify_range, METH_VARARGS, NULL },
    { "decode", dataset_decode, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_dealloc, dataset_dealloc },
    { Py_tp_methods, methods },
    { Py_tp_doc, "An open dataset; leat.open() wraps it." },
    { 0, NULL },
};

static PyType_Spec spec = { .name = "leat._leat.Dataset",
                            .basicsize = sizeof(struct dataset),
                            .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                            .slots = slots };

static PyMethodDef functions[] = {
    { "open_dataset", open_dataset, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

int dataset_register(PyObject *module)
{
    return module_add_type(module, &spec, &dataset_type) < 0 ? -1 : PyModule_AddFunctions(module, functions);
}
