/*
 * tokenizer.c: leat._leat.Tokenizer, of which python/leat/tokenizer.py makes leat.Tokenizer.
 *
 * A single text goes one of three ways by its length: with the GIL, without it, or, so that Ctrl-C can end it, as a
 * batch of one text. An encoder serves one thread at a time, so each call takes one from the tokenizer's pool and
 * returns it. A batch is encoded by several threads (encoding.c); the ids are returned as a list per text, or flat:
 * the memory with all ids, and a bytearray with the offsets of the texts.
 */
#include <string.h>

#include "arrow/arrow.h"
#include "tokenizer.h"

/* Shorter texts are encoded with the GIL held: releasing it and waiting for it again would cost as much. */
#define WITH_GIL_BYTES 1024
#define WITH_GIL_IDS   256
/* Longer texts are encoded as a batch, which can be interrupted. */
#define INTERRUPTIBLE_BYTES ((uint64_t)1 << 20)

/* The name of capsules that hold ids. */
#define IDS "leat ids"

static PyTypeObject *tokenizer_type;

struct text_tokenizer *text_tokenizer_of(PyObject *object)
{
    if (PyObject_TypeCheck(object, tokenizer_type))
        return (struct text_tokenizer *)object;
    PyErr_Format(PyExc_TypeError, "expected a leat.Tokenizer, not %R", (PyObject *)Py_TYPE(object));
    return NULL;
}

bool text_tokenizer_facts(PyObject *object, struct leat_tokenizer_info *info, struct leat_stored_tokenizer *stored,
                          bool *given)
{
    struct text_tokenizer *t = object == Py_None ? NULL : text_tokenizer_of(object);

    *info = (struct leat_tokenizer_info)LEAT_TOKENIZER_INFO_INIT;
    *given = t != NULL;
    if (t) {
        leat_tokenizer_info(t->tokenizer, info);
        leat_tokenizer_stored(t->tokenizer, stored);
    }
    return t || object == Py_None;
}

/* ---- Making and ending ---- */

/* Tokenizer(spec, pattern) opens a tokenizer; Tokenizer(None, pattern, name, file) opens what a dataset stores. */
static PyObject *tokenizer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *spec = NULL, *pattern = NULL, *name = NULL, *self = NULL; /* These may be any bytes, as names of files
                                                                           may. */
    struct leat_tokenizer_options options = LEAT_TOKENIZER_OPTIONS_INIT;
    struct leat_stored_tokenizer stored = { .pattern = "" };
    const char *file = NULL;
    struct leat_tokenizer *t;
    struct leat_error err;
    enum leat_status s;
    Py_ssize_t bytes = 0;

    if (kwargs && PyDict_Size(kwargs) > 0) {
        PyErr_SetString(PyExc_TypeError, "no keyword arguments are allowed");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "O&O&|O&z#", args_path, &spec, args_path, &pattern, args_path, &name, &file, &bytes))
        goto out;
    options.waiting = args_on_waiting;
    if (pattern)
        options.pattern = stored.pattern = PyBytes_AsString(pattern);
    stored.file = file;
    stored.file_bytes = (uint64_t)bytes;
    stored.name = name ? PyBytes_AsString(name) : NULL;
    ARGS_UNLOCKED(s = name ? leat_tokenizer_open_stored(&t, &stored, &err)
                           : leat_tokenizer_open(&t, spec ? PyBytes_AsString(spec) : NULL, &options, &err));
    if (s != LEAT_OK) {
        errors_raise(&err);
        goto out;
    }
    self = module_new_object(type);
    if (self)
        ((struct text_tokenizer *)self)->tokenizer = t;
    else
        leat_tokenizer_close(t);
out:
    Py_XDECREF(spec);
    Py_XDECREF(pattern);
    Py_XDECREF(name);
    return self;
}

static void tokenizer_free(PyObject *self)
{
    struct text_tokenizer *t = (struct text_tokenizer *)self;

    text_encoders_free(&t->encoders);
    leat_tokenizer_close(t->tokenizer);
    module_free_object(self);
}

/* ---- What it is ---- */

/* info(): Returns (vocabulary, end token or None, fingerprint, candidates for the end token, begin token or None,
 * path or None). */
static PyObject *tokenizer_info(PyObject *self, PyObject *unused)
{
    struct leat_tokenizer_info info = LEAT_TOKENIZER_INFO_INIT;
    PyObject *candidates, *path;

    (void)unused;
    leat_tokenizer_info(((struct text_tokenizer *)self)->tokenizer, &info);
    candidates = PyList_New(0);
    for (uint64_t i = 0; candidates && i < info.candidate_count && i < LEAT_END_CANDIDATES; i++) {
        PyObject *id = PyLong_FromUnsignedLongLong(info.candidates[i]);

        if (!id || PyList_Append(candidates, id) < 0)
            Py_CLEAR(candidates);
        Py_XDECREF(id);
    }
    if (!candidates)
        return NULL;
    path = info.path ? args_text(info.path) : Py_BuildValue("");
    return Py_BuildValue("NNy#NNN", args_number(info.vocabulary), args_number(info.end_token), info.fingerprint,
                         (Py_ssize_t)sizeof info.fingerprint, candidates, args_number(info.begin_token), path);
}

