/* packer.c: leat._leat.Packer, which python/leat/packer.py wraps. Every method runs between packer_enter() and
 * packer_leave(). packer_enter() releases the GIL and takes the packer's own lock, so threads take turns. A signal
 * handler or producer that calls the packer from inside one of its calls gets an error instead of a deadlock. A
 * packer belongs to the process that made it; a forked child leaves it alone. Documents of an iterator are gathered
 * in bunches: Python's part of the work needs the GIL, the library's part does not. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "arrow/arrow.h"
#include "arrow/one_text.h"
#include "pack.h"

/* Largest bunch of an iterator's documents, in documents and in bytes. */
#define BUNCH_DOCUMENTS 4096
#define BUNCH_BYTES     ((uint64_t)1 << 20)

/* Most notices between two calls of notices(): a field that no record has, and that nothing is learned. */
#define NOTICES 2

struct packer {
    PyObject_HEAD struct leat_packer *packer; /* NULL after the end */
    PyObject *tokenizer, *options;            /* owners of the strings that the packer uses, or the run and its
                                                 renderers */
    size_t fields;                            /* number of fields that conditions use */
    uint64_t pieces;                          /* number of pieces of this part of a run; 0 for any other packer */
    struct leat_renderers renderers;          /* processes that render conversations, for a part of a run */
    pthread_mutex_t lock;
    bool has_lock;
    pid_t owner;
    /* Counts change while the GIL is held, in the call that adds: an interrupt sees all of a call or nothing. */
    uint64_t given, skipped; /* documents and rows that conditions rejected; skipped rows without a text */
    PyObject *numbers;       /* dict from the names of sources to their numbers */
    uint64_t *rows;          /* rows that each source has given, by its number */
    size_t source_count, source_room;
    struct opening *opening; /* NULL once the packer is open */
    char notices[NOTICES][800];
    unsigned notice_count;
};

static PyTypeObject *packer_type;

/* Raises leat.Error with the status "state". */
static PyObject *packer_raise_state(const char *sentence)
{
    struct leat_error err;

    errors_set(&err, LEAT_E_STATE, "%s", sentence);
    return errors_raise(&err);
}

/* Releases the GIL and locks the packer. If the packer cannot be used, it returns -1 with an exception set and the
 * GIL held. */
static int packer_enter(struct packer *p, struct pause *pause)
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

static void packer_leave(struct packer *p, struct pause *pause)
{
    pthread_mutex_unlock(&p->lock);
    pause_end(pause);
}

/* ---- Making and ending ---- */

static int make_lock(struct packer *p)
{
    pthread_mutexattr_t kind;

    if (pthread_mutexattr_init(&kind) != 0)
        return -1;
    /* A signal handler or a producer of rows may call the packer whose call it interrupts. */
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    p->has_lock = pthread_mutex_init(&p->lock, &kind) == 0;
    pthread_mutexattr_destroy(&kind);
    return p->has_lock ? 0 : -1;
}

struct opening {
    struct pause pause;
    bool raised;
};

/* Checks for signals while resuming reads back what was written, which may take long. */
static uint32_t on_reading_back(void *context, const struct leat_pack_progress *progress)
{
    struct opening *o = ((struct packer *)context)->opening;

    (void)progress;
    o->raised = o->raised || pause_look(&o->pause) < 0;
    return o->raised;
}

/* Keeps a notice that becomes a warning, while the GIL is released. The others are in the report. */
static void on_notice(void *context, const struct leat_pack_notice *notice)
{
    struct packer *p = context;

    if (p->notice_count < NOTICES &&
        (notice->kind == LEAT_NOTICE_CHAT || notice->kind == LEAT_NOTICE_FIELD || notice->kind == LEAT_NOTICE_SUSPECT))
        snprintf(p->notices[p->notice_count++], sizeof *p->notices, "%s", notice->message);
}

static size_t count_fields(const struct leat_packer *p)
{
    const struct leat_field *fields;
    uint64_t count;

    leat_packer_fields(p, &fields, &count);
    return (size_t)count;
}

