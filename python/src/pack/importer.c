/* importer.c: leat._leat.Importer, which python/leat/foreign.py wraps, writes a dataset of ids that another package
 * reads. The ids come as arrays of any integer type, many documents at a time, without a Python object for each
 * document. A call releases the GIL. Only the writer counts what was added, so the counts fit a checkpoint even
 * after a signal handler raised an exception between two calls or during one. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/integers.h"
#include "pack.h"

#define PIECE ((size_t)8192) /* ids per conversion */

struct importer {
    PyObject_HEAD struct leat_writer *writer; /* NULL after the end */
    pid_t owner;
    bool busy; /* true during a call; a signal handler or another thread could start a second one */
    uint64_t vocabulary, end_token;
    uint64_t inputs, ends_added;
    PyObject *note; /* note of the checkpoint that the run continues from, or NULL */
};

static PyTypeObject *importer_type;

static int enter(struct importer *m, struct pause *pause)
{
    struct leat_error err;

    if (m->writer && !m->busy && m->owner == getpid()) {
        m->busy = true;
        pause_begin(pause);
        return 0;
    }
    errors_set(&err, LEAT_E_STATE, "%s",
               m->busy ? "the import is in the middle of another call" : "the import has ended");
    errors_raise(&err);
    return -1;
}

static void leave(struct importer *m, struct pause *pause)
{
    pause_end(pause);
    m->busy = false;
}

/* ---- Ids ---- */

/* The ids of a bunch of documents, with the places where each document starts and where the last one ends. */
struct bunch {
    const void *ids, *starts;
    char type; /* integer type of the ids, by its letter in integers.h */
    bool wide; /* true if a start has 8 bytes, false if it has 4 */
    uint64_t count, documents;
    const char *path; /* path of the source, for error messages */
    uint64_t input, row;
};

/* Returns id i of a bunch. A negative id becomes a number above every vocabulary. */
static uint64_t id_of(const struct bunch *b, uint64_t i)
{
    return integers_load(b->type, b->ids, i);
}

/* Converts `count` ids from `first` on, and returns true if one is not below `vocabulary`. Each type has a loop of
 * its own, which compilers vectorize. */
static bool convert_ids(const struct bunch *b, uint64_t first, size_t count, uint64_t vocabulary, uint32_t *ids)
{
    uint64_t wrong = 0;

    switch (b->type) {
#define CONVERT(letter, type, name)                                                                                    \
    case letter:                                                                                                       \
        for (size_t i = 0; i < count; i++) {                                                                           \
            uint64_t id = integers_##name(b->ids, first + i);                                                          \
                                                                                                                       \
            ids[i] = (uint32_t)id;                                                                                     \
            wrong |= (uint64_t)(id >= vocabulary);                                                                     \
        }                                                                                                              \
        break;
        INTEGERS_EACH(CONVERT)
#undef CONVERT
    default:
        return true;
    }
    return wrong != 0;
}

/* Fails with an error that names the first wrong id from `first` on. */
static enum leat_status wrong_id(const struct importer *m, const struct bunch *b, uint64_t start, uint64_t first,
                                 struct leat_error *err)
{
    uint64_t document = leat_writer_documents(m->writer), id;

    while (id_of(b, first) < m->vocabulary)
        first++;
    id = id_of(b, first);
    if (integers_negative(b->type, id))
        return errors_in_file(err,
                              errors_set(err, LEAT_E_TOKEN,
                                         "%s: token %" PRIu64 " of document %" PRIu64 " is %" PRId64
                                         ", and an id is never negative: the column does not hold ids, or pads them",
                                         b->path, first - start, document, (int64_t)id),
                              b->path);
    return errors_in_file(err,
                          errors_set(err, LEAT_E_TOKEN,
                                     "%s: token %" PRIu64 " of document %" PRIu64 " is %" PRIu64
                                     ", and the vocabulary has %" PRIu64
                                     " entries: it was made with another tokenizer, or has a larger vocabulary",
                                     b->path, first - start, document, id, m->vocabulary),
                          b->path);
}