/* stored(): Returns (name, pattern, file or None), which a dataset stores. */
static PyObject *tokenizer_stored(PyObject *self, PyObject *unused)
{
    struct leat_stored_tokenizer stored;

    (void)unused;
    leat_tokenizer_stored(((struct text_tokenizer *)self)->tokenizer, &stored);
    return Py_BuildValue("NNy#", args_text(stored.name), args_text(stored.pattern), (const char *)stored.file,
                         (Py_ssize_t)stored.file_bytes);
}

/* find(bytes): Returns an id, or None. */
static PyObject *tokenizer_find(PyObject *self, PyObject *text)
{
    char *at;
    Py_ssize_t bytes;
    uint32_t id;

    if (PyBytes_AsStringAndSize(text, &at, &bytes) < 0)
        return NULL;
    if (leat_tokenizer_find(((struct text_tokenizer *)self)->tokenizer, at, (uint64_t)bytes, &id, NULL) != LEAT_OK)
        return Py_NewRef(Py_None);
    return PyLong_FromUnsignedLong(id);
}

static PyObject *describe(const struct leat_token *token)
{
    return Py_BuildValue("y#NNNy#", token->text, (Py_ssize_t)token->bytes, PyBool_FromLong((long)token->bytewise),
                         PyBool_FromLong((long)token->added), PyBool_FromLong((long)token->special), token->name,
                         (Py_ssize_t)token->name_bytes);
}

/* token(id): Returns (text, bytewise, added, special, name if that is not the text), or None. */
static PyObject *tokenizer_token(PyObject *self, PyObject *number)
{
    struct leat_token token = LEAT_TOKEN_INIT;
    unsigned long id = PyLong_AsUnsignedLong(number);

    if (id == (unsigned long)-1 && PyErr_Occurred())
        return NULL;
    if (id > UINT32_MAX ||
        leat_tokenizer_token(((struct text_tokenizer *)self)->tokenizer, (uint32_t)id, &token, NULL) != LEAT_OK)
        return Py_NewRef(Py_None);
    return describe(&token);
}

/* tokens(only_added): Returns {id: what token() returns} of all tokens, or of added and special ones only. */
static PyObject *tokenizer_tokens(PyObject *self, PyObject *only)
{
    const struct leat_tokenizer *t = ((struct text_tokenizer *)self)->tokenizer;
    struct leat_tokenizer_info info = LEAT_TOKENIZER_INFO_INIT;
    PyObject *all = PyDict_New();
    int some = PyObject_IsTrue(only);

    leat_tokenizer_info(t, &info);
    for (uint64_t i = 0; all && i < info.vocabulary; i++) {
        struct leat_token token = LEAT_TOKEN_INIT;
        PyObject *id, *value;

        if (leat_tokenizer_token(t, (uint32_t)i, &token, NULL) != LEAT_OK || (some && !token.added && !token.special))
            continue;
        id = PyLong_FromUnsignedLongLong(i);
        value = describe(&token);
        if (!id || !value || PyDict_SetItem(all, id, value) < 0)
            Py_CLEAR(all);
        Py_XDECREF(id);
        Py_XDECREF(value);
    }
    return all;
}

/* ---- Encoding ---- */

static PyObject *encode_long(struct text_tokenizer *t, const struct text_view *text, bool special, enum text_form form)
{
    struct text_batch_result result = { 0 };
    PyObject *ids;

    if (text_batch_run(t, text, 1, special, 1, &result) < 0)
        return NULL;
    ids = text_ids_give(result.ids.at, result.ids.count, form);
    ids = ids ? Py_BuildValue("NK", ids, (unsigned long long)result.specials[0]) : NULL;
    text_batch_free(&result);
    return ids;
}

static PyObject *encode_short(struct text_tokenizer *t, const struct text_view *text, bool special, enum text_form form)
{
    struct leat_encoder *e;
    const uint32_t *ids;
    struct leat_error err;
    uint64_t count;
    PyObject *given;
    enum leat_status s = text_encoders_take(&t->encoders, t->tokenizer, special, &e, &err);

    if (s != LEAT_OK)
        return errors_raise(&err);
    if (text->bytes <= WITH_GIL_BYTES)
        s = leat_encoder_encode(e, text->at, text->bytes, &ids, &count, &err);
    else
        ARGS_UNLOCKED(s = leat_encoder_encode(e, text->at, text->bytes, &ids, &count, &err));
    if (s == LEAT_OK) {
        given = text_ids_give(ids, (size_t)count, form);
        given = given ? Py_BuildValue("NK", given, (unsigned long long)leat_encoder_special_strings(e)) : NULL;
    } else {
        given = text_encoders_stopped(s) ? NULL : errors_raise(&err);
    }
    text_encoders_give(&t->encoders, special, e);
    return given;
}