/* Sets what every packer needs before it is opened, and takes a reference to both objects. */
static int begin_packer(struct packer *p, PyObject *tokenizer, PyObject *options)
{
    if (make_lock(p) < 0) {
        PyErr_NoMemory();
        return -1;
    }
    p->numbers = PyDict_New();
    if (!p->numbers)
        return -1;
    p->tokenizer = Py_NewRef(tokenizer);
    p->options = Py_NewRef(options);
    p->owner = getpid();
    return 0;
}

static int open_packer(struct packer *p, PyObject *output, PyObject *tokenizer, PyObject *options)
{
    struct text_tokenizer *t = text_tokenizer_of(tokenizer);
    struct opening opening = { .raised = false };
    struct pack_options o;
    struct leat_error err;
    enum leat_status s;

    if (!t || pack_options_take(&o, t, options) < 0 || begin_packer(p, tokenizer, options) < 0)
        return -1;
    if (o.options.renderers) {
        p->renderers = o.renderers;
        o.options.renderers = &p->renderers;
    }
    o.options.progress = on_reading_back;
    o.options.notice = on_notice;
    o.options.context = p;
    p->opening = &opening;
    pause_begin(&opening.pause);
    s = leat_packer_open(&p->packer, output ? PyBytes_AsString(output) : NULL, &o.options, &err);
    pause_end(&opening.pause);
    p->opening = NULL;
    p->fields = s == LEAT_OK ? count_fields(p->packer) : 0;
    if (s == LEAT_OK && !opening.raised)
        return 0;
    if (opening.raised)
        return -1;
    errors_raise(&err);
    return -1;
}

/* Packer(output, tokenizer, options) */
static PyObject *packer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *output = NULL, *tokenizer, *options, *self;

    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O&OO", args_path, &output, &tokenizer, &options))
        return NULL;
    self = module_new_object(type);
    if (self && open_packer((struct packer *)self, output, tokenizer, options) < 0)
        Py_CLEAR(self);
    Py_XDECREF(output);
    return self;
}

PyObject *packer_push(PyObject *owner, struct leat_run *run, pthread_mutex_t *lock, const char *key,
                      struct leat_run_push_options *options, PyObject *renderers)
{
    PyObject *self = module_new_object(packer_type);
    struct packer *p = (struct packer *)self;
    struct leat_run_info info = LEAT_RUN_INFO_INIT;
    struct leat_error err;
    enum leat_status s;

    if (!self || begin_packer(p, owner, renderers) < 0) {
        Py_XDECREF(self);
        return NULL;
    }
    if (renderers != Py_None) {
        p->renderers = pack_renderers_of(renderers);
        options->renderers = &p->renderers;
    }
    leat_run_info(run, &info);
    p->pieces = 1 + info.pack->split_count;
    Py_BEGIN_ALLOW_THREADS;
    pthread_mutex_lock(lock);
    s = leat_run_push(&p->packer, run, key, options, &err);
    pthread_mutex_unlock(lock);
    Py_END_ALLOW_THREADS;
    p->fields = s == LEAT_OK ? count_fields(p->packer) : 0;
    if (s == LEAT_OK)
        return self;
    Py_DECREF(self);
    return errors_raise(&err);
}

static void packer_free(PyObject *self)
{
    struct packer *p = (struct packer *)self;

    /* After a fork, the child has none of the packer's threads, and its files belong to the parent. */
    if (p->packer && p->owner == getpid())
        ARGS_UNLOCKED(leat_packer_suspend(p->packer));
    if (p->has_lock)
        pthread_mutex_destroy(&p->lock);
    Py_XDECREF(p->tokenizer);
    Py_XDECREF(p->options);
    Py_XDECREF(p->numbers);
    free(p->rows);
    module_free_object(self);
}

static PyObject *end_packer(PyObject *self, void (*way)(struct leat_packer *))
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
    return end_packer(self, leat_packer_suspend);
}