static uint64_t start_of(const struct bunch *b, uint64_t i)
{
    return b->wide ? integers_u64(b->starts, i) : integers_u32(b->starts, i);
}

/* Writes document i of the bunch. The writer adds the end token itself. */
static enum leat_status add_document(struct importer *m, const struct bunch *b, uint64_t i, struct leat_error *err)
{
    const struct leat_origin origin = { .input = b->input, .offset = b->row + i, .line = LEAT_NONE };
    uint64_t from = start_of(b, i), to = start_of(b, i + 1), count = to - from;
    enum leat_status s = LEAT_OK;
    uint32_t ids[PIECE];
    bool lacks_end;

    if (to < from || to > b->count)
        return errors_in_file(err,
                              errors_set(err, LEAT_E_DOCUMENTS,
                                         "%s: document %" PRIu64 " does not lie inside its ids; restore the file",
                                         b->path, leat_writer_documents(m->writer)),
                              b->path);
    lacks_end = m->end_token != LEAT_NONE && (count == 0 || id_of(b, to - 1) != m->end_token);
    if (m->end_token != LEAT_NONE && !lacks_end)
        count--;
    for (uint64_t done = 0; s == LEAT_OK && done < count;) {
        size_t here = count - done < PIECE ? (size_t)(count - done) : PIECE;

        if (convert_ids(b, from + done, here, m->vocabulary, ids))
            return wrong_id(m, b, from, from + done, err);
        s = leat_writer_append(m->writer, ids, 4, NULL, here, err);
        done += here;
    }
    if (s == LEAT_OK)
        s = leat_writer_end_document(m->writer, &origin, err);
    if (s == LEAT_OK)
        m->ends_added += lacks_end;
    return s;
}

/* add(address of ids, their type, their number, address of starts, whether starts have 8 bytes, number of documents,
 * path, number of the first row in its file): Adds documents. The caller's objects own the memory. */
static PyObject *importer_add(PyObject *self, PyObject *args)
{
    struct importer *m = (struct importer *)self;
    PyObject *path, *result = NULL;
    struct bunch b = { .path = NULL };
    void *ids, *starts;
    struct pause pause;
    struct leat_error err;
    enum leat_status s = LEAT_OK;
    bool raised = false;
    int wide;

    if (!PyArg_ParseTuple(args, "O&cO&O&pO&O&O&", args_address, &ids, &b.type, args_u64, &b.count, args_address,
                          &starts, &wide, args_u64, &b.documents, args_path, &path, args_u64, &b.row))
        return NULL;
    b.ids = ids;
    b.starts = starts;
    b.wide = wide != 0;
    b.path = PyBytes_AsString(path);
    if (integers_width(b.type) == 0 || (b.count > 0 && !b.ids) || (b.documents > 0 && !b.starts)) {
        PyErr_SetString(PyExc_TypeError, "ids must be an array of integers");
    } else if (enter(m, &pause) == 0) {
        b.input = m->inputs - 1;
        for (uint64_t i = 0; s == LEAT_OK && !raised && i < b.documents; i++) {
            s = add_document(m, &b, i, &err);
            raised = i % 256 == 255 && pause_look(&pause) < 0;
        }
        leave(m, &pause);
        if (!raised)
            result = s == LEAT_OK ? Py_NewRef(Py_None) : errors_raise(&err);
    }
    Py_DECREF(path);
    return result;
}

/* ---- Making and ending ---- */

static int open_writer(struct importer *m, const char *output, struct leat_writer_options *o, int resume)
{
    struct run_watch w = { .function = Py_None };
    enum leat_status s = LEAT_OK;
    struct leat_error err;
    uint64_t bytes = 0;
    void *note = NULL;

    o->progress = run_on_bytes; /* This is called while a resumed run reads back its files. */
    o->context = &w;
    m->owner = getpid();
    m->vocabulary = o->vocabulary;
    m->end_token = o->end_token;
    pause_begin(&w.pause);
    if (resume)
        s = leat_writer_resume(&m->writer, output, o, &note, &bytes, &err);
    if (!resume || (s == LEAT_E_CHECKPOINT && err.hint == LEAT_HINT_NONE)) /* There is no stopped run to resume. */
        s = leat_writer_open(&m->writer, output, o, &err);
    pause_end(&w.pause);
    if (!run_ended(w.raised, s, &err, s == LEAT_E_STOPPED))
        return -1;
    if (note)
        m->note = PyBytes_FromStringAndSize(note, (Py_ssize_t)bytes);
    leat_writer_free_note(note);
    return note && !m->note ? -1 : 0;
}

