/*
 * dataset.c: the methods of leat._leat.Dataset.
 *
 * Every method runs between dataset_begin(), which holds the handle so that close() on another thread cannot close
 * the dataset during the call, and dataset_end(), which drops the handle and raises the error. Calls that may read
 * files release the GIL. Tokens, starts and masks are copied into new memory, whose size is checked against the
 * dataset first; view() gives an Array of the map itself, whose handle releases the view and keeps the dataset open
 * until then.
 */
#include "dataset.h"

#include <inttypes.h>
#include <leat_pack.h>
#include <stdlib.h>

#include "core/array.h"
#include "core/pause.h"
#include "stored_decoder.h"

/* ---- The object ---- */

struct dataset {
    PyObject base;
    struct handle *handle; /* NULL: closed */
    struct stored_decoder
        *decoder; /* decoder that is kept between calls, because opening one takes milliseconds; NULL: not needed
                     yet, or in use */
};

/* The dataset of a call, which is held while the call runs, so that another thread may close the object. */
struct dataset_call {
    struct handle *handle;
    const struct leat_dataset *d;
    struct leat_error err;
};

static PyTypeObject *dataset_type;

static struct dataset *dataset_of(PyObject *self)
{
    return (struct dataset *)(void *)self;
}

static void close_dataset(void *d)
{
    leat_dataset_close(d);
}

/* Begins a call. Returns 0 with an exception set if the dataset is closed. */
static int dataset_begin(PyObject *self, struct dataset_call *call)
{
    struct dataset *object = dataset_of(self);

    if (!object->handle) {
        PyErr_SetString(PyExc_ValueError, "this dataset is closed");
        return 0;
    }
    call->handle = handle_hold(object->handle);
    call->d = handle_object(call->handle);
    return 1;
}

/* Ends a call, and returns `result` if the status is LEAT_OK; otherwise drops it and raises the error. */
static PyObject *dataset_end(struct dataset_call *call, enum leat_status s, PyObject *result)
{
    handle_drop(call->handle);
    if (s == LEAT_OK)
        return result;
    Py_XDECREF(result);
    return errors_raise(&call->err);
}

PyObject *dataset_wrap(struct handle *handle)
{
    struct dataset *self = PyObject_New(struct dataset, dataset_type);

    if (!self)
        return NULL;
    self->handle = handle_hold(handle);
    self->decoder = NULL;
    return (PyObject *)self;
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

    stored_decoder_free(object->decoder);
    handle_drop(object->handle);
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
        errors_raise(&err);
    } else {
        handle = handle_make(d, close_dataset);
        result = handle ? dataset_wrap(handle) : PyErr_NoMemory();
        handle_drop(handle);
    }
    PyMem_Free(paths);
    Py_DECREF(owner);
    return result;
}

/* ---- Facts ---- */

#define NUMBER(member) FIELD_ROW(FIELD_NUMBER, leat_info, member)
#define MAYBE(member)  FIELD_ROW(FIELD_MAYBE, leat_info, member)
#define FLAG(member)   FIELD_ROW(FIELD_FLAG, leat_info, member)
#define BYTES(member)  FIELD_ROW(FIELD_BYTES, leat_info, member)
static const struct field facts[] = {
    NUMBER(tokens),      MAYBE(documents),       NUMBER(inputs),      NUMBER(parts),       NUMBER(vocabulary),
    MAYBE(end_token),    MAYBE(begin_token),     NUMBER(token_bytes), NUMBER(index_bytes), MAYBE(created),
    NUMBER(token_width), NUMBER(format_version), FLAG(stores_lines),  FLAG(stores_ids),    FLAG(stores_hashes),
    FLAG(stores_mask),   BYTES(identity),        BYTES(fingerprint),
};