static PyObject *packer_abandon(PyObject *self, PyObject *unused)
{
    (void)unused;
    return end_packer(self, leat_packer_abandon);
}

/* Returns the lines of all pieces as one text. */
static PyObject *piece_lines(const struct leat_run_piece *pieces, uint64_t count)
{
    PyObject *lines = PyList_New(0), *end = lines ? PyUnicode_FromString("\n") : NULL, *all = NULL;
    bool whole = end != NULL;

    for (uint64_t i = 0; whole && i < count; i++) {
        char text[LEAT_RUN_PIECE_BYTES];
        PyObject *line;

        leat_run_piece_text(&pieces[i], text);
        line = PyUnicode_FromString(text);
        whole = line && PyList_Append(lines, line) == 0;
        Py_XDECREF(line);
    }
    if (whole)
        all = PyUnicode_Join(end, lines);
    Py_XDECREF(end);
    Py_XDECREF(lines);
    return all;
}

/* finish(): Returns the report; for a part of a run (report, text with a line per piece). */
static PyObject *packer_finish(PyObject *self, PyObject *unused)
{
    struct packer *p = (struct packer *)self;
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;
    struct leat_run_piece *pieces;
    struct pause pause;
    struct leat_error err;
    enum leat_status s;
    PyObject *answer;

    (void)unused;
    pieces = calloc((size_t)p->pieces + 1, sizeof *pieces);
    if (!pieces)
        return PyErr_NoMemory();
    if (packer_enter(p, &pause) < 0) {
        free(pieces);
        return NULL;
    }
    s = p->pieces > 0 ? leat_run_finish(p->packer, pieces, p->pieces, &report, &err)
                      : leat_packer_finish(p->packer, &report, &err);
    if (s == LEAT_OK)
        p->packer = NULL;
    packer_leave(p, &pause);
    if (s != LEAT_OK)
        answer = errors_raise(&err);
    else if (p->pieces > 0)
        answer = Py_BuildValue("NN", pack_report(&report), piece_lines(pieces, p->pieces));
    else
        answer = pack_report(&report);
    free(pieces);
    return answer;
}

/* notices(): Returns the sentences of notices since the last call. */
static PyObject *packer_notices(PyObject *self, PyObject *unused)
{
    struct packer *p = (struct packer *)self;
    PyObject *all = PyList_New(0);

    (void)unused;
    for (unsigned i = 0; all && i < p->notice_count; i++) {
        PyObject *sentence = PyUnicode_DecodeFSDefault(p->notices[i]);

        if (!sentence || PyList_Append(all, sentence) < 0)
            Py_CLEAR(all);
        Py_XDECREF(sentence);
    }
    p->notice_count = 0;
    return all;
}

static PyObject *packer_ended(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyBool_FromLong(!((struct packer *)self)->packer);
}

/* ---- Inputs and checkpoints ---- */

/* Adds a new source to the counts. It has given `rows` rows already. */
static int keep_source(struct packer *p, PyObject *name, uint64_t rows)
{
    PyObject *number = PyLong_FromSize_t(p->source_count);
    int r = -1;

    if (!GROW(p->rows, p->source_count + 1, p->source_room))
        PyErr_NoMemory();
    else if (number)
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
    errors_raise(&err);
    return -1;
}

/* Finds the input and number of a source's next row. A source becomes an input with its first row. None means no
 * source. */
static int packer_find_source(struct packer *p, PyObject *name, uint64_t *input, uint64_t *row)
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

/* Counts what a call has added: documents of this input (LEAT_NONE for no input), and rows without a text. */
static void packer_count(struct packer *p, uint64_t input, uint64_t documents, uint64_t skipped)
{
    p->given += documents;
    p->skipped += skipped;
    if (input != LEAT_NONE)
        p->rows[input] += documents + skipped;
}

