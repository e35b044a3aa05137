/*
 * text_packer.c: leat._leat.Packer, which python/leat/packer.py wraps.
 *
 * Every method runs between packer_enter() and packer_leave(): packer_enter() releases the GIL and takes the packer's
 * own lock, so threads take turns, and a signal handler or a producer that calls the packer from inside one of its
 * calls gets an error instead of waiting for itself. A packer belongs to the process that made it: after a fork, a
 * child leaves it alone. text_packer_add.c has the methods that add documents.
 */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "core/args.h"
#include "text_options.h"
#include "text_packer.h"

static PyTypeObject *packer_type;

PyObject *packer_raise_state(const char *sentence)
{
    struct leat_error err = { .status = LEAT_E_STATE, .offset = LEAT_NONE };

    snprintf(err.message, sizeof err.message, "%s", sentence);
    return errors_raise(&err, NULL);
}

int packer_enter(struct packer *p, struct pause *pause)
{
    int code;

    if (p->owner != getpid()) {
        packer_raise_state("a packer belongs to the process that opened it: this is a child of it");
        return -1;
    }
    pause_begin(pause);
    code = pthread_mutex_lock(&p->lock);
    if (code == 0 && p->packer)
        return 0;
    if (code == 0)
        pthread_mutex_unlock(&p->lock);
    pause_end(pause);
    packer_raise_state(code == EDEADLK ? "the packer is in the middle of another call of the same thread"
                                       : "the packer has ended: it was finished, suspended or abandoned");
    return -1;
}

void packer_leave(struct packer *p, struct pause *pause)
{
    pthread_mutex_unlock(&p->lock);
    pause_end(pause);
}

PyObject *packer_done(enum leat_status s, const struct leat_error *err)
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

struct opening {
    struct pause pause;
    bool raised;
};

/* Resuming reads back what was written, which may take long. */
static uint32_t on_reading_back(void *context, const struct leat_pack_progress *progress)
{
    struct opening *o = context;

    (void)progress;
    o->raised = o->raised || pause_look(&o->pause) < 0;
    return o->raised;
}

static int open_packer(struct packer *p, PyObject *output, PyObject *tokenizer, PyObject *options)
{
    struct text_tokenizer *t = text_tokenizer_of(tokenizer);
    struct opening opening = { .raised = false };
    struct text_pack_options o;
    struct leat_error err;
    enum leat_status s;

    if (!t || text_options_take(&o, t, options) < 0)
        return -1;
    if (make_lock(p) < 0) {
        PyErr_NoMemory();
        return -1;
    }
    p->numbers = PyDict_New();
    if (!p->numbers)
        return -1;
    Py_INCREF(tokenizer);
    p->tokenizer = tokenizer;
    p->owner = getpid();
    o.options.progress = on_reading_back;
    o.options.context = &opening;
    pause_begin(&opening.pause);
    s = leat_packer_open(&p->packer, output ? PyBytes_AsString(output) : NULL, &o.options, &err);
    pause_end(&opening.pause);
    if (s == LEAT_OK && !opening.raised)
        return 0;
    if (opening.raised)
        return -1;
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

    /* in a child, its threads do not exist, and its files are the parent's: it is left as it is */
    if (p->packer && p->owner == getpid())
        ARGS_UNLOCKED(leat_packer_suspend(p->packer));
    if (p->has_lock)
        pthread_mutex_destroy(&p->lock);
    Py_XDECREF(p->tokenizer);
    Py_XDECREF(p->numbers);
    PyMem_Free(p->rows);
    module_free_object(self);
}

static PyObject *end(PyObject *self, void (*way)(struct leat_packer *))
{
    struct packer *p = (struct packer *)self;
    struct pause pause;

    if (!p->packer)
        return Py_NewRef(Py_None);
    if (packer_enter(p, &pause) < 0)
        return NULL;
    way(p->packer);
    p->packer = NULL;
    packer_leave(p, &pause);
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
    if (packer_enter(p, &pause) < 0)
        return NULL;
    s = leat_packer_finish(p->packer, &report, &err);
    if (s == LEAT_OK)
        p->packer = NULL;
    packer_leave(p, &pause);
    return s == LEAT_OK ? text_report(&report) : errors_raise(&err, NULL);
}

static PyObject *packer_ended(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyBool_FromLong(!((struct packer *)self)->packer);
}

/* ---- Inputs and checkpoints ---- */

/* Takes a new source into the counts; `rows`: what it has given already. */
static int keep_source(struct packer *p, PyObject *name, uint64_t rows)
{
    uint64_t *all = PyMem_Realloc(p->rows, (p->source_count + 1) * sizeof *all);
    PyObject *number = PyLong_FromUnsignedLongLong(p->source_count);
    int r = -1;

    if (all)
        p->rows = all;
    else
        PyErr_NoMemory();
    if (all && number)
        r = PyDict_SetItem(p->numbers, name, number);
    if (r == 0)
        p->rows[p->source_count++] = rows;
    Py_XDECREF(number);
    return r;
}