static PyObject *dataset_info(PyObject *self, PyObject *unused)
{
    struct leat_info info = LEAT_INFO_INIT;
    struct dataset_call call;

    (void)unused;
    if (!dataset_begin(self, &call))
        return NULL;
    leat_dataset_info(call.d, &info);
    if (info.created == 0)
        info.created = LEAT_NONE;
    return dataset_end(&call, LEAT_OK, fields_dict(FIELDS(facts), &info));
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

enum numbers { TOKENS, STARTS, MASK };

static enum leat_status read_numbers(const struct leat_dataset *d, enum numbers what, uint64_t first, uint64_t count,
                                     void *numbers, struct leat_error *err)
{
    if (what == STARTS)
        return leat_dataset_starts(d, first, count, numbers, err);
    return what == MASK ? leat_dataset_mask(d, first, count, numbers, err)
                        : leat_dataset_read(d, first, count, numbers, err);
}

/* Returns an Array with a copy of a number for each token or document from `first` on. */
static PyObject *copy_numbers(PyObject *self, PyObject *args, const char *format, enum numbers what)
{
    struct array_shape a = { .dimensions = 1, .kind = ARRAY_UNSIGNED, .writable = 1 };
    struct leat_info info = LEAT_INFO_INIT;
    struct handle *memory = NULL;
    struct dataset_call call;
    uint64_t first, count, most;
    enum leat_status s;
    PyObject *result;

    if (!PyArg_ParseTuple(args, format, args_u64, &first, args_u64, &count) || !dataset_begin(self, &call))
        return NULL;
    leat_dataset_info(call.d, &info);
    a.bytes = what == STARTS ? 8 : what == MASK ? 1 : info.token_width;
    most = what == STARTS ? info.documents + 1 : info.tokens;
    if (count <= most) /* The call refuses a larger count before it writes. */
        memory = memory_make(NULL, (size_t)count * a.bytes);
    if (count <= most && !memory)
        return dataset_end(&call, LEAT_OK, PyErr_NoMemory());
    a.data = memory ? handle_object(memory) : NULL;
    a.shape[0] = (int64_t)count;
    ARGS_UNLOCKED(s = read_numbers(call.d, what, first, count, a.data, &call.err));
    result = s == LEAT_OK ? array_make(memory, &a) : NULL;
    handle_drop(memory);
    return dataset_end(&call, s, result);
}

/* read(first, count): Returns an Array of tokens in the stored width. */
static PyObject *dataset_read(PyObject *self, PyObject *args)
{
    return copy_numbers(self, args, "O&O&:read", TOKENS);
}

/* starts(number, count): Returns an Array of u64. */
static PyObject *dataset_starts(PyObject *self, PyObject *args)
{
    return copy_numbers(self, args, "O&O&:starts", STARTS);
}

/* mask(first, count): Returns an Array of u8. */
static PyObject *dataset_mask(PyObject *self, PyObject *args)
{
    return copy_numbers(self, args, "O&O&:mask", MASK);
}

static void release_view(void *view)
{
    leat_view_release(view);
    free(view);
}

/* view(first, count): Returns an Array in the map. */
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
    return dataset_end(&call, s, ARGS_TUPLE(first, count));
}

static PyObject *dataset_documents_in(PyObject *self, PyObject *args)
{
    struct dataset_call call;
    uint64_t first, count, document = 0, documents = 0;
    enum leat_status s;

    if (!PyArg_ParseTuple(args, "O&O&:documents_in", args_u64, &first, args_u64, &count) || !dataset_begin(self, &call))
        return NULL;
    ARGS_UNLOCKED(s = leat_dataset_documents_in(call.d, first, count, &document, &documents, &call.err));
    return dataset_end(&call, s, ARGS_TUPLE(document, documents));
}

/* ---- Where documents came from ---- */

/* Reads a string of the index by a call of this type. Returns NULL with an exception set, or with the call's failure
 * in *s. */
typedef enum leat_status string_call(const struct leat_dataset *d, uint64_t number, char *text, size_t capacity,
                                     uint64_t *bytes, struct leat_error *err);

static PyObject *string_of(string_call *get, struct dataset_call *call, uint64_t number, enum leat_status *s)
{
    PyObject *result = NULL;
    uint64_t bytes = 0;
    char *text;

    *s = get(call->d, number, NULL, 0, &bytes, &call->err);
    if (*s != LEAT_OK)
        return NULL;
    text = bytes < PY_SSIZE_T_MAX ? PyMem_Malloc((size_t)bytes + 1) : NULL;
    if (!text)
        return PyErr_NoMemory();
    *s = get(call->d, number, text, (size_t)bytes + 1, &bytes, &call->err);
    if (*s == LEAT_OK)
        result = args_text_n(text, bytes);
    PyMem_Free(text);
    return result;
}