/* given(): Returns (documents, rows left out, {source: rows}). */
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
    return rows ? Py_BuildValue("NNN", args_number(p->given), args_number(p->skipped), rows) : NULL;
}

/* restore(documents, rows left out, {source: rows}): Sets the counts of a checkpoint, in the order of the inputs. */
static PyObject *packer_restore(PyObject *self, PyObject *args)
{
    struct packer *p = (struct packer *)self;
    uint64_t given, skipped;
    PyObject *sources, *name, *rows;
    Py_ssize_t at = 0;

    if (!PyArg_ParseTuple(args, "O&O&O!", args_u64, &given, args_u64, &skipped, &PyDict_Type, &sources))
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
    return errors_none(s, &err);
}

/* note(): Returns the note of the checkpoint that the packer continues from, or None. */
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

/* ---- Conditions ---- */

/* fields(): Returns ((path, whether it is compared), ...) of the fields that conditions use. */
static PyObject *packer_fields(PyObject *self, PyObject *unused)
{
    struct packer *p = (struct packer *)self;
    const struct leat_field *fields = NULL;
    struct pause pause;
    uint64_t count = 0;
    PyObject *tuple;

    (void)unused;
    if (packer_enter(p, &pause) < 0)
        return NULL;
    leat_packer_fields(p->packer, &fields, &count);
    packer_leave(p, &pause);
    tuple = PyTuple_New((Py_ssize_t)count);
    for (uint64_t i = 0; tuple && i < count; i++) {
        PyObject *field = Py_BuildValue("sN", fields[i].path, PyBool_FromLong(fields[i].compared != 0));

        if (!field || PyTuple_SetItem(tuple, (Py_ssize_t)i, field) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* Converts a number of Python, whose text *kept owns if it is large. Any other object becomes LEAT_VALUE_OTHER. */
static int take_number(PyObject *object, struct leat_value *value, PyObject **kept)
{
    struct text_view view = { NULL, 0 };
    int overflow = 0;

    if (PyFloat_Check(object)) {
        *value = (struct leat_value) { .kind = LEAT_VALUE_DOUBLE, .as.number = PyFloat_AsDouble(object) };
        return 0;
    }
    if (!PyLong_Check(object)) {
        *value = (struct leat_value) { .kind = LEAT_VALUE_OTHER };
        return 0;
    }
    *value =
        (struct leat_value) { .kind = LEAT_VALUE_INT64, .as.int64 = PyLong_AsLongLongAndOverflow(object, &overflow) };
    if (overflow != 0) {
        PyObject *unused;

        *kept = PyObject_Str(object);
        if (!*kept || text_view_of(*kept, &view, &unused) < 0)
            return -1;
        *value = (struct leat_value) { .kind = LEAT_VALUE_DECIMAL, .bytes = view.bytes, .as.text = view.at };
    }
    return PyErr_Occurred() ? -1 : 0;
}

/* Converts an object to a value; `objects` then owns what the value points to. */
static int take_value(PyObject *object, struct leat_value *value, PyObject *objects)
{
    struct text_view view = { NULL, 0 };
    PyObject *kept = NULL;
    int r = 0;

    *value = (struct leat_value) { .kind = LEAT_VALUE_NULL };
    if (object == Py_None)
        return 0;
    if (PyUnicode_Check(object) || PyBytes_Check(object)) {
        r = text_view_of(object, &view, &kept);
        *value = (struct leat_value) { .kind = LEAT_VALUE_STRING, .bytes = view.bytes, .as.text = view.at };
    } else if (PyBool_Check(object)) {
        value->kind = LEAT_VALUE_OTHER;
    } else {
        r = take_number(object, value, &kept);
    }
    if (r == 0 && kept)
        r = PyList_Append(objects, kept);
    Py_XDECREF(kept);
    return r;
}

static enum leat_status judge_values(struct packer *p, const struct leat_value *values, PyObject **result,
                                     struct leat_error *err)
{
    struct pause pause;
    uint32_t keep = 0;
    enum leat_status s = LEAT_OK;

    *result = NULL;
    if (packer_enter(p, &pause) < 0)
        return s;
    s = leat_packer_judge(p->packer, values, &keep, err);
    packer_leave(p, &pause);
    *result = s == LEAT_OK ? PyBool_FromLong((long)keep) : NULL;
    return s;
}

/* judge(list of the values of fields()): Returns whether all conditions hold. A value that is neither text nor
 * number counts as existing, and no comparison with it holds. */
static PyObject *packer_judge(PyObject *self, PyObject *list)
{
    Py_ssize_t count = PyList_Size(list);
    struct packer *p = (struct packer *)self;
    struct leat_value *values;
    PyObject *objects = PyList_New(0), *result = NULL;
    struct leat_error err;
    enum leat_status s = LEAT_OK;
    int r = objects && count >= 0 ? 0 : -1;

    if (r == 0 && (size_t)count != p->fields) {
        PyErr_Format(PyExc_ValueError, "%zd values for the %zu fields of conditions", count, p->fields);
        r = -1;
    }
    values = calloc((size_t)(count > 0 ? count : 1), sizeof *values);
    if (!values && r == 0) {
        PyErr_NoMemory();
        r = -1;
    }
    for (Py_ssize_t i = 0; r == 0 && i < count; i++)
        r = take_value(PyList_GetItem(list, i), &values[i], objects);
    if (r == 0)
        s = judge_values(p, values, &result, &err);
    Py_XDECREF(objects);
    free(values);
    return s == LEAT_OK ? result : errors_raise(&err);
}

/* judge_arrow(rows): Returns one byte per row of the next array, 1 if all conditions hold; None after the last
 * array. */
static PyObject *packer_judge_arrow(PyObject *self, PyObject *object)
{
    struct packer *p = (struct packer *)self;
    struct arrow_rows *rows = arrow_rows_of(object);
    struct pause pause;
    struct leat_error err;
    enum leat_status s;
    PyObject *result;
    char *keep;
    size_t count;

    if (!rows)
        return NULL;
    if (rows->busy)
        return packer_raise_state("the rows are in the middle of another call");
    rows->busy = true;
    if (packer_enter(p, &pause) < 0) {
        rows->busy = false;
        return NULL;
    }
    s = arrow_rows_judge(rows, p->packer, &keep, &count, &err);
    packer_leave(p, &pause);
    rows->busy = false;
    if (s != LEAT_OK)
        result = errors_raise(&err);
    else
        result = keep ? PyBytes_FromStringAndSize(keep, (Py_ssize_t)count) : Py_NewRef(Py_None);
    free(keep);
    return result;
}

/* ---- Single documents ---- */

/* Values of a document for all columns. The arguments of the call own what it points to. */
struct values {
    struct leat_column_values columns[PACK_CONDITIONS];
    uint64_t ends[PACK_CONDITIONS], count;
};

/* Reads a list of (bytes, entries, type); type 0 is one text of a category. */
static int take_values(struct values *v, PyObject *list)
{
    Py_ssize_t count = list == Py_None ? 0 : PyList_Size(list);

    v->count = (uint64_t)count;
    if (count > PACK_CONDITIONS)
        PyErr_SetString(PyExc_ValueError, "too many columns");
    for (Py_ssize_t i = 0; i < count && count <= PACK_CONDITIONS; i++) {
        struct leat_column_values *c = &v->columns[i];
        PyObject *item = PyList_GetItem(list, i);
        Py_ssize_t bytes;
        const char *at;

        *c = (struct leat_column_values) { .ends = &v->ends[i] };
        if (!PyTuple_Check(item) || !PyArg_ParseTuple(item, "y#O&I", &at, &bytes, args_u64, &c->entries, &c->type))
            break;
        c->values = at;
        v->ends[i] = (uint64_t)bytes;
    }
    return PyErr_Occurred() ? -1 : 0;
}

/* Gives the values to the packer, before their document. An error names the document. */
static enum leat_status put_values(struct packer *p, const struct values *v, struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = v->count > 0 ? leat_packer_put_values(p->packer, v->columns, v->count, &why) : LEAT_OK;

    if (s != LEAT_OK)
        errors_set(err, s, "document %llu: %s", (unsigned long long)p->given, why.message);
    return s;
}

/* Reads (document, id or None, source or None, bytes of the mask or None, values of columns or None). */
static int take_origin(struct packer *p, PyObject *args, PyObject **document, struct leat_origin *origin,
                       PyObject **kept, struct text_view *mask, struct values *values)
{
    struct text_view view = { NULL, 0 };
    PyObject *id, *source, *list = Py_None;
    Py_ssize_t mask_bytes = 0;

    *kept = NULL;
    mask->at = NULL;
    if (!PyArg_ParseTuple(args, "OOO|z#O", document, &id, &source, &mask->at, &mask_bytes, &list) ||
        take_values(values, list) < 0)
        return -1;
    mask->bytes = (uint64_t)mask_bytes;
    if (id != Py_None && text_view_of(id, &view, kept) < 0)
        return -1;
    *origin = (struct leat_origin) { .line = LEAT_NONE, .id = view.at, .id_bytes = view.bytes };
    if (packer_find_source(p, source, &origin->input, &origin->offset) < 0) {
        Py_CLEAR(*kept);
        return -1;
    }
    if (origin->input != LEAT_NONE)
        origin->line = origin->offset + 1;
    return 0;
}

/* Ends a call that adds a document. */
static PyObject *added(struct packer *p, const struct leat_origin *origin, enum leat_status s,
                       const struct leat_error *err)
{
    if (s == LEAT_OK)
        packer_count(p, origin->input, 1, 0);
    return errors_none(s, err);
}

/* add_text(text, id, source, spans, values): Adds a text. Spans are None, or pairs of uint64 that count bytes of the
 * text. */
static PyObject *packer_add_text(PyObject *self, PyObject *args)
{
    struct packer *p = (struct packer *)self;
    PyObject *text, *kept, *kept_id, *result = NULL;
    struct leat_origin origin;
    struct pause pause;
    struct text_view view, spans;
    struct values values;
    struct leat_error err;
    enum leat_status s;

    if (take_origin(p, args, &text, &origin, &kept_id, &spans, &values) < 0)
        return NULL;
    if (text_view_of(text, &view, &kept) == 0) {
        if (packer_enter(p, &pause) == 0) {
            s = put_values(p, &values, &err);
            if (s == LEAT_OK)
                s = add_one_text(p->packer, view.at, view.bytes, (const void *)spans.at,
                                 spans.bytes / sizeof(struct leat_span), &origin, &err);
            packer_leave(p, &pause);
            result = added(p, &origin, s, &err);
        }
        Py_XDECREF(kept);
    }
    Py_XDECREF(kept_id);
    return result;
}

/* add_ids(ids, id, source, mask, values): Adds ids. The mask is None, or one byte per id. */
static PyObject *packer_add_ids(PyObject *self, PyObject *args)
{
    struct packer *p = (struct packer *)self;
    PyObject *list, *kept_id, *result = NULL;
    struct leat_origin origin;
    struct pause pause;
    struct leat_error err;
    struct text_view mask;
    struct text_ids ids;
    struct values values;
    enum leat_status s;

    if (take_origin(p, args, &list, &origin, &kept_id, &mask, &values) < 0)
        return NULL;
    if (text_ids_take(&ids, list) == 0) {
        if (mask.at && mask.bytes != ids.count) {
            PyErr_Format(PyExc_ValueError, "the mask has %zu numbers, for %zu ids", (size_t)mask.bytes, ids.count);
        } else if (packer_enter(p, &pause) == 0) {
            s = put_values(p, &values, &err);
            if (s == LEAT_OK)
                s = add_one_of_ids(p->packer, ids.at, (const uint8_t *)mask.at, ids.count, &origin, &err);
            packer_leave(p, &pause);
            result = added(p, &origin, s, &err);
        }
        text_ids_free(&ids);
    }
    Py_XDECREF(kept_id);
    return result;
}

/* ---- Many documents ---- */

/* Texts from an iterator, and perhaps their ids; `objects` keeps them alive. A row without a text has `at` NULL, and
 * a row that conditions reject has `at` set to `out_of_it`. */
struct bunch {
    struct text_view *texts, *ids;
    PyObject *objects;
    size_t count;
    uint64_t bytes;
    bool skip_missing; /* true if None is a row without a text, false if it is an error */
    bool judged;       /* true if False is a row that a condition rejects */
    uint64_t added, passed, kept_out;
};

static const char out_of_it[1]; /* marks the text of a row that a condition rejects */

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

/* Stores an id: a str, an integer, or any object that is not a number, as in add(). */
static int keep_id(struct bunch *b, PyObject *id, struct text_view *view)
{
    bool is_text = PyUnicode_Check(id) || PyBytes_Check(id);
    PyObject *text;
    int r;

    if (PyBool_Check(id) || (!PyIndex_Check(id) && PyObject_HasAttrString(id, "__float__"))) {
        PyErr_Format(PyExc_TypeError, "a document's id is a text or an integer, not %R", id);
        return -1;
    }
    text = is_text ? Py_NewRef(id) : PyObject_Str(id);
    r = text ? keep_view(b, text, view) : -1;
    Py_XDECREF(text);
    return r;
}

/* Stores a text, or a pair of a text and its id. */
static int take_item(struct bunch *b, PyObject *item)
{
    PyObject *text = item, *id = Py_None;

    if (PyTuple_Check(item) && PyTuple_Size(item) == 2) {
        text = PyTuple_GetItem(item, 0);
        id = PyTuple_GetItem(item, 1);
    }
    b->ids[b->count] = b->texts[b->count] = (struct text_view) { NULL, 0 };
    if (b->judged && item == Py_False) {
        b->texts[b->count++].at = out_of_it;
        return 0;
    }
    if (text == Py_None && b->skip_missing) {
        b->count++;
        return 0;
    }
    if (text == Py_None) {
        PyErr_SetString(PyExc_ValueError, "a document has no text; nulls=\"skip\" leaves such documents out");
        return -1;
    }
    if (keep_view(b, text, &b->texts[b->count]) < 0 || (id != Py_None && keep_id(b, id, &b->ids[b->count]) < 0))
        return -1;
    b->bytes += b->texts[b->count].bytes;
    b->count++;
    return 0;
}

/* Gathers items of the iterator until the bunch is full. Returns -1 with an exception set if the iterator or an item
 * fails; the bunch then has the items before it. */
static int fill_bunch(struct bunch *b, PyObject *iterator)
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

static enum leat_status add_bunch(struct packer *p, struct bunch *b, uint64_t input, uint64_t row,
                                  struct leat_error *err)
{
    for (size_t i = 0; i < b->count; i++) {
        struct leat_origin origin = {
            .input = input, .line = LEAT_NONE, .id = b->ids[i].at, .id_bytes = b->ids[i].bytes
        };

        if (!b->texts[i].at) {
            b->passed++;
            continue;
        }
        if (b->texts[i].at == out_of_it) {
            if (leat_packer_keep_out(p->packer, 1, err) != LEAT_OK)
                return err->status;
            b->kept_out++;
            continue;
        }
        if (input != LEAT_NONE) {
            origin.offset = row + i;
            origin.line = row + i + 1;
        }
        if (add_one_text(p->packer, b->texts[i].at, b->texts[i].bytes, NULL, 0, &origin, err) != LEAT_OK)
            return err->status;
        b->added++;
    }
    return LEAT_OK;
}

/* add_some(iterator, source, whether None is a row to skip): Returns whether the iterator gave something. If there
 * are conditions, False is a row that they reject. Items before an exception are added. */
static PyObject *packer_add_some(PyObject *self, PyObject *args)
{
    struct packer *p = (struct packer *)self;
    PyObject *iterator, *source, *type = NULL, *value = NULL, *trace = NULL, *result = NULL;
    uint64_t input, row;
    struct pause pause;
    struct leat_error err;
    struct bunch b = { 0 };
    enum leat_status s;
    int skip_missing;

    if (!PyArg_ParseTuple(args, "OOp", &iterator, &source, &skip_missing))
        return NULL;
    b.skip_missing = skip_missing;
    b.judged = p->fields > 0;
    b.texts = calloc(BUNCH_DOCUMENTS, sizeof *b.texts);
    b.ids = calloc(BUNCH_DOCUMENTS, sizeof *b.ids);
    b.objects = PyList_New(0);
    if (!b.texts || !b.ids || !b.objects) {
        PyErr_NoMemory();
        goto out;
    }
    if (fill_bunch(&b, iterator) < 0)
        PyErr_Fetch(&type, &value, &trace);
    if (packer_find_source(p, source, &input, &row) < 0 || packer_enter(p, &pause) < 0)
        goto out;
    s = add_bunch(p, &b, input, row, &err);
    packer_leave(p, &pause);
    packer_count(p, input, b.added + b.kept_out, b.passed);
    result = s == LEAT_OK ? PyBool_FromLong(b.count > 0) : errors_raise(&err);
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

/* add_arrow(rows, skip, skip missing, source): Returns whether there was another array. */
static PyObject *packer_add_arrow(PyObject *self, PyObject *args)
{
    struct packer *p = (struct packer *)self;
    struct arrow_adding a = { .skip = 0 };
    struct arrow_rows *rows;
    struct pause pause;
    PyObject *object, *source;
    int skip_missing, r;

    if (!PyArg_ParseTuple(args, "OO&pO", &object, args_u64, &a.skip, &skip_missing, &source) ||
        (rows = arrow_rows_of(object)) == NULL)
        return NULL;
    if (rows->busy)
        return packer_raise_state("the rows are in the middle of another call");
    a.skip_missing = skip_missing != 0;
    rows->busy = true;
    if (packer_find_source(p, source, &a.input, &a.row) < 0 || packer_enter(p, &pause) < 0) {
        rows->busy = false;
        return NULL;
    }
    r = arrow_rows_add(rows, p->packer, &a, &pause);
    packer_leave(p, &pause);
    rows->busy = false;
    packer_count(p, a.input, a.added + a.kept_out, a.passed);
    if (r < 0)
        return NULL;
    return a.status == LEAT_OK ? PyBool_FromLong(!a.end) : errors_raise(&a.err);
}

/* ---- The type ---- */

static PyMethodDef methods[] = {
    { "add_text", packer_add_text, METH_VARARGS, NULL },
    { "add_ids", packer_add_ids, METH_VARARGS, NULL },
    { "add_some", packer_add_some, METH_VARARGS, NULL },
    { "add_arrow", packer_add_arrow, METH_VARARGS, NULL },
    { "fields", packer_fields, METH_NOARGS, NULL },
    { "judge", packer_judge, METH_O, NULL },
    { "judge_arrow", packer_judge_arrow, METH_O, NULL },
    { "given", packer_given, METH_NOARGS, NULL },
    { "restore", packer_restore, METH_VARARGS, NULL },
    { "checkpoint", packer_checkpoint, METH_O, NULL },
    { "note", packer_note, METH_NOARGS, NULL },
    { "finish", packer_finish, METH_NOARGS, NULL },
    { "suspend", packer_suspend, METH_NOARGS, NULL },
    { "abandon", packer_abandon, METH_NOARGS, NULL },
    { "ended", packer_ended, METH_NOARGS, NULL },
    { "notices", packer_notices, METH_NOARGS, NULL },
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

int packer_register(PyObject *module)
{
    return module_add_type(module, &spec, &packer_type);
}
