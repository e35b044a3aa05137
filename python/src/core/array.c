/*
 * array.c: makes Arrays and their DLPack capsules.
 *
 * An Array holds the handle of the object that owns its memory. Every DLPack capsule holds this handle once more,
 * since a tensor may outlive the Array, and may be freed on any thread without the GIL, as handles allow. Capsules
 * come in two forms: consumers that pass max_version 1.0 or higher get the versioned one, which can say that memory
 * is read-only; others get the plain one. Both forms lie at the start of struct managed, so that one pointer is
 * enough to free either. A capsule that nobody has consumed frees its tensor itself; consumers rename the capsule,
 * so that it does not.
 */
#include "array.h"

#include <stdlib.h>

/* ---- DLPack, from its specification, versions 0 and 1.0 ---- */

#define DEVICE_HOST    1
#define READ_ONLY_FLAG 1u

struct dl_tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t dimensions;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
};

struct dl_managed {
    struct dl_tensor tensor;
    void *context;
    void (*deleter)(struct dl_managed *);
};

struct dl_versioned {
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct dl_versioned *);
    uint64_t flags;
    struct dl_tensor tensor;
};

/* The object that a capsule points at, which begins with either form of a tensor. */
struct managed {
    union {
        struct dl_managed plain;
        struct dl_versioned versioned;
    } form;
    int64_t shape[ARRAY_DIMENSIONS], strides[ARRAY_DIMENSIONS];
    struct handle *owner;
};

static void managed_free(struct managed *m)
{
    handle_drop(m->owner);
    free(m);
}

static void delete_plain(struct dl_managed *t)
{
    managed_free(t->context);
}

static void delete_versioned(struct dl_versioned *t)
{
    managed_free(t->context);
}

/* Frees the tensor of a capsule that nobody has consumed. */
static void capsule_free(PyObject *capsule)
{
    struct managed *m;

    if (PyCapsule_IsValid(capsule, "dltensor"))
        m = PyCapsule_GetPointer(capsule, "dltensor");
    else if (PyCapsule_IsValid(capsule, "dltensor_versioned"))
        m = PyCapsule_GetPointer(capsule, "dltensor_versioned");
    else
        return;
    managed_free(m);
}

static void fill_tensor(struct dl_tensor *t, struct managed *m, const struct array_shape *a)
{
    int64_t stride = 1;

    for (int i = a->dimensions; i-- > 0; stride *= a->shape[i]) {
        m->shape[i] = a->shape[i];
        m->strides[i] = stride;
    }
    *t = (struct dl_tensor) { .data = a->data,
                              .device_type = a->device_type ? a->device_type : DEVICE_HOST,
                              .device_id = a->device,
                              .dimensions = a->dimensions,
                              .code = (uint8_t)a->kind,
                              .bits = (uint8_t)(8 * a->bytes),
                              .lanes = 1,
                              .shape = m->shape,
                              .strides = m->strides };
}

static PyObject *make_capsule(struct handle *owner, const struct array_shape *a, int versioned)
{
    struct managed *m = calloc(1, sizeof *m);
    PyObject *capsule;

    if (!m)
        return PyErr_NoMemory();
    if (versioned) {
        struct dl_versioned *t = &m->form.versioned;

        *t = (struct dl_versioned) {
            .major = 1, .context = m, .deleter = delete_versioned, .flags = a->writable ? 0 : READ_ONLY_FLAG
        };
        fill_tensor(&t->tensor, m, a);
    } else {
        m->form.plain.context = m;
        m->form.plain.deleter = delete_plain;
        fill_tensor(&m->form.plain.tensor, m, a);
    }
    m->owner = owner ? handle_hold(owner) : NULL;
    capsule = PyCapsule_New(m, versioned ? "dltensor_versioned" : "dltensor", capsule_free);
    if (!capsule)
        managed_free(m);
    return capsule;
}

PyObject *array_capsule(struct handle *owner, const struct array_shape *a)
{
    return make_capsule(owner, a, 0);
}

/* ---- The object ---- */

struct array {
    PyObject base;
    struct handle *owner;
    struct array_shape a;
};

static PyTypeObject *array_type;

static struct array *array_of(PyObject *self)
{
    return (struct array *)(void *)self;
}

PyObject *array_make(struct handle *owner, const struct array_shape *a)
{
    struct array *self = PyObject_New(struct array, array_type);

    if (!self)
        return NULL;
    self->owner = owner ? handle_hold(owner) : NULL;
    self->a = *a;
    return (PyObject *)self;
}