/* input(number): Returns (path, bytes, documents, tokens, rejects, hash). */
static PyObject *dataset_input(PyObject *self, PyObject *args)
{
    struct leat_input input = LEAT_INPUT_INIT;
    struct dataset_call call;
    PyObject *path = NULL;
    enum leat_status s;
    uint64_t number;

    if (!PyArg_ParseTuple(args, "O&:input", args_u64, &number) || !dataset_begin(self, &call))
        return NULL;
    s = leat_dataset_input(call.d, number, &input, &call.err);
    if (s == LEAT_OK)
        path = string_of(leat_dataset_input_path, &call, number, &s);
    if (!path)
        return dataset_end(&call, s, NULL);
    return dataset_end(&call, s,
                       Py_BuildValue("(NKKKKy#)", path, (unsigned long long)input.bytes,
                                     (unsigned long long)input.documents, (unsigned long long)input.tokens,
                                     (unsigned long long)input.rejects, (const char *)input.hash,
                                     (Py_ssize_t)sizeof input.hash));
}

static enum leat_status id_of(const struct leat_dataset *d, uint64_t document, char *text, uint64_t capacity,
                              uint64_t *bytes, struct leat_error *err)
{
    return leat_dataset_ids(d, document, 1, text, capacity, bytes, err);
}

/* origin(document): Returns (input, offset, line, id), with None for what is not known. */
static PyObject *dataset_origin(PyObject *self, PyObject *args)
{
    struct leat_origin o = { .input = LEAT_NONE };
    struct dataset_call call;
    enum leat_status s;
    uint64_t document;
    PyObject *id;

    if (!PyArg_ParseTuple(args, "O&:origin", args_u64, &document) || !dataset_begin(self, &call))
        return NULL;
    ARGS_UNLOCKED(s = leat_dataset_origins(call.d, document, 1, &o, &call.err));
    if (s != LEAT_OK)
        return dataset_end(&call, s, NULL);
    id = o.id_bytes > 0 ? string_of(id_of, &call, document, &s) : Py_NewRef(Py_None);
    if (!id)
        return dataset_end(&call, s, NULL);
    return dataset_end(&call, s,
                       Py_BuildValue("(NNNN)", args_number(o.input),
                                     args_number(o.input == LEAT_NONE ? LEAT_NONE : o.offset), args_number(o.line),
                                     id));
}

static PyObject *dataset_text_hash(PyObject *self, PyObject *args)
{
    struct dataset_call call;
    enum leat_status s;
    uint64_t document;
    uint8_t hash[16] = { 0 };

    if (!PyArg_ParseTuple(args, "O&:text_hash", args_u64, &document) || !dataset_begin(self, &call))
        return NULL;
    ARGS_UNLOCKED(s = leat_dataset_text_hashes(call.d, document, 1, &hash, &call.err));
    return dataset_end(&call, s, PyBytes_FromStringAndSize((const char *)hash, sizeof hash));
}

/* ---- The way back ---- */

static PyObject *dataset_find_input(PyObject *self, PyObject *args)
{
    struct dataset_call call;
    uint64_t input = 0;
    enum leat_status s;
    PyObject *path;

    if (!PyArg_ParseTuple(args, "O&:find_input", PyUnicode_FSConverter, &path))
        return NULL;
    if (!dataset_begin(self, &call)) {
        Py_DECREF(path);
        return NULL;
    }
    ARGS_UNLOCKED(s = leat_dataset_find_input(call.d, PyBytes_AsString(path), &input, &call.err));
    Py_DECREF(path);
    return dataset_end(&call, s, PyLong_FromUnsignedLongLong(input));
}

static PyObject *dataset_find_origin(PyObject *self, PyObject *args)
{
    struct dataset_call call;
    uint64_t input, offset, document = 0;
    enum leat_status s;

    if (!PyArg_ParseTuple(args, "O&O&:find_origin", args_u64, &input, args_u64, &offset) || !dataset_begin(self, &call))
        return NULL;
    ARGS_UNLOCKED(s = leat_dataset_find_origin(call.d, input, offset, &document, &call.err));
    return dataset_end(&call, s, PyLong_FromUnsignedLongLong(document));
}

