/* module.c: the extension leat._leat. */
#include "module.h"

#include <leat_pack.h>

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

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "leat._leat",
    .m_doc = "The binding of libleat and libleat_pack; use the package leat.",
    .m_size = -1,
};

PyMODINIT_FUNC PyInit__leat(void);

__attribute__((visibility("default"))) PyMODINIT_FUNC PyInit__leat(void)
{
    PyObject *module = PyModule_Create(&definition);

    if (!module)
        return NULL;
    if (PyModule_AddStringConstant(module, "version", leat_version()) < 0 || errors_register(module) < 0 ||
        array_register(module) < 0 || dataset_register(module) < 0 || plan_register(module) < 0 ||
        batch_register(module) < 0 || loader_register(module) < 0 || text_register(module) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
