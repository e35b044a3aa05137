/* plan_object.c: the object of leat._leat.Plan, which holds the handle of an open plan. */
#include "plan.h"

static PyTypeObject *plan_type;

const struct leat_plan *plan_of(PyObject *self)
{
    return handle_object(((struct plan *)(void *)self)->handle);
}

struct handle *plan_handle(PyObject *object)
{
    if (!PyObject_TypeCheck(object, plan_type))
        return PyErr_SetString(PyExc_TypeError, "expected a leat.Plan"), NULL;
    return ((struct plan *)(void *)object)->handle;
}

PyObject *plan_wrap(struct handle *handle)
{
    struct plan *self = PyObject_New(struct plan, plan_type);

    if (!self) {
        handle_drop(handle);
        return NULL;
    }
    self->handle = handle;
    return (PyObject *)self;
}

static void plan_dealloc(PyObject *self)
{
    handle_drop(((struct plan *)(void *)self)->handle);
    module_free_object(self);
}

int plan_add_type(PyObject *module, PyMethodDef *methods)
{
    PyType_Slot slots[] = {
        { Py_tp_dealloc, plan_dealloc },
        { Py_tp_methods, methods },
        { Py_tp_doc, "An open plan; leat.Plan wraps it." },
        { 0, NULL },
    };
    PyType_Spec spec = { .name = "leat._leat.Plan",
                         .basicsize = sizeof(struct plan),
                         .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                         .slots = slots };

    return module_add_type(module, &spec, &plan_type);
}
