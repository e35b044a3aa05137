/* arrow_stream.c: takes over streams and arrays from capsules. */
#include "arrow.h"

#include <string.h>

/* ---- Taking over ---- */

/* Moves a struct out of its capsule: the stream releases it now, and the capsule's destructor does nothing. */
#define TAKE(capsule, name, type, to)                                                                                  \
    do {                                                                                                               \
        struct type *from = PyCapsule_GetPointer(capsule, name);                                                       \
        if (!from)                                                                                                     \
            return -1;                                                                                                 \
        if (!from->release) {                                                                                          \
            PyErr_SetString(PyExc_ValueError, "this Arrow data has been consumed already");                            \
            return -1;                                                                                                 \
        }                                                                                                              \
        *(to) = *from;                                                                                                 \
        from->release = NULL;                                                                                          \
    } while (0)

static int take_array(struct arrow_stream *s, PyObject *pair)
{
    TAKE(PyTuple_GetItem(pair, 0), "arrow_schema", ArrowSchema, &s->schema);
    TAKE(PyTuple_GetItem(pair, 1), "arrow_array", ArrowArray, &s->array);
    s->single = 1;
    return 0;
}

static int take_stream(struct arrow_stream *s, PyObject *capsule)
{
    TAKE(capsule, "arrow_array_stream", ArrowArrayStream, &s->stream);
    return 0;
}

static enum leat_status say(struct arrow_stream *s, int code, struct leat_error *err)
{
    const char *why = s->stream.get_last_error ? s->stream.get_last_error(&s->stream) : NULL;

    errors_set(err, LEAT_E_IO, "the Arrow stream failed: %.900s", why ? why : strerror(code));
    err->os_error = code;
    return LEAT_E_IO;
}

int arrow_stream_open(struct arrow_stream *s, PyObject *capsules)
{
    struct leat_error err;
    int code, r = -1;

    *s = (struct arrow_stream) { 0 };
    if (PyTuple_Check(capsules) && PyTuple_Size(capsules) == 2) {
        r = take_array(s, capsules);
    } else if (take_stream(s, capsules) == 0) {
        Py_BEGIN_ALLOW_THREADS code = s->stream.get_schema(&s->stream, &s->schema);
        if (code != 0)
            say(s, code, &err);
        Py_END_ALLOW_THREADS r = code == 0 ? 0 : -1;
        if (r < 0)
            errors_raise(&err);
    }
    if (r < 0)
        arrow_stream_close(s);
    return r;
}

/* ---- Arrays ---- */

enum leat_status arrow_stream_next(struct arrow_stream *s, struct leat_error *err)
{
    int code;

    if (s->single) {
        s->single = 0;
        return LEAT_OK;
    }
    if (s->array.release)
        s->array.release(&s->array);
    s->array = (struct ArrowArray) { 0 };
    if (!s->stream.release)
        return LEAT_OK;
    code = s->stream.get_next(&s->stream, &s->array);
    if (code == 0)
        return LEAT_OK;
    s->array.release = NULL;
    return say(s, code, err);
}

void arrow_stream_close(struct arrow_stream *s)
{
    PyObject *type, *value, *trace;

    /* A producer in Python must not see the exception that is being raised here. */
    PyErr_Fetch(&type, &value, &trace);
    if (s->array.release)
        s->array.release(&s->array);
    if (s->schema.release)
        s->schema.release(&s->schema);
    if (s->stream.release)
        s->stream.release(&s->stream);
    *s = (struct arrow_stream) { 0 };
    PyErr_Restore(type, value, trace);
}
