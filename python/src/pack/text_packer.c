/*
 * text_packer.c: leat._leat.Packer, of which python/leat/packer.py makes leat.Packer. Calls release the GIL, and
 * threads take turns by a lock of the packer's own.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arrow/arrow_rows.h"
#include "core/args.h"
#include "core/pause.h"
#include "text/text.h"
#include "text_options.h"

/* A bunch of an iterator's documents is given to the packer when it has so many, or so many bytes. */
#define BUNCH_DOCUMENTS 4096
#define BUNCH_BYTES     ((uint64_t)1 << 20)

struct packer {
    PyObject_HEAD struct leat_packer *packer; /* NULL: ended */
    PyObject *tokenizer;
    pthread_mutex_t lock;
    bool has_lock;
    pid_t owner;
    uint64_t added; /* documents, by the last call that adds many */
    uint64_t passed;
};

static PyTypeObject *packer_type;

static PyObject *raise_state(const char *sentence)
{
    struct leat_error err = { .status = LEAT_E_STATE, .offset = LEAT_NONE };

    snprintf(err.message, sizeof err.message, "%s", sentence);
    return errors_raise(&err, NULL);
}

/* Releases the GIL and locks; -1 with an exception, and the GIL held, if the packer cannot be used. */
static int enter(struct packer *p, struct pause *pause)
{
    int code;

    if (p->owner != getpid()) {
        raise_state("a packer belongs to the process that opened it: this is a child of it");
        return -1;
    }
    pause_begin(pause);
    code = pthread_mutex_lock(&p->lock);
    if (code == 0 && p->packer)
        return 0;
    if (code == 0)
        pthread_mutex_unlock(&p->lock);
    pause_end(pause);
    raise_state(code == EDEADLK ? "the packer is in the middle of another call of the same thread"
                                : "the packer has ended: it was finished, suspended or abandoned");
    return -1;
}

static void leave(struct packer *p, struct pause *pause)
{
    pthread_mutex_unlock(&p->lock);
    pause_end(pause);
}

static PyObject *done(enum leat_status s, const struct leat_error *err)
{
    return s == LEAT_OK ? Py_NewRef(Py_None) : errors_raise(err, NULL);
}

/* ---- Making and ending ---- */

static int make_lock(struct packer *p)
{
    pthread_mutexattr_t kind;

    if (pthread_mutexattr_init(&kind) != 0)
        return -1;
    /* a signal handler, or a producer of rows, may call the packer whose call it interrupts */
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    p->has_lock = pthread_mutex_init(&p->lock, &kind) == 0;
    pthread_mutexattr_destroy(&kind);
    return p->has_lock ? 0 : -1;
}

static int open_packer(struct packer *p, PyObject *output, PyObject *tokenizer, PyObject *options)
{
    struct text_tokenizer *t = text_tokenizer_of(tokenizer);
    struct text_pack_options o;
    struct leat_error err;
    enum leat_status s;

    if (!t || text_options_take(&o, t, options) < 0)
        return -1;
    if (make_lock(p) < 0) {
        PyErr_NoMemory();
        return -1;
    }
    Py_INCREF(tokenizer);
    p->tokenizer = tokenizer;
    p->owner = getpid();
    ARGS_UNLOCKED(s = leat_packer_open(&p->packer, output ? PyBytes_AsString(output) : NULL, &o.options, &err));
    if (s == LEAT_OK)
        return 0;
    errors_raise(&err, output ? PyBytes_AsString(output) : NULL);
    return -1;
}

/* Packer(output, tokenizer, options) */
static PyObject *packer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *output = NULL, *tokenizer, *options, *self;

    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O&OO", args_path, &output, &tokenizer, &options))
        return NULL;
    self = allocate(type, 0);
    if (self && open_packer((struct packer *)self, output, tokenizer, options) < 0)
        Py_CLEAR(self);
    Py_XDECREF(output);
    return self;
}

static void packer_free(PyObject *self)
{
    struct packer *p = (struct packer *)self;

    /* in a child, its threads are not there, and its files are the parent's: it is left as it is */
    if (p->packer && p->owner == getpid())
        ARGS_UNLOCKED(leat_packer_suspend(p->packer));
    if (p->has_lock)
        pthread_mutex_destroy(&p->lock);
    Py_XDECREF(p->tokenizer);
    module_free_object(self);
}