static void array_dealloc(PyObject *self)
{
    handle_drop(array_of(self)->owner);
    module_free_object(self);
}

static int is_swapped(const struct array_shape *a)
{
    return a->little && a->bytes > 1 && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

/* Returns 1 if `version`, which is (major, minor) or None, asks for the versioned form. */
static int asks_versioned(PyObject *version)
{
    PyObject *major;
    long number;

    if (!version || version == Py_None)
        return 0;
    major = PySequence_GetItem(version, 0);
    number = major ? PyLong_AsLong(major) : -1;
    Py_XDECREF(major);
    return PyErr_Occurred() ? -1 : number >= 1;
}

static PyObject *array_dlpack(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = { "stream", "max_version", "dl_device", "copy", NULL };
    PyObject *stream = NULL, *version = NULL, *device = NULL, *copy = NULL;
    const struct array *array = array_of(self);
    int versioned;

    /* `stream` is ignored: the batch's numbers are ready on the stream that it was written with. */
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$OOOO:__dlpack__", names, &stream, &version, &device, &copy))
        return NULL;
    if (copy == Py_True || is_swapped(&array->a))
        return PyErr_SetString(PyExc_BufferError, copy == Py_True
                                                      ? "a copy is the consumer's to make"
                                                      : "these numbers are little-endian, but this machine is not"),
               NULL;
    versioned = asks_versioned(version);
    return versioned < 0 ? NULL : make_capsule(array->owner, &array->a, versioned);
}

static PyObject *array_dlpack_device(PyObject *self, PyObject *unused)
{
    const struct array_shape *a = &array_of(self)->a;

    (void)unused;
    return Py_BuildValue("(ii)", a->device_type ? a->device_type : DEVICE_HOST, a->device);
}

static PyObject *shape_of(const struct array_shape *a)
{
    PyObject *shape = PyTuple_New(a->dimensions);

    for (int i = 0; shape && i < a->dimensions; i++) {
        PyObject *size = PyLong_FromLongLong(a->shape[i]);

        if (!size || PyTuple_SetItem(shape, i, size) < 0)
            Py_CLEAR(shape);
    }
    return shape;
}

static PyObject *array_get_shape(PyObject *self, void *unused)
{
    (void)unused;
    return shape_of(&array_of(self)->a);
}

static PyObject *array_get_address(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(array_of(self)->a.data);
}

static PyObject *array_get_interface(PyObject *self, void *unused)
{
    const struct array_shape *a = &array_of(self)->a;
    const char *order = a->bytes == 1 ? "|" : a->little || __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "<" : ">";
    static const char *const kinds[] = {
        [ARRAY_SIGNED] = "i", [ARRAY_UNSIGNED] = "u", [ARRAY_FLOAT] = "f", [ARRAY_BFLOAT] = "u", [ARRAY_BOOL] = "b"
    };
    const char *kind = kinds[a->kind];

    (void)unused;
    if (a->device_type > DEVICE_HOST)
        return PyErr_SetString(PyExc_AttributeError, "these numbers are on a device: use __dlpack__"), NULL;
    return Py_BuildValue("{s:i,s:N,s:N,s:(NO)}", "version", 3, "shape", shape_of(a), "typestr",
                         PyUnicode_FromFormat("%s%s%u", order, kind, a->bytes), "data", PyLong_FromVoidPtr(a->data),
                         a->writable ? Py_False : Py_True);
}

static PyMethodDef methods[] = {
    { "__dlpack__", (PyCFunction)(void (*)(void))array_dlpack, METH_VARARGS | METH_KEYWORDS, NULL },
    { "__dlpack_device__", array_dlpack_device, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef properties[] = {
    { "__array_interface__", array_get_interface, NULL, NULL, NULL },
    { "shape", array_get_shape, NULL, NULL, NULL },
    { "address", array_get_address, NULL, "where the numbers are, as an integer", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_dealloc, array_dealloc },
    { Py_tp_methods, methods },
    { Py_tp_getset, properties },
    { Py_tp_doc, "Numbers in memory; numpy.asarray(), torch.from_dlpack() and jax.dlpack take them without a copy." },
    { 0, NULL },
};

static PyType_Spec spec = { .name = "leat._leat.Array",
                            .basicsize = sizeof(struct array),
                            .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                            .slots = slots };

int array_register(PyObject *module)
{
    return module_add_type(module, &spec, &array_type);
}
