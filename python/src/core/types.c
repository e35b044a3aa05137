/* types.c: types of the extension, their objects, and arrays that grow. */
#include "module.h"

#include <stdlib.h>

int module_grow(void *items, size_t item_bytes, uint64_t count, size_t *room)
{
    size_t more = *room < 8 ? 8 : *room + *room / 2;
    void *at;

    if (count <= *room)
        return 1;
    if (more < count)
        more = (size_t)count;
    if (count > SIZE_MAX || more > SIZE_MAX / 2 / item_bytes)
        return 0;
    memcpy(&at, items, sizeof at); /* The pointer is copied, since it may point to items of any type. */
    at = realloc(at, more * item_bytes);
    if (!at)
        return 0;
    memcpy(items, &at, sizeof at);
    *room = more;
    return 1;
}

int module_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type)
{
    PyObject *made = PyType_FromModuleAndSpec(module, spec, NULL);
    const char *dot;

    if (!made)
        return -1;
    if (type)
        *type = (PyTypeObject *)made;
    dot = strrchr(spec->name, '.');
    if (PyModule_AddObjectRef(module, dot ? dot + 1 : spec->name, made) < 0) {
        Py_DECREF(made);
        return -1;
    }
    /* One reference stays for *type, which is used without counting. */
    if (!type)
        Py_DECREF(made);
    return 0;
}

PyObject *module_new_object(PyTypeObject *type)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);

    return allocate(type, 0);
}

void module_free_object(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    release(self);
    Py_DECREF(type);
}
