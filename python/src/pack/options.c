/* options.c: the options of packing, by the rows of pack/option_rows.h. _leat.PACK_OPTIONS lists for python/leat
 * what each option takes, and pack_options_take() reads the options that python/leat passes. */
#include "pack.h"

#include <string.h>

#include "cli/options.h"
#include "commands/common/outputs.h"
#include "corpus/record_format.h"

/* ---- The rows, for Python ---- */

struct row {
    const char *keyword, *kind, *member;
    size_t at; /* offset of the member in the struct */
    struct option_row words;
};

#define MEMBER(kind, member) #kind, #member, offsetof(struct leat_pack_options, member)
static const struct row rows[] = {
#define PACK_OPTION(kind, member, keyword, plan, ...) { keyword, MEMBER(kind, member), { __VA_ARGS__ } },
#define PACK_KEYWORD(kind, member, keyword, plan)     { keyword, MEMBER(kind, member), { .name = NULL } },
#include "pack/option_rows.h"
};

/* Returns a tuple of the words of a list that NULL ends, or None for no list. */
static PyObject *words_of(const char *const *words)
{
    PyObject *list = PyList_New(0), *tuple;

    for (; list && words && *words; words++) {
        PyObject *word = PyUnicode_FromString(*words);

        if (!word || PyList_Append(list, word) < 0)
            Py_CLEAR(list);
        Py_XDECREF(word);
    }
    tuple = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return tuple;
}

/* Adds PACK_OPTIONS: (keyword, kind, member, preset or None, words of a choice, minimum, maximum) for each option. */
int options_register(PyObject *module)
{
    PyObject *list = PyList_New(0);
    int r = list ? 0 : -1;

    for (size_t i = 0; r == 0 && i < ARGS_COUNT(rows); i++) {
        const struct option_row *w = &rows[i].words;
        PyObject *row = Py_BuildValue("ssszNKK", rows[i].keyword, rows[i].kind, rows[i].member, w->preset,
                                      words_of(w->choices), (unsigned long long)w->min, (unsigned long long)w->max);

        r = row ? PyList_Append(list, row) : -1;
        Py_XDECREF(row);
    }
    if (r == 0)
        r = PyModule_AddObjectRef(module, "PACK_OPTIONS", list);
    Py_XDECREF(list);
    return r;
}

/* ---- Options that are given ---- */

#define TAKE(kind, member) FIELD_ROW(kind, leat_pack_options, member),
#define TAKE_FLAG(member)  TAKE(FIELD_FLAG, member)
#define TAKE_SIZE(member)  TAKE(FIELD_NUMBER, member)
#define TAKE_TEXT(member)  TAKE(FIELD_TEXT, member)
#define TAKE_LIMIT(member) TAKE_SIZE(member) TAKE_SIZE(member##_ppm)
#define TAKE_PART(member)  TAKE_SIZE(member) TAKE_SIZE(member##s)
#define TAKE_SEED(member)  TAKE_FLAG(member) TAKE_SIZE(seed)
#define TAKE_CHAT          TAKE_TEXT
#define TAKE_CHOICE        TAKE_SIZE
#define TAKE_COUNT         TAKE_SIZE
#define TAKE_THREADS       TAKE_SIZE
#define TAKE_TIME          TAKE_SIZE
#define TAKE_TOKEN         TAKE_SIZE
#define TAKE_SPLITS(member)
#define TAKE_TEXTS(member)
static const struct field fields[] = {
#define PACK_OPTION(kind, member, keyword, plan, ...) TAKE_##kind(member)
#define PACK_KEYWORD(kind, member, keyword, plan)     TAKE_##kind(member)
#include "pack/option_rows.h"
};

/* Returns the UTF-8 of item i of a pair; the pair owns it. */
static const char *string_of(PyObject *pair, Py_ssize_t i)
{
    PyObject *item = PyTuple_Check(pair) && PyTuple_Size(pair) == 2 ? PyTuple_GetItem(pair, i) : NULL;

    if (item)
        return PyUnicode_AsUTF8AndSize(item, NULL);
    PyErr_SetString(PyExc_TypeError, "a split is a pair of a name and a fraction");
    return NULL;
}