/* encode(text, special, form): Returns (ids, number of strings of special tokens in the text). */
static PyObject *tokenizer_encode(PyObject *self, PyObject *args)
{
    struct text_tokenizer *t = (struct text_tokenizer *)self;
    PyObject *text, *kept, *given;
    struct text_view view;
    int special, form;

    if (!PyArg_ParseTuple(args, "Opi", &text, &special, &form) || text_view_of(text, &view, &kept) < 0)
        return NULL;
    given = view.bytes > INTERRUPTIBLE_BYTES ? encode_long(t, &view, special != 0, (enum text_form)form)
                                             : encode_short(t, &view, special != 0, (enum text_form)form);
    Py_XDECREF(kept);
    return given;
}

/* Returns a list of lists of ids. */
static PyObject *lists_of(const struct text_batch_result *r, size_t count, enum text_form form)
{
    PyObject *lists = PyList_New((Py_ssize_t)count);
    size_t at = 0;

    for (size_t i = 0; lists && i < count; i++) {
        PyObject *ids = text_ids_give(r->counts[i] > 0 ? r->ids.at + at : NULL, (size_t)r->counts[i], form);

        if (!ids || PyList_SetItem(lists, (Py_ssize_t)i, ids) < 0)
            Py_CLEAR(lists);
        at += (size_t)r->counts[i];
    }
    return lists;
}

/* Frees the ids of a capsule, whose context is the number of mapped bytes. */
static void free_ids(PyObject *capsule)
{
    struct many_ids ids = { .at = PyCapsule_GetPointer(capsule, IDS),
                            .mapped = (size_t)(uintptr_t)PyCapsule_GetContext(capsule) };

    many_ids_free(&ids);
}

/* Returns the object that owns the ids from now on, or NULL with an exception set. */
static PyObject *holder_of(struct many_ids *ids)
{
    struct leat_error err;
    PyObject *capsule;

    if (!ids->at &&
        many_ids_append(ids, (const uint32_t[]) { 0 }, 1, &err) == LEAT_OK) /* A capsule cannot have a NULL pointer. */
        ids->count = 0;
    many_ids_trim(ids);
    if (!ids->at)
        return PyErr_NoMemory();
    capsule = PyCapsule_New(ids->at, IDS, NULL);
    if (capsule && PyCapsule_SetContext(capsule, (void *)(uintptr_t)ids->mapped) == 0 &&
        PyCapsule_SetDestructor(capsule, free_ids) == 0)
        return capsule;
    Py_XDECREF(capsule);
    return NULL;
}

/* Returns ((owner of the memory of all ids, its address, number of ids), bytearray of int64: the start of each text,
 * and the end). Takes the ids over, without a copy. Memory of the caller's has the owner None, and may be too small for
 * that number of ids. */
static PyObject *flat_of(struct text_batch_result *r, size_t count)
{
    PyObject *offsets = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)((count + 1) * sizeof(int64_t))), *holder;
    unsigned long long address;
    Py_ssize_t ids = (Py_ssize_t)r->ids.count;
    int64_t at = 0;
    char *to;

    holder = !offsets ? NULL : r->ids.given ? Py_NewRef(Py_None) : holder_of(&r->ids);
    if (!holder) {
        Py_XDECREF(offsets);
        return NULL;
    }
    address = (unsigned long long)(uintptr_t)r->ids.at;
    r->ids = (struct many_ids) { 0 };
    to = PyByteArray_AsString(offsets);
    for (size_t i = 0; i <= count; i++) {
        memcpy(to + i * sizeof at, &at, sizeof at);
        at += i < count ? (int64_t)r->counts[i] : 0;
    }
    return Py_BuildValue("(NKn)N", holder, address, ids, offsets);
}

/* Returns the numbers of the texts that have strings of special tokens. */
static PyObject *with_specials(const struct text_batch_result *r, size_t count)
{
    PyObject *list = PyList_New(0);

    for (size_t i = 0; list && i < count; i++) {
        PyObject *number;

        if (r->specials[i] == 0)
            continue;
        number = PyLong_FromSize_t(i);
        if (!number || PyList_Append(list, number) < 0)
            Py_CLEAR(list);
        Py_XDECREF(number);
    }
    return list;
}

/* The options of a call: how texts are encoded, and in which form ids are returned. */
struct encoding {
    int special, form, flat;
    unsigned threads;
    unsigned long long address; /* memory of the caller's for the ids; 0: none */
    Py_ssize_t room;            /* number of ids that it holds */
};

