/* errors.c: leat.Error, the library's sentence as an exception with attributes that a program may need; and text as
 * people may see it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "module.h"

/* ---- leat.Error ---- */

PyObject *errors_class;

static const char doc[] =
    "What the library says when something fails: one or two sentences that name the file, the place and what to do.\n\n"
    "status    a short name of the reason, as \"truncated\" or \"checkpoint\" (leat_status_name() in leat.h)\n"
    "code      its number (enum leat_status)\n"
    "file      the file, folder or URL that it is about, spelled as its name was given, or None\n"
    "offset    byte offset in the file (or in the text that was given, where that is None), or None\n"
    "field     what is wrong in it or with it, or None: an option, by its name in leat.h; a member or column of "
    "records\n"
    "os_error  errno of a failed system call, or None\n"
    "resumable of leat.pack(): whether resume=True goes on from there\n"
    "summary   of leat.pack() with inputs that are cut off: what was packed\n"
    "damaged   of leat.pack(): the inputs that are cut off or broken, as the Summary has them\n"
    "advice    of a leat.Run that reads inputs: what to do, a leat.run.Advice";

/* Sets an attribute to a value, whose reference it takes over. Returns -1 on failure. */
static int set(PyObject *object, const char *name, PyObject *value)
{
    int r = value ? PyObject_SetAttrString(object, name, value) : -1;

    Py_XDECREF(value);
    return r;
}

/* Returns a name as a str, or None for an empty name. */
static PyObject *name_or_none(const char *bytes)
{
    return *bytes ? PyUnicode_DecodeFSDefault(bytes) : Py_NewRef(Py_None);
}

/* Returns the library's text as a str. It may have names of files that are not UTF-8. */
static PyObject *text(const char *bytes)
{
    return PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)strlen(bytes), "backslashreplace");
}

/* The text in which Python spells each hint of enum leat_hint. */
static const char *const hints[] = {
    [LEAT_HINT_NONE] = "",
    [LEAT_HINT_REPLACE] = " (force=True)",
    [LEAT_HINT_RESUME] = " (resume=True)",
    [LEAT_HINT_RESUME_OR_REPLACE] = " (resume=True or force=True)",
    [LEAT_HINT_PATTERN] = " (leat.Tokenizer(FILE, pattern=NAME))",
    [LEAT_HINT_PACK] = " (leat.pack())",
    [LEAT_HINT_MERGE] = " (leat.merge())",
    [LEAT_HINT_READ] = " (read(), or access=\"trusted\")",
    [LEAT_HINT_INPUTS] = " (`inputs`)",
    [LEAT_HINT_MEMORY] = " (memory=BYTES)",
    [LEAT_HINT_SAMPLES] = " (order=leat.integrations.megatron.order(samples=N))",
    [LEAT_HINT_APPEND_OR_REPLACE] = " (append=True or force=True)",
    [LEAT_HINT_AGAIN] = "", /* The sentences of these errors say it themselves. */
#define PACK_HINT(name, command, python) [LEAT_HINT_##name] = " " python,
#include "pack/option_rows.h"
};

static PyObject *sentence(const struct leat_error *err)
{
    char bytes[sizeof err->message + 64];

    snprintf(bytes, sizeof bytes, "%s%s", err->message,
             err->hint < sizeof hints / sizeof *hints ? hints[err->hint] : "");
    return text(bytes);
}

enum leat_status errors_set(struct leat_error *err, enum leat_status status, const char *format, ...)
{
    va_list arguments;

    if (!err)
        return status;
    *err = (struct leat_error) { .status = status, .offset = LEAT_NONE };
    va_start(arguments, format);
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    return status;
}

/* Copies a name and cuts it as the library does. A name that fits is whole. */
static void copy_name(char *out, size_t room, const char *name)
{
    if ((size_t)snprintf(out, room, "%s", name) >= room)
        memcpy(out + room - 4, "...", 4);
}

enum leat_status errors_in_file(struct leat_error *err, enum leat_status s, const char *file)
{
    if (s != LEAT_OK && err && file)
        copy_name(err->file, sizeof err->file, file);
    return s;
}

enum leat_status errors_field(struct leat_error *err, enum leat_status s, const char *field)
{
    if (s != LEAT_OK && err && field)
        copy_name(err->field, sizeof err->field, field);
    return s;
}