static PyObject *dataset_find_id(PyObject *self, PyObject *args)
{
    struct dataset_call call;
    uint64_t document = 0;
    enum leat_status s;
    Py_ssize_t bytes;
    PyObject *id;
    char *text;

    if (!PyArg_ParseTuple(args, "O&:find_id", PyUnicode_FSConverter, &id))
        return NULL;
    if (PyBytes_AsStringAndSize(id, &text, &bytes) < 0 || !dataset_begin(self, &call)) {
        Py_DECREF(id);
        return NULL;
    }
    ARGS_UNLOCKED(s = leat_dataset_find_id(call.d, text, (uint64_t)bytes, &document, &call.err));
    Py_DECREF(id);
    return dataset_end(&call, s, PyLong_FromUnsignedLongLong(document));
}

/* ---- What else is stored ---- */

/* tokenizer(): Returns (name, pattern, file or None), or None. */
static PyObject *dataset_tokenizer(PyObject *self, PyObject *unused)
{
    struct leat_stored_tokenizer *t;
    struct dataset_call call;
    enum leat_status s;
    PyObject *result;

    (void)unused;
    if (!dataset_begin(self, &call))
        return NULL;
    ARGS_UNLOCKED(s = leat_dataset_tokenizer(call.d, &t, &call.err));
    if (s == LEAT_E_NOT_FOUND)
        return dataset_end(&call, LEAT_OK, Py_NewRef(Py_None));
    if (s != LEAT_OK)
        return dataset_end(&call, s, NULL);
    /* Py_BuildValue() makes None of a NULL for "y#". */
    result = Py_BuildValue("(NNy#)", args_text(t->name), args_text(t->pattern), (const char *)t->file,
                           (Py_ssize_t)t->file_bytes);
    leat_stored_tokenizer_free(t);
    return dataset_end(&call, LEAT_OK, result);
}