static int add_source(struct packer *p, PyObject *name)
{
    PyObject *path = NULL;
    struct pause pause;
    struct leat_error err;
    uint64_t number = 0;
    enum leat_status s;

    if (!args_path(name, &path))
        return -1;
    if (packer_enter(p, &pause) < 0) {
        Py_XDECREF(path);
        return -1;
    }
    s = leat_packer_add_input(p->packer, path ? PyBytes_AsString(path) : NULL, &number, &err);
    packer_leave(p, &pause);
    Py_XDECREF(path);
    if (s == LEAT_OK)
        return keep_source(p, name, 0);
    errors_raise(&err, NULL);
    return -1;
}

int packer_find_source(struct packer *p, PyObject *name, uint64_t *input, uint64_t *row)
{
    PyObject *number;

    *input = LEAT_NONE;
    *row = 0;
    if (name == Py_None)
        return 0;
    number = PyDict_GetItemWithError(p->numbers, name);
    if (!number && (PyErr_Occurred() || add_source(p, name) < 0))
        return -1;
    *input = number ? PyLong_AsUnsignedLongLong(number) : p->source_count - 1;
    *row = p->rows[*input];
    return 0;
}

void packer_count(struct packer *p, uint64_t input, uint64_t documents, uint64_t skipped)
{
    p->given += documents;
    p->skipped += skipped;
    if (input != LEAT_NONE)
        p->rows[input] += documents + skipped;
}

/* given() -> (documents, rows left out, {source: rows}) */
static PyObject *packer_given(PyObject *self, PyObject *unused)
{
    struct packer *p = (struct packer *)self;
    PyObject *rows = PyDict_New(), *name, *number;
    Py_ssize_t at = 0;

    (void)unused;
    while (rows && PyDict_Next(p->numbers, &at, &name, &number)) {
        PyObject *value = PyLong_FromUnsignedLongLong(p->rows[PyLong_AsUnsignedLongLong(number)]);

        if (!value || PyDict_SetItem(rows, name, value) < 0)
            Py_CLEAR(rows);
        Py_XDECREF(value);
    }
    return rows ? Py_BuildValue("KKN", (unsigned long long)p->given, (unsigned long long)p->skipped, rows) : NULL;
}

/* restore(documents, rows left out, {source: rows}): what a checkpoint says, in the order of the inputs */
static PyObject *packer_restore(PyObject *self, PyObject *args)
{
    struct packer *p = (struct packer *)self;
    unsigned long long given, skipped;
    PyObject *sources, *name, *rows;
    Py_ssize_t at = 0;

    if (!PyArg_ParseTuple(args, "KKO!", &given, &skipped, &PyDict_Type, &sources))
        return NULL;
    while (PyDict_Next(sources, &at, &name, &rows)) {
        uint64_t count = PyLong_AsUnsignedLongLong(rows);

        if (PyErr_Occurred() || keep_source(p, name, count) < 0)
            return NULL;
    }
    p->given = given;
    p->skipped = skipped;
    return Py_NewRef(Py_None);
}

static PyObject *packer_checkpoint(PyObject *self, PyObject *note)
{
    struct packer *p = (struct packer *)self;
    struct pause pause;
    struct leat_error err;
    enum leat_status s;
    Py_ssize_t bytes;
    char *at;

    if (PyBytes_AsStringAndSize(note, &at, &bytes) < 0 || packer_enter(p, &pause) < 0)
        return NULL;
    s = leat_packer_checkpoint(p->packer, at, (uint64_t)bytes, &err);
    packer_leave(p, &pause);
    return packer_done(s, &err);
}

/* The note of the checkpoint that it was resumed from, or None. */
static PyObject *packer_note(PyObject *self, PyObject *unused)
{
    struct packer *p = (struct packer *)self;
    struct pause pause;
    const void *note = NULL;
    uint64_t bytes = 0;

    (void)unused;
    if (packer_enter(p, &pause) < 0)
        return NULL;
    leat_packer_note(p->packer, &note, &bytes);
    packer_leave(p, &pause);
    return bytes > 0 ? PyBytes_FromStringAndSize(note, (Py_ssize_t)bytes) : Py_NewRef(Py_None);
}

/* ---- The type ---- */

static PyMethodDef methods[] = {
    { "add_text", packer_add_text, METH_VARARGS, NULL },
    { "add_ids", packer_add_ids, METH_VARARGS, NULL },
    { "add_some", packer_add_some, METH_VARARGS, NULL },
    { "add_arrow", packer_add_arrow, METH_VARARGS, NULL },
    { "given", packer_given, METH_NOARGS, NULL },
    { "restore", packer_restore, METH_VARARGS, NULL },
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