/* Importer(output, tokenizer or None, vocabulary, end, force, resume, created): Opens the writer. */
static PyObject *importer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    struct leat_tokenizer_info facts;
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    PyObject *output = NULL, *tokenizer, *self = NULL;
    struct leat_stored_tokenizer stored;
    bool known;
    int resume;

    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O&OO&O&ppO&", args_path, &output, &tokenizer, args_u64, &o.vocabulary,
                          args_u64_or_none, &o.end_token, &o.force, &resume, args_u64, &o.created))
        return NULL;
    if (text_tokenizer_facts(tokenizer, &facts, &stored, &known)) {
        o.tokenizer = known ? &stored : NULL;
        o.fingerprint = known ? facts.fingerprint : NULL;
        self = module_new_object(type);
    }
    if (self && open_writer((struct importer *)self, output ? PyBytes_AsString(output) : NULL, &o, resume) < 0)
        Py_CLEAR(self);
    Py_XDECREF(output);
    return self;
}

static void importer_free(PyObject *self)
{
    struct importer *m = (struct importer *)self;

    if (m->writer && m->owner == getpid()) /* After a fork, the files belong to the parent. */
        ARGS_UNLOCKED(leat_writer_suspend(m->writer));
    Py_XDECREF(m->note);
    module_free_object(self);
}

/* note(): Returns the note of the checkpoint that the run continues from, or None. */
static PyObject *importer_note(PyObject *self, PyObject *unused)
{
    struct importer *m = (struct importer *)self;

    (void)unused;
    return Py_NewRef(m->note ? m->note : Py_None);
}

/* counts(): Returns (documents, inputs, ends added) so far. */
static PyObject *importer_counts(PyObject *self, PyObject *unused)
{
    struct importer *m = (struct importer *)self;

    (void)unused;
    return ARGS_TUPLE(m->writer ? leat_writer_documents(m->writer) : 0, m->inputs, m->ends_added);
}

/* restore(inputs, ends added): Sets the counts that the note has. */
static PyObject *importer_restore(PyObject *self, PyObject *args)
{
    struct importer *m = (struct importer *)self;

    if (!PyArg_ParseTuple(args, "O&O&", args_u64, &m->inputs, args_u64, &m->ends_added))
        return NULL;
    return Py_NewRef(Py_None);
}

static PyObject *end_call(struct importer *m, struct pause *pause, enum leat_status s, const struct leat_error *err)
{
    leave(m, pause);
    return errors_none(s, err);
}

/* input(path, its bytes): Begins an input, which the next documents come from. */
static PyObject *importer_input(PyObject *self, PyObject *args)
{
    struct importer *m = (struct importer *)self;
    struct leat_input input = LEAT_INPUT_INIT;
    PyObject *path, *result = NULL;
    struct pause pause;
    struct leat_error err;
    enum leat_status s;
    uint64_t number;

    if (!PyArg_ParseTuple(args, "O&O&", args_path, &path, args_u64, &input.bytes))
        return NULL;
    if (enter(m, &pause) == 0) {
        s = leat_writer_add_input(m->writer, PyBytes_AsString(path), &number, &err);
        if (s == LEAT_OK)
            s = leat_writer_set_input(m->writer, number, &input, &err);
        m->inputs += s == LEAT_OK;
        result = end_call(m, &pause, s, &err);
    }
    Py_DECREF(path);
    return result;
}