static PyObject *encode_views(PyObject *self, const struct text_view *views, size_t count, const struct encoding *how)
{
    struct text_batch_result result = { 0 };
    PyObject *ids, *specials;

    if (how->address)
        result.ids =
            (struct many_ids) { .at = (uint32_t *)(uintptr_t)how->address, .room = (size_t)how->room, .given = true };
    if (text_batch_run((struct text_tokenizer *)self, views, count, how->special != 0, how->threads, &result) < 0)
        return NULL;
    ids = how->flat ? flat_of(&result, count) : lists_of(&result, count, (enum text_form)how->form);
    specials = ids ? with_specials(&result, count) : NULL;
    text_batch_free(&result);
    if (specials)
        return Py_BuildValue("NN", ids, specials);
    Py_XDECREF(ids);
    return NULL;
}

/* encode_batch(texts, special, threads, form, flat[, address, room]): Returns (ids, numbers of texts with strings of
 * special tokens). The ids are a list of lists or bytearrays, or, if `flat`, what flat_of() returns; they go to the
 * memory of the caller's at `address`, if it is given. */
static PyObject *tokenizer_encode_batch(PyObject *self, PyObject *args)
{
    struct text_views views;
    PyObject *texts, *given;
    struct encoding how = { 0 };

    if (!PyArg_ParseTuple(args, "OpIip|Kn", &texts, &how.special, &how.threads, &how.form, &how.flat, &how.address,
                          &how.room) ||
        text_views_take(&views, texts) < 0)
        return NULL;
    given = encode_views(self, views.items, views.count, &how);
    text_views_free(&views);
    return given;
}

/* encode_arrow(stream, column, special, threads, form, flat[, address, room]): Does what encode_batch() does, for a
 * column of an Arrow stream. */
static PyObject *tokenizer_encode_arrow(PyObject *self, PyObject *args)
{
    struct arrow_texts *texts;
    const struct text_view *views;
    PyObject *stream, *given;
    struct encoding how = { 0 };
    const char *column;
    size_t count;

    if (!PyArg_ParseTuple(args, "OzpIip|Kn", &stream, &column, &how.special, &how.threads, &how.form, &how.flat,
                          &how.address, &how.room) ||
        arrow_texts_read(&texts, stream, column) < 0)
        return NULL;
    views = arrow_texts_views(texts, &count);
    given = encode_views(self, views, count, &how);
    arrow_texts_free(texts);
    return given;
}

/* decode(ids) -> bytes */
static PyObject *tokenizer_decode(PyObject *self, PyObject *list)
{
    struct text_tokenizer *t = (struct text_tokenizer *)self;
    struct leat_encoder *e;
    struct text_ids ids;
    struct leat_error err;
    const char *text;
    uint64_t bytes;
    PyObject *given;
    enum leat_status s;

    if (text_ids_take(&ids, list) < 0)
        return NULL;
    s = text_encoders_take(&t->encoders, t->tokenizer, false, &e, &err);
    if (s != LEAT_OK) {
        text_ids_free(&ids);
        return errors_raise(&err);
    }
    if (ids.count <= WITH_GIL_IDS)
        s = leat_encoder_decode(e, ids.at, ids.count, &text, &bytes, &err);
    else
        ARGS_UNLOCKED(s = leat_encoder_decode(e, ids.at, ids.count, &text, &bytes, &err));
    given = s == LEAT_OK ? PyBytes_FromStringAndSize(text, (Py_ssize_t)bytes) : errors_raise(&err);
    text_encoders_give(&t->encoders, false, e);
    text_ids_free(&ids);
    return given;
}

/* ---- The type ---- */

static PyMethodDef methods[] = {
    { "info", tokenizer_info, METH_NOARGS, NULL },
    { "stored", tokenizer_stored, METH_NOARGS, NULL },
    { "find", tokenizer_find, METH_O, NULL },
    { "token", tokenizer_token, METH_O, NULL },
    { "tokens", tokenizer_tokens, METH_O, NULL },
    { "encode", tokenizer_encode, METH_VARARGS, NULL },
    { "encode_batch", tokenizer_encode_batch, METH_VARARGS, NULL },
    { "encode_arrow", tokenizer_encode_arrow, METH_VARARGS, NULL },
    { "decode", tokenizer_decode, METH_O, NULL },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_new, tokenizer_new },
    { Py_tp_dealloc, tokenizer_free },
    { Py_tp_methods, methods },
    { 0, NULL },
};

static PyType_Spec spec = {
    .name = "leat._leat.Tokenizer",
    .basicsize = sizeof(struct text_tokenizer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

int text_tokenizer_register(PyObject *module)
{
    return module_add_type(module, &spec, &tokenizer_type);
}
