/* pushed.c: leat._leat.PushedRun, a run whose parts are pushed, which python/leat/pushed.py wraps. Several threads
 * may call its methods: calls of the library that use the run wait for each other; its packers do not. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "pack.h"

struct pushed {
    PyObject_HEAD struct leat_run *run;
    pthread_mutex_t lock; /* lock of the run, to be taken without the GIL */
    bool has_lock;
};

/* Calls the library with the run locked and the GIL released. */
#define WITH_RUN(p, statement)                                                                                         \
    do {                                                                                                               \
        Py_BEGIN_ALLOW_THREADS;                                                                                        \
        pthread_mutex_lock(&(p)->lock);                                                                                \
        statement;                                                                                                     \
        pthread_mutex_unlock(&(p)->lock);                                                                              \
        Py_END_ALLOW_THREADS;                                                                                          \
    } while (0)

static PyTypeObject *pushed_type;

static int create(struct pushed *p, const char *folder, PyObject *tokenizer, const char *spec, const char *pattern,
                  PyObject *options, int append)
{
    struct leat_run_options how = LEAT_RUN_OPTIONS_INIT;
    struct text_tokenizer *t = text_tokenizer_of(tokenizer);
    struct pack_options o;
    struct leat_error err;
    enum leat_status s;

    if (!t || pack_options_take(&o, t, options) < 0)
        return -1;
    how.tokenizer = spec;
    how.pattern = pattern;
    how.pack = &o.options;
    how.append = append != 0;
    ARGS_UNLOCKED(s = leat_run_create(&p->run, folder, &how, &err));
    return s == LEAT_OK ? 0 : (errors_raise(&err), -1);
}

/* Opens the run in a folder, which must have this number unless it is NULL. */
static int open_same(struct pushed *p, const char *folder, const char *number, Py_ssize_t bytes)
{
    struct leat_run_info info = LEAT_RUN_INFO_INIT;
    struct leat_error err;
    enum leat_status s;

    ARGS_UNLOCKED(s = leat_run_open(&p->run, folder, &err));
    if (s == LEAT_OK)
        leat_run_info(p->run, &info);
    if (s == LEAT_OK && number && (bytes != sizeof info.run || memcmp(number, info.run, sizeof info.run) != 0))
        s = errors_in_file(
            &err, errors_set(&err, LEAT_E_STATE, "the run in %s is no more: another one has taken its place", folder),
            folder);
    return s == LEAT_OK ? 0 : (errors_raise(&err), -1);
}

/* PushedRun(folder, number=None) opens a run that has begun. PushedRun(folder, tokenizer, its spec, pattern or None,
 * options, append) begins one. */
static PyObject *pushed_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = { "", "", "", "", "", "", "number", NULL };
    PyObject *folder = NULL, *spec = NULL, *tokenizer = NULL, *options = NULL, *self;
    const char *pattern = NULL, *name, *number = NULL;
    Py_ssize_t number_bytes = 0;
    int r = 0, append = 0;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|OO&zOpy#", names, args_path, &folder, &tokenizer, args_path,
                                     &spec, &pattern, &options, &append, &number, &number_bytes))
        return NULL;
    self = folder ? module_new_object(type) : NULL;
    if (self)
        ((struct pushed *)self)->has_lock = pthread_mutex_init(&((struct pushed *)self)->lock, NULL) == 0;
    name = folder ? PyBytes_AsString(folder) : NULL;
    if (!folder)
        PyErr_SetString(PyExc_TypeError, "missing name of the folder");
    if (self && options)
        r = create((struct pushed *)self, name, tokenizer, spec ? PyBytes_AsString(spec) : NULL, pattern, options,
                   append);
    else if (self)
        r = open_same((struct pushed *)self, name, number, number_bytes);
    if (r < 0)
        Py_CLEAR(self);
    Py_XDECREF(folder);
    Py_XDECREF(spec);
    return self;
}

static void pushed_free(PyObject *self)
{
    leat_run_close(((struct pushed *)self)->run);
    if (((struct pushed *)self)->has_lock)
        pthread_mutex_destroy(&((struct pushed *)self)->lock);
    module_free_object(self);
}

/* push(key, threads, memory, scratch or None, renderers or None): Returns a Packer. */
static PyObject *pushed_push(PyObject *self, PyObject *args)
{
    struct leat_run_push_options options = LEAT_RUN_PUSH_OPTIONS_INIT;
    PyObject *scratch = NULL, *renderers, *packer;
    uint64_t threads, memory;
    const char *key;
    struct pushed *p = (struct pushed *)self;

    if (!PyArg_ParseTuple(args, "sO&O&O&O", &key, args_u64, &threads, args_u64, &memory, args_path, &scratch,
                          &renderers))
        return NULL;
    options.threads = (uint32_t)threads;
    options.memory = memory;
    options.scratch = scratch ? PyBytes_AsString(scratch) : NULL;
    packer = packer_push(self, p->run, &p->lock, key, &options, renderers);
    Py_XDECREF(scratch);
    return packer;
}

/* commit(list of pieces as text): Commits these pieces. */
static PyObject *pushed_commit(PyObject *self, PyObject *list)
{
    Py_ssize_t count = PyList_Size(list);
    struct leat_run_piece *pieces;
    struct leat_error err;
    enum leat_status s = LEAT_OK;

    if (count < 0)
        return NULL;
    pieces = calloc((size_t)count + 1, sizeof *pieces);
    if (!pieces)
        return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count && s == LEAT_OK; i++) {
        const char *text = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), NULL);

        if (!text) {
            free(pieces);
            return NULL;
        }
        s = leat_run_piece_read(&pieces[i], text, &err);
    }
    if (s == LEAT_OK)
        WITH_RUN((struct pushed *)self,
                 s = leat_run_commit(((struct pushed *)self)->run, pieces, (uint64_t)count, &err));
    free(pieces);
    return errors_none(s, &err);
}

/* number(): Returns the number of the run, 16 bytes. */
static PyObject *pushed_its_number(PyObject *self, PyObject *unused)
{
    struct leat_run_info info = LEAT_RUN_INFO_INIT;

    (void)unused;
    leat_run_info(((struct pushed *)self)->run, &info);
    return PyBytes_FromStringAndSize((const char *)info.run, sizeof info.run);
}

static PyObject *pushed_abort(PyObject *self, PyObject *unused)
{
    struct leat_error err;
    enum leat_status s;

    (void)unused;
    WITH_RUN((struct pushed *)self, s = leat_run_abort(((struct pushed *)self)->run, &err));
    return errors_none(s, &err);
}

/* folder(): Returns the absolute path or the URL of the run's folder. */
static PyObject *pushed_folder(PyObject *self, PyObject *unused)
{
    struct leat_run_info info = LEAT_RUN_INFO_INIT;

    (void)unused;
    leat_run_info(((struct pushed *)self)->run, &info);
    return args_text(info.folder);
}

static PyMethodDef methods[] = {
    { "push", pushed_push, METH_VARARGS, NULL },    { "commit", pushed_commit, METH_O, NULL },
    { "abort", pushed_abort, METH_NOARGS, NULL },   { "number", pushed_its_number, METH_NOARGS, NULL },
    { "folder", pushed_folder, METH_NOARGS, NULL }, { NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_new, pushed_new },
    { Py_tp_dealloc, pushed_free },
    { Py_tp_methods, methods },
    { 0, NULL },
};

static PyType_Spec spec = {
    .name = "leat._leat.PushedRun",
    .basicsize = sizeof(struct pushed),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int pushed_register(PyObject *module)
{
    return module_add_type(module, &spec, &pushed_type);
}