/* metadata(key, value) */
static PyObject *importer_metadata(PyObject *self, PyObject *args)
{
    struct importer *m = (struct importer *)self;
    const char *key, *value;
    struct pause pause;
    struct leat_error err;

    if (!PyArg_ParseTuple(args, "ss", &key, &value) || enter(m, &pause) < 0)
        return NULL;
    return end_call(m, &pause, leat_writer_set_metadata(m->writer, key, value, &err), &err);
}

static PyObject *importer_checkpoint(PyObject *self, PyObject *note)
{
    struct importer *m = (struct importer *)self;
    struct pause pause;
    struct leat_error err;
    Py_ssize_t bytes;
    char *at;

    if (PyBytes_AsStringAndSize(note, &at, &bytes) < 0 || enter(m, &pause) < 0)
        return NULL;
    return end_call(m, &pause, leat_writer_checkpoint(m->writer, at, (uint64_t)bytes, &err), &err);
}

static PyObject *importer_suspend(PyObject *self, PyObject *unused)
{
    struct importer *m = (struct importer *)self;
    struct pause pause;

    (void)unused;
    if (!m->writer)
        return Py_NewRef(Py_None);
    if (enter(m, &pause) < 0)
        return NULL;
    leat_writer_suspend(m->writer);
    m->writer = NULL;
    leave(m, &pause);
    return Py_NewRef(Py_None);
}

/* finish(): Returns (documents, tokens). */
static PyObject *importer_finish(PyObject *self, PyObject *unused)
{
    struct importer *m = (struct importer *)self;
    struct leat_info info = LEAT_INFO_INIT;
    struct pause pause;
    struct leat_error err;
    enum leat_status s;

    (void)unused;
    if (enter(m, &pause) < 0)
        return NULL;
    s = leat_writer_finish(m->writer, &info, &err);
    if (s == LEAT_OK)
        m->writer = NULL;
    leave(m, &pause);
    return s == LEAT_OK ? ARGS_TUPLE(info.documents, info.tokens) : errors_raise(&err);
}

/* ---- The type ---- */

static PyMethodDef methods[] = {
    { "add", importer_add, METH_VARARGS, NULL },           { "input", importer_input, METH_VARARGS, NULL },
    { "metadata", importer_metadata, METH_VARARGS, NULL }, { "note", importer_note, METH_NOARGS, NULL },
    { "counts", importer_counts, METH_NOARGS, NULL },      { "restore", importer_restore, METH_VARARGS, NULL },
    { "checkpoint", importer_checkpoint, METH_O, NULL },   { "suspend", importer_suspend, METH_NOARGS, NULL },
    { "finish", importer_finish, METH_NOARGS, NULL },      { NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_new, importer_new },
    { Py_tp_dealloc, importer_free },
    { Py_tp_methods, methods },
    { 0, NULL },
};

static PyType_Spec spec = {
    .name = "leat._leat.Importer",
    .basicsize = sizeof(struct importer),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

/* failure(name of a status, file or None, sentence, hint): Returns the leat.Error that a reader in Python raises. */
static PyObject *make_failure(PyObject *module, PyObject *args)
{
    struct leat_error err = { .status = LEAT_E_ARGUMENT, .offset = LEAT_NONE };
    const char *name, *sentence;
    PyObject *file = NULL;
    unsigned hint = 0;

    (void)module;
    if (!PyArg_ParseTuple(args, "sO&s|I", &name, args_path, &file, &sentence, &hint))
        return NULL;
    while (err.status < LEAT_E_EMPTY && strcmp(leat_status_name(err.status), name) != 0)
        err.status = (enum leat_status)(err.status + 1);
    err.hint = (enum leat_hint)hint;
    snprintf(err.message, sizeof err.message, "%s", sentence);
    errors_in_file(&err, err.status, file ? PyBytes_AsString(file) : NULL);
    Py_XDECREF(file);
    errors_raise(&err);
    return errors_take();
}

static PyMethodDef functions[] = {
    { "failure", make_failure, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

int importer_register(PyObject *module)
{
    int r = module_add_type(module, &spec, &importer_type);

    return r < 0 ? r : PyModule_AddFunctions(module, functions);
}