static PyObject *end(PyObject *self, void (*way)(struct leat_packer *))
{
    struct packer *p = (struct packer *)self;
    struct pause pause;

    if (!p->packer)
        return Py_NewRef(Py_None);
    if (enter(p, &pause) < 0)
        return NULL;
    way(p->packer);
    p->packer = NULL;
    leave(p, &pause);
    return Py_NewRef(Py_None);
}

static PyObject *packer_suspend(PyObject *self, PyObject *unused)
{
    (void)unused;
    return end(self, leat_packer_suspend);
}

static PyObject *packer_abandon(PyObject *self, PyObject *unused)
{
    (void)unused;
    return end(self, leat_packer_abandon);
}

/* finish() -> report */
static PyObject *packer_finish(PyObject *self, PyObject *unused)
{
    struct packer *p = (struct packer *)self;
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;
    struct pause pause;
    struct leat_error err;
    enum leat_status s;

    (void)unused;
    if (enter(p, &pause) < 0)
        return NULL;
    s = leat_packer_finish(p->packer, &report, &err);
    if (s == LEAT_OK)
        p->packer = NULL;
    leave(p, &pause);
    return s == LEAT_OK ? text_report(&report) : errors_raise(&err, NULL);
}

static PyObject *packer_ended(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyBool_FromLong(!((struct packer *)self)->packer);
}

/* ---- Inputs and checkpoints ---- */

/* add_input(path) -> number */
static PyObject *packer_add_input(PyObject *self, PyObject *args)
{
    struct packer *p = (struct packer *)self;
    PyObject *path = NULL;
    struct pause pause;
    struct leat_error err;
    uint64_t number = 0;
    enum leat_status s;

    if (!PyArg_ParseTuple(args, "O&", args_path, &path))
        return NULL;
    if (enter(p, &pause) < 0) {
        Py_XDECREF(path);
        return NULL;
    }
    s = leat_packer_add_input(p->packer, path ? PyBytes_AsString(path) : NULL, &number, &err);
    leave(p, &pause);
    Py_XDECREF(path);
    return s == LEAT_OK ? PyLong_FromUnsignedLongLong(number) : errors_raise(&err, NULL);
}

static PyObject *packer_checkpoint(PyObject *self, PyObject *note)
{
    struct packer *p = (struct packer *)self;
    struct pause pause;
    struct leat_error err;
    enum leat_status s;
    Py_ssize_t bytes;
    char *at;

    if (PyBytes_AsStringAndSize(note, &at, &bytes) < 0 || enter(p, &pause) < 0)
        return NULL;
    s = leat_packer_checkpoint(p->packer, at, (uint64_t)bytes, &err);
    leave(p, &pause);
    return done(s, &err);
}

/* The note of the checkpoint that it was resumed from, or None. */
static PyObject *packer_note(PyObject *self, PyObject *unused)
{
    struct packer *p = (struct packer *)self;
    struct pause pause;
    const void *note = NULL;
    uint64_t bytes = 0;

    (void)unused;
    if (enter(p, &pause) < 0)
        return NULL;
    leat_packer_note(p->packer, &note, &bytes);
    leave(p, &pause);
    return bytes > 0 ? PyBytes_FromStringAndSize(note, (Py_ssize_t)bytes) : Py_NewRef(Py_None);
}

/* ---- Single documents ---- */

/* (id or None, input or 2^64 - 1, offset, line) */
static int take_origin(PyObject *args, PyObject **document, struct leat_origin *origin, PyObject **kept)
{
    unsigned long long input, offset, line;
    struct text_view view = { NULL, 0 };
    PyObject *id;

    *kept = NULL;
    if (!PyArg_ParseTuple(args, "OOKKK", document, &id, &input, &offset, &line) ||
        (id != Py_None && text_view_of(id, &view, kept) < 0))
        return -1;
    *origin =
        (struct leat_origin) { .input = input, .offset = offset, .line = line, .id = view.at, .id_bytes = view.bytes };
    return 0;
}