/* metadata(part): Returns a dict of str. */
static PyObject *dataset_metadata(PyObject *self, PyObject *args)
{
    struct leat_metadata *m = NULL;
    struct dataset_call call;
    PyObject *result;
    enum leat_status s;
    uint64_t part;

    if (!PyArg_ParseTuple(args, "O&:metadata", args_u64, &part) || !dataset_begin(self, &call))
        return NULL;
    ARGS_UNLOCKED(s = leat_dataset_metadata(call.d, part, &m, &call.err));
    if (s != LEAT_OK)
        return dataset_end(&call, s, NULL);
    result = PyDict_New();
    for (uint64_t i = 0; result && i < m->count; i++) {
        PyObject *key = args_text_n(m->pairs[i].key, m->pairs[i].key_bytes);
        PyObject *value = args_text_n(m->pairs[i].value, m->pairs[i].value_bytes);

        if (!key || !value || PyDict_SetItem(result, key, value) < 0)
            Py_CLEAR(result);
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    leat_metadata_free(m);
    return dataset_end(&call, LEAT_OK, result);
}

/* ---- Checking, with Ctrl-C and progress ---- */

struct verifying {
    struct pause_work call;
    struct dataset_call *dataset;
    struct leat_verify_options options;
    struct leat_verify_report report;
    enum leat_status status;
    PyObject *progress;
    atomic_uint_fast64_t done, total;
};

/* Notes the progress; one of the library's threads calls it. */
static uint32_t note_progress(void *context, uint64_t done, uint64_t total)
{
    struct verifying *v = context;

    atomic_store(&v->done, done);
    atomic_store(&v->total, total);
    return atomic_load(&v->call.stop);
}

static void verify_dataset(void *context)
{
    struct verifying *v = context;

    v->status = leat_dataset_verify(v->dataset->d, &v->options, &v->report, &v->dataset->err);
}

static int tell_verified(struct pause *p, void *context)
{
    struct verifying *v = context;
    uint64_t total = atomic_load(&v->total);

    return total == 0 ? 0
                      : pause_tell(p, v->progress, "(KK)", (unsigned long long)atomic_load(&v->done),
                                   (unsigned long long)total);
}

/* verify(threads, progress): Returns (bytes, damaged_pages, damaged_others, part, page, first_document, documents,
 * unhashed_parts), and None or the first damage as an Error. */
static PyObject *dataset_verify(PyObject *self, PyObject *args)
{
    struct verifying v = { .options = LEAT_VERIFY_OPTIONS_INIT, .report = LEAT_VERIFY_REPORT_INIT };
    const struct leat_verify_report *r = &v.report;
    PyObject *tuple, *damage = NULL;
    struct dataset_call call;

    if (!PyArg_ParseTuple(args, "IO:verify", &v.options.threads, &v.progress) || !dataset_begin(self, &call))
        return NULL;
    v.call = (struct pause_work) { .work = verify_dataset, .look = tell_verified, .context = &v };
    v.dataset = &call;
    v.options.progress = note_progress;
    v.options.context = &v;
    if (pause_run(&v.call) < 0)
        return dataset_end(&call, LEAT_OK, NULL);
    tuple = ARGS_TUPLE(r->bytes, r->damaged_pages, r->damaged_others, r->part,
                       r->part == LEAT_NONE ? LEAT_NONE : r->page, r->first_document, r->documents, r->unhashed_parts);
    if (v.status != LEAT_OK && tuple) {
        errors_raise(&call.err);
        damage = errors_take();
    }
    return dataset_end(&call, LEAT_OK,
                       tuple ? Py_BuildValue("(NN)", tuple, damage ? damage : Py_NewRef(Py_None)) : NULL);
}

static PyObject *dataset_verify_range(PyObject *self, PyObject *args)
{
    struct dataset_call call;
    uint64_t first, count;
    enum leat_status s;

    if (!PyArg_ParseTuple(args, "O&O&:verify_range", args_u64, &first, args_u64, &count) || !dataset_begin(self, &call))
        return NULL;
    ARGS_UNLOCKED(s = leat_dataset_verify_range(call.d, first, count, &call.err));
    return dataset_end(&call, s, Py_NewRef(Py_None));
}

/* ---- Decoding with the stored tokenizer ---- */

static enum leat_status decode(struct stored_decoder **x, const struct leat_dataset *d, uint64_t first, uint64_t count,
                               const char **text, uint64_t *bytes, struct leat_error *err)
{
    enum leat_status s = *x ? LEAT_OK : stored_decoder_open(x, d, err);
    uint32_t *ids;

    if (s != LEAT_OK)
        return s;
    ids = malloc((size_t)count * sizeof *ids + 1);
    if (!ids)
        return errors_set(err, LEAT_E_NO_MEMORY, "no memory for %" PRIu64 " tokens", count);
    s = leat_dataset_read_u32(d, first, count, ids, err);
    if (s == LEAT_OK)
        s = leat_encoder_decode((*x)->encoder, ids, count, text, bytes, err);
    free(ids);
    return s;
}

/* decode(first, count): Returns the bytes that these tokens stand for. Begin and end tokens are special tokens,
 * which are shown by their names. */
static PyObject *dataset_decode(PyObject *self, PyObject *args)
{
    struct dataset *object = dataset_of(self);
    struct leat_info info = LEAT_INFO_INIT;
    struct dataset_call call;
    uint64_t first, count, bytes = 0;
    const char *text = NULL;
    struct stored_decoder *x;
    enum leat_status s;
    PyObject *result = NULL;

    if (!PyArg_ParseTuple(args, "O&O&:decode", args_u64, &first, args_u64, &count) || !dataset_begin(self, &call))
        return NULL;
    leat_dataset_info(call.d, &info);
    if (count > info.tokens)
        count = info.tokens + 1; /* Such a count is out of range, and asks for no memory. */
    /* A thread that calls in the meantime opens its own decoder. */
    x = object->decoder;
    object->decoder = NULL;
    ARGS_UNLOCKED(s = decode(&x, call.d, first, count, &text, &bytes, &call.err));
    if (s == LEAT_OK)
        result = PyBytes_FromStringAndSize(text, (Py_ssize_t)bytes);
    if (object->decoder)
        stored_decoder_free(x);
    else
        object->decoder = x;
    return dataset_end(&call, s, result);
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
