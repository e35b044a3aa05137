/* template.c: see template.h. A template never changes, so that many threads may render by it at the same time. */
#include "template.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"
#include "chat/chat_template.h"
#include "core/pause.h"
#include "corpus/json/json_scan.h"

#define MAX_BYTES ((size_t)512 << 20) /* of memory, for rendering: as leat_pack() has it */

struct template_object {
    PyObject_HEAD struct chat_template *parsed;
};

static PyTypeObject *template_type;

/* ChatTemplate(text) */
static PyObject *template_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct chat_template *t;
    struct leat_error err;
    const char *text;
    Py_ssize_t bytes;
    PyObject *self;

    if (kwargs && PyDict_Size(kwargs) > 0) {
        PyErr_SetString(PyExc_TypeError, "no keyword arguments are allowed");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "s#:ChatTemplate", &text, &bytes))
        return NULL;
    if (chat_template_make(&t, text, (size_t)bytes, NULL, 0, &err) != LEAT_OK)
        return errors_raise(&err, NULL);
    self = allocate(type, 0);
    if (!self) {
        chat_template_free(t);
        return NULL;
    }
    ((struct template_object *)self)->parsed = t;
    return self;
}

static void template_free(PyObject *self)
{
    chat_template_free(((struct template_object *)self)->parsed);
    module_free_object(self);
}

/* ---- Rendering ---- */

/* Whether it is one value of JSON in UTF-8, of which the renderer is certain. */
static bool is_json(const struct json_fields *fields, const char *text, size_t bytes)
{
    struct json_scan scan;

    json_scan_begin(&scan, fields);
    json_scan_feed(&scan, text, bytes);
    return json_scan_is_object(&scan) && utf8_valid_prefix((const uint8_t *)text, bytes) == bytes;
}

struct watch {
    struct pause pause;
    bool raised;
};

static uint32_t look(void *context)
{
    struct watch *w = context;

    w->raised = w->raised || pause_look(&w->pause) < 0;
    return w->raised;
}

static enum leat_status apply(const struct template_object *self, const struct chat_record *record, struct buffer *text,
                              struct buffer *generated, struct watch *watch, struct leat_error *err)
{
    struct chat_limits limits = { MAX_BYTES, look, watch };
    bool too_big;
    enum leat_status s;

    pause_begin(&watch->pause);
    s = chat_template_apply(self->parsed, record, &limits, text, generated, &too_big, err);
    pause_end(&watch->pause);
    return s != LEAT_OK && too_big ? errors_set(err, s, "rendering the conversation takes more than 512 MiB of memory")
                                   : s;
}

/* (text, [begin, end, begin, end, ...]) */
static PyObject *give(const struct buffer *text, const struct buffer *generated)
{
    const uint32_t *places = (const uint32_t *)(const void *)generated->bytes;
    PyObject *list = PyList_New(0);

    for (size_t i = 0; list && i < generated->size / sizeof *places; i++) {
        PyObject *number = PyLong_FromUnsignedLong(places[i]);

        if (!number || PyList_Append(list, number) < 0)
            Py_CLEAR(list);
        Py_XDECREF(number);
    }
    return list ? Py_BuildValue("s#N", text->size > 0 ? (const char *)text->bytes : "", (Py_ssize_t)text->size, list)
                : NULL;
}

/* render(variables): the text, and where each {% generation %} begins and ends in it, in characters. The variables are
 * an object of JSON, as bytes. */
static PyObject *template_render(PyObject *self, PyObject *variables)
{
    struct buffer text = { 0 }, generated = { 0 };
    struct chat_record record = { 0 };
    struct json_fields fields;
    struct watch watch = { .raised = false };
    struct leat_error err;
    PyObject *given = NULL;
    Py_ssize_t bytes;
    char *at;
    enum leat_status s;

    if (PyBytes_AsStringAndSize(variables, &at, &bytes) < 0)
        return NULL;
    s = json_fields_prepare(&fields, "messages", NULL, &err);
    if (s == LEAT_OK && !is_json(&fields, at, (size_t)bytes))
        s = errors_set(&err, LEAT_E_ARGUMENT, "the variables of a chat template are an object of JSON");
    record.variables = (struct chat_source) { at, (size_t)bytes, true };
    record.unescape = fields.kernels->unescape;
    if (s == LEAT_OK)
        s = apply((struct template_object *)self, &record, &text, &generated, &watch, &err);
    if (s == LEAT_OK && !watch.raised)
        given = give(&text, &generated);
    else if (!watch.raised)
        errors_raise(&err, NULL);
    buffer_free(&text);
    buffer_free(&generated);
    return given;
}

/* ---- The type ---- */

static PyMethodDef methods[] = {
    { "render", template_render, METH_O, NULL },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_new, template_new },
    { Py_tp_dealloc, template_free },
    { Py_tp_methods, methods },
    { 0, NULL },
};

static PyType_Spec spec = {
    .name = "leat._leat.ChatTemplate",
    .basicsize = sizeof(struct template_object),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int template_register(PyObject *module)
{
    return module_add_type(module, &spec, &template_type);
}