/* add_text(text, id, input, offset, line) */
static PyObject *packer_add_text(PyObject *self, PyObject *args)
{
    struct packer *p = (struct packer *)self;
    PyObject *text, *kept, *kept_id, *result = NULL;
    struct leat_origin origin;
    struct pause pause;
    struct text_view view;
    struct leat_error err;
    enum leat_status s;

    if (take_origin(args, &text, &origin, &kept_id) < 0)
        return NULL;
    if (text_view_of(text, &view, &kept) == 0) {
        if (enter(p, &pause) == 0) {
            s = leat_packer_add_text(p->packer, view.at, view.bytes, &origin, &err);
            leave(p, &pause);
            result = done(s, &err);
        }
        Py_XDECREF(kept);
    }
    Py_XDECREF(kept_id);
    return result;
}

/* add_ids(ids, id, input, offset, line) */
static PyObject *packer_add_ids(PyObject *self, PyObject *args)
{
    struct packer *p = (struct packer *)self;
    PyObject *list, *kept_id, *result = NULL;
    struct leat_origin origin;
    struct pause pause;
    struct leat_error err;
    struct text_ids ids;
    enum leat_status s;

    if (take_origin(args, &list, &origin, &kept_id) < 0)
        return NULL;
    if (text_ids_take(&ids, list) == 0) {
        if (enter(p, &pause) == 0) {
            s = leat_packer_add_ids(p->packer, ids.at, ids.count, &origin, &err);
            leave(p, &pause);
            result = done(s, &err);
        }
        text_ids_free(&ids);
    }
    Py_XDECREF(kept_id);
    return result;
}

/* ---- Many documents ---- */

/* What an iterator gave: texts, and perhaps their ids, kept alive by `objects`. */
struct bunch {
    struct text_view *texts, *ids;
    PyObject *objects;
    size_t count;
    uint64_t bytes;
};

static int keep_view(struct bunch *b, PyObject *object, struct text_view *view)
{
    PyObject *kept;

    if (text_view_of(object, view, &kept) < 0)
        return -1;
    if (PyList_Append(b->objects, kept ? kept : object) < 0) {
        Py_XDECREF(kept);
        return -1;
    }
    Py_XDECREF(kept);
    return 0;
}

/* An id may be a number, too, as add() takes it. */
static int keep_id(struct bunch *b, PyObject *id, struct text_view *view)
{
    PyObject *text = PyLong_Check(id) ? PyObject_Str(id) : Py_NewRef(id);
    int r = text ? keep_view(b, text, view) : -1;

    Py_XDECREF(text);
    return r;
}

/* A text, or a pair of a text and its id. */
static int take_item(struct bunch *b, PyObject *item)
{
    PyObject *text = item, *id = Py_None;

    if (PyTuple_Check(item) && PyTuple_Size(item) == 2) {
        text = PyTuple_GetItem(item, 0);
        id = PyTuple_GetItem(item, 1);
    }
    b->ids[b->count] = (struct text_view) { NULL, 0 };
    if (keep_view(b, text, &b->texts[b->count]) < 0 || (id != Py_None && keep_id(b, id, &b->ids[b->count]) < 0))
        return -1;
    b->bytes += b->texts[b->count].bytes;
    b->count++;
    return 0;
}

/* What the iterator gives until there is enough. -1: it, or an item, has raised an exception, which is set; what came
 * before is in the bunch. */
static int fill(struct bunch *b, PyObject *iterator)
{
    while (b->count < BUNCH_DOCUMENTS && b->bytes < BUNCH_BYTES) {
        PyObject *item = PyIter_Next(iterator);
        int r;

        if (!item)
            return PyErr_Occurred() ? -1 : 0;
        r = take_item(b, item);
        Py_DECREF(item);
        if (r < 0)
            return -1;
    }
    return 0;
}

static enum leat_status give(struct packer *p, const struct bunch *b, uint64_t input, uint64_t row,
                             struct leat_error *err)
{
    for (size_t i = 0; i < b->count; i++) {
        struct leat_origin origin = {
            .input = input, .line = LEAT_NONE, .id = b->ids[i].at, .id_bytes = b->ids[i].bytes
        };

        if (input != LEAT_NONE) {
            origin.offset = row + i;
            origin.line = row + i + 1;
        }
        if (leat_packer_add_text(p->packer, b->texts[i].at, b->texts[i].bytes, &origin, err) != LEAT_OK)
            return err->status;
        p->added++;
    }
    return LEAT_OK;
}

