/* dataset_origin.c: where documents came from, and what else is stored. */
#include <stdlib.h>

#include "core/args.h"
#include "dataset.h"

/* Reads a string of the index by the call that fits; NULL with an exception set, or with another status than LEAT_OK in
 * *s. */
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

/* input(number): (path, bytes, documents, tokens, rejects, hash) */
PyObject *dataset_input(PyObject *self, PyObject *args)
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

/* origin(document): (input, offset, line, id), None for what is not known */
PyObject *dataset_origin(PyObject *self, PyObject *args)
{
    struct leat_origin o = { .input = LEAT_NONE };
    struct dataset_call call;
    enum leat_status s;
    uint64_t document;
    PyObject *id;

    if (!PyArg_ParseTuple(args, "O&:origin", args_u64, &document) || !dataset_begin(self, &call))
        return NULL;
    ARGS_UNLOCKED(s = leat_dataset_origin(call.d, document, &o, &call.err));
    if (s != LEAT_OK)
        return dataset_end(&call, s, NULL);
    id = o.id_bytes > 0 ? string_of(leat_dataset_id, &call, document, &s) : Py_NewRef(Py_None);
    if (!id)
        return dataset_end(&call, s, NULL);
    return dataset_end(&call, s,
                       Py_BuildValue("(NNNN)", args_number(o.input),
                                     args_number(o.input == LEAT_NONE ? LEAT_NONE : o.offset), args_number(o.line),
                                     id));
}

PyObject *dataset_text_hash(PyObject *self, PyObject *args)
{
    struct dataset_call call;
    enum leat_status s;
    uint64_t document;
    uint8_t hash[16] = { 0 };

    if (!PyArg_ParseTuple(args, "O&:text_hash", args_u64, &document) || !dataset_begin(self, &call))
        return NULL;
    ARGS_UNLOCKED(s = leat_dataset_text_hash(call.d, document, hash, &call.err));
    return dataset_end(&call, s, PyBytes_FromStringAndSize((const char *)hash, sizeof hash));
}

/* ---- The way back ---- */

PyObject *dataset_find_input(PyObject *self, PyObject *args)
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

PyObject *dataset_find_origin(PyObject *self, PyObject *args)
{
    struct dataset_call call;
    uint64_t input, offset, document = 0;
    enum leat_status s;

    if (!PyArg_ParseTuple(args, "O&O&:find_origin", args_u64, &input, args_u64, &offset) || !dataset_begin(self, &call))
        return NULL;
    ARGS_UNLOCKED(s = leat_dataset_find_origin(call.d, input, offset, &document, &call.err));
    return dataset_end(&call, s, PyLong_FromUnsignedLongLong(document));
}

PyObject *dataset_find_id(PyObject *self, PyObject *args)
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

/* tokenizer(): (name, pattern, file or None), or None */
PyObject *dataset_tokenizer(PyObject *self, PyObject *unused)
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
    /* "y#" of NULL is None */
    result = Py_BuildValue("(NNy#)", args_text(t->name), args_text(t->pattern), (const char *)t->file,
                           (Py_ssize_t)t->file_bytes);
    leat_stored_tokenizer_free(t);
    return dataset_end(&call, LEAT_OK, result);
}

/* metadata(part): a dict of str */
PyObject *dataset_metadata(PyObject *self, PyObject *args)
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