PyObject *errors_raise(const struct leat_error *err)
{
    PyObject *message, *error;

    if (PyErr_Occurred()) /* A signal handler has raised this during a wait (args.c). */
        return NULL;
    message = sentence(err);
    if (message && err->status == LEAT_E_NO_MEMORY) {
        PyErr_SetObject(PyExc_MemoryError, message);
        Py_DECREF(message);
        return NULL;
    }
    error = message ? PyObject_CallFunctionObjArgs(errors_class, message, NULL) : NULL;
    Py_XDECREF(message);
    if (!error)
        return NULL;
    if (set(error, "_plain", text(err->message)) == 0 && set(error, "_hint", PyLong_FromLong((long)err->hint)) == 0 &&
        set(error, "status", text(leat_status_name(err->status))) == 0 &&
        set(error, "code", PyLong_FromLong(err->status)) == 0 && set(error, "file", name_or_none(err->file)) == 0 &&
        set(error, "field", name_or_none(err->field)) == 0 &&
        set(error, "offset",
            err->offset == LEAT_NONE ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(err->offset)) == 0 &&
        set(error, "os_error", err->os_error == 0 ? Py_NewRef(Py_None) : PyLong_FromLong(err->os_error)) == 0)
        PyErr_SetObject(errors_class, error);
    Py_DECREF(error);
    return NULL;
}

PyObject *errors_none(enum leat_status s, const struct leat_error *err)
{
    return s == LEAT_OK ? Py_NewRef(Py_None) : errors_raise(err);
}

PyObject *errors_take(void)
{
    PyObject *type, *value, *trace;

    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    return value;
}

/* ---- show() ---- */

/* Returns the bytes of a text. Surrogates of os.fsdecode() become the bytes that they stand for; others are written
 * as Python writes them. */
static PyObject *bytes_of(PyObject *text)
{
    PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape");

    if (!bytes && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
        PyErr_Clear();
        bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
    }
    return bytes;
}

/* show(text, name=False) returns the text as people may see it (leat_show()), for sentences that Python makes; with
 * `name`, a name without the secrets that it may have (leat_show_name()). */
static PyObject *show(PyObject *module, PyObject *args)
{
    PyObject *text, *bytes, *result = NULL;
    uint64_t length, (*call)(char *, uint64_t, const char *, uint64_t);
    int name = 0;
    char *shown;

    (void)module;
    if (!PyArg_ParseTuple(args, "U|p:show", &text, &name))
        return NULL;
    call = name ? leat_show_name : leat_show;
    bytes = bytes_of(text);
    if (!bytes)
        return NULL;
    length = call(NULL, 0, PyBytes_AsString(bytes), (uint64_t)PyBytes_Size(bytes));
    shown = malloc((size_t)length + 1);
    if (shown) {
        call(shown, length + 1, PyBytes_AsString(bytes), (uint64_t)PyBytes_Size(bytes));
        result = PyUnicode_DecodeUTF8(shown, (Py_ssize_t)length, "surrogateescape");
    } else {
        PyErr_NoMemory();
    }
    free(shown);
    Py_DECREF(bytes);
    return result;
}

static PyMethodDef functions[] = {
    { "show", show, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

/* ---- Registering ---- */

int errors_register(PyObject *module)
{
    /* `_plain` and `_hint` are the sentence for a program that spells the hint itself. */
    static const char *const names[] = { "status",    "code",    "file",    "offset", "field",  "os_error",
                                         "resumable", "summary", "damaged", "advice", "_plain", "_hint" };
    PyObject *attributes = PyDict_New();
    int r = attributes ? 0 : -1;

    /* These defaults give an Error that is made by hand or unpickled all attributes. */
    for (size_t i = 0; r == 0 && i < sizeof names / sizeof *names; i++)
        r = PyDict_SetItemString(attributes, names[i], Py_None);
    if (r == 0) {
        errors_class = PyErr_NewExceptionWithDoc("leat.Error", doc, NULL, attributes);
        r = errors_class ? PyModule_AddObjectRef(module, "Error", errors_class) : -1;
    }
    Py_XDECREF(attributes);
    return r < 0 ? r : PyModule_AddFunctions(module, functions);
}