/* add_some(iterator, input, row) -> documents added, 0 at the end. Those before an exception are added, too. */
static PyObject *packer_add_some(PyObject *self, PyObject *args)
{
    struct packer *p = (struct packer *)self;
    PyObject *iterator, *type = NULL, *value = NULL, *trace = NULL, *result = NULL;
    unsigned long long input, row;
    struct pause pause;
    struct leat_error err;
    struct bunch b = { 0 };
    enum leat_status s;

    if (!PyArg_ParseTuple(args, "OKK", &iterator, &input, &row))
        return NULL;
    p->added = p->passed = 0;
    b.texts = calloc(BUNCH_DOCUMENTS, sizeof *b.texts);
    b.ids = calloc(BUNCH_DOCUMENTS, sizeof *b.ids);
    b.objects = PyList_New(0);
    if (!b.texts || !b.ids || !b.objects) {
        PyErr_NoMemory();
        goto out;
    }
    if (fill(&b, iterator) < 0)
        PyErr_Fetch(&type, &value, &trace);
    if (enter(p, &pause) < 0)
        goto out;
    s = give(p, &b, input, row, &err);
    leave(p, &pause);
    result = s == LEAT_OK ? PyLong_FromUnsignedLongLong(p->added) : errors_raise(&err, NULL);
    if (result && type) {
        Py_CLEAR(result);
        PyErr_Restore(type, value, trace);
        type = value = trace = NULL;
    }
out:
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    Py_XDECREF(b.objects);
    free(b.texts);
    free(b.ids);
    return result;
}

/* add_arrow(rows, skip, skip missing, input, row) -> whether there was an array left */
static PyObject *packer_add_arrow(PyObject *self, PyObject *args)
{
    struct packer *p = (struct packer *)self;
    unsigned long long skip, input, row;
    struct arrow_rows_plan plan;
    struct arrow_rows *rows;
    struct pause pause;
    struct leat_error err;
    enum leat_status s;
    PyObject *object;
    int skip_missing, r;
    bool at_end;

    if (!PyArg_ParseTuple(args, "OKpKK", &object, &skip, &skip_missing, &input, &row) ||
        (rows = arrow_rows_of(object)) == NULL)
        return NULL;
    if (rows->busy)
        return raise_state("the rows are in the middle of another call");
    p->added = p->passed = 0;
    rows->busy = true;
    if (enter(p, &pause) < 0) {
        rows->busy = false;
        return NULL;
    }
    plan = (struct arrow_rows_plan) { skip, skip_missing != 0, input, row };
    r = arrow_rows_add(rows, p->packer, &plan, &p->added, &p->passed, &at_end, &pause, &s, &err);
    leave(p, &pause);
    rows->busy = false;
    if (r < 0)
        return NULL;
    return s == LEAT_OK ? PyBool_FromLong(!at_end) : errors_raise(&err, NULL);
}

/* (documents added, rows without a text that were left out), by the last call */
static PyObject *packer_counts(PyObject *self, PyObject *unused)
{
    struct packer *p = (struct packer *)self;

    (void)unused;
    return Py_BuildValue("KK", (unsigned long long)p->added, (unsigned long long)p->passed);
}

/* ---- The type ---- */

static PyMethodDef methods[] = {
    { "add_text", packer_add_text, METH_VARARGS, NULL },
    { "add_ids", packer_add_ids, METH_VARARGS, NULL },
    { "add_some", packer_add_some, METH_VARARGS, NULL },
    { "add_arrow", packer_add_arrow, METH_VARARGS, NULL },
    { "counts", packer_counts, METH_NOARGS, NULL },
    { "add_input", packer_add_input, METH_VARARGS, NULL },
    { "checkpoint", packer_checkpoint, METH_O, NULL },
    { "note", packer_note, METH_NOARGS, NULL },
    { "finish", packer_finish, METH_NOARGS, NULL },
    { "suspend", packer_suspend, METH_NOARGS, NULL },
    { "abandon", packer_abandon, METH_NOARGS, NULL },
    { "ended", packer_ended, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_new, packer_new },
    { Py_tp_dealloc, packer_free },
    { Py_tp_methods, methods },
    { 0, NULL },
};

static PyType_Spec spec = {
    .name = "leat._leat.Packer",
    .basicsize = sizeof(struct packer),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int text_packer_register(PyObject *module)
{
    return module_add_type(module, &spec, &packer_type);
}
