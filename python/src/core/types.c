/* types.c: makes the types of the extension, and ends their objects: see module.h. */
#include "module.h"

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
    /* one reference stays for *type, which is used without counting */
    if (!type)
        Py_DECREF(made);
    return 0;
}

void module_free_object(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    release(self);
    Py_DECREF(type);
}