Py_ssize_t pack_splits_take(struct leat_split splits[PACK_SPLITS], PyObject *list)
{
    Py_ssize_t count = PyList_Size(list);

    if (count > PACK_SPLITS) {
        PyErr_Format(PyExc_ValueError, "at most %d splits are allowed", PACK_SPLITS);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *pair = PyList_GetItem(list, i);

        splits[i].name = string_of(pair, 0);
        splits[i].fraction = splits[i].name ? string_of(pair, 1) : NULL;
        if (!splits[i].fraction)
            return -1;
    }
    return count;
}

static Py_ssize_t take_texts(const char *texts[PACK_CONDITIONS], PyObject *list, const char *name)
{
    Py_ssize_t count = PyList_Size(list);

    if (count > PACK_CONDITIONS) {
        PyErr_Format(PyExc_ValueError, "%s has more than %d texts", name, PACK_CONDITIONS);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        texts[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), NULL);
        if (!texts[i])
            return -1;
    }
    return count;
}

/* Reads the lists. In the struct, the length of each list follows it. */
static bool take_lists(struct pack_options *o, PyObject *lists)
{
    size_t texts = 0;

    for (size_t i = 0; i < ARGS_COUNT(rows); i++) {
        bool splits = strcmp(rows[i].kind, "SPLITS") == 0;
        PyObject *list = PyDict_GetItemString(lists, rows[i].member); /* borrowed */
        struct option_list taken;
        Py_ssize_t count;

        if (!list)
            continue;
        taken.items = splits ? (void *)o->splits : (void *)o->texts[texts];
        count = splits ? pack_splits_take(o->splits, list) : take_texts(o->texts[texts++], list, rows[i].keyword);
        if (count < 0)
            return false;
        taken.count = (uint64_t)count;
        memcpy((char *)&o->options + rows[i].at, &taken, sizeof taken);
    }
    return true;
}

/* ---- Renderers: objects with open() -> descriptor and close(descriptor), called by threads of the library ---- */

/* Writes the exception that is set into `err`, in the one line that Python prints. */
static void say_exception(struct leat_error *err)
{
    PyObject *value = errors_take(), *text;
    const char *said;

    text = value ? PyObject_Str(value) : NULL;
    said = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    errors_set(err, LEAT_E_IO, "a process that renders conversations cannot be started: %s",
               said ? said : "an exception was raised");
    PyErr_Clear();
    Py_XDECREF(text);
    Py_XDECREF(value);
}

static enum leat_status renderers_open(void *context, int *fd, struct leat_error *err)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *number = PyObject_CallMethod(context, "open", NULL);
    long opened = number ? PyLong_AsLong(number) : -1;

    if (opened < 0)
        say_exception(err);
    *fd = (int)opened;
    Py_XDECREF(number);
    PyGILState_Release(state);
    return opened < 0 ? LEAT_E_IO : LEAT_OK;
}

static void renderers_close(void *context, int fd)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *done = PyObject_CallMethod(context, "close", "i", fd);

    if (!done)
        PyErr_WriteUnraisable(context);
    Py_XDECREF(done);
    PyGILState_Release(state);
}

struct leat_renderers pack_renderers_of(PyObject *object)
{
    return (struct leat_renderers) { renderers_open, renderers_close, object };
}

/* ---- All options ---- */

int pack_options_take(struct pack_options *o, const struct text_tokenizer *t, PyObject *tuple)
{
    PyObject *given, *given_lists, *renderers;

    *o = (struct pack_options) { .options = LEAT_PACK_OPTIONS_INIT };
    if (!PyArg_ParseTuple(tuple, "O!O!O", &PyDict_Type, &given, &PyDict_Type, &given_lists, &renderers) ||
        !fields_set(FIELDS(fields), &o->options, given) || !take_lists(o, given_lists))
        return -1;
    o->options.tokenizer = t ? t->tokenizer : NULL;
    o->renderers = pack_renderers_of(renderers);
    o->options.renderers = renderers == Py_None ? NULL : &o->renderers;
    return 0;
}
