/* plan.h: leat._leat.Plan, an open plan. plan_object.c has the object, plan.c its methods, samples and states;
 * plan_open.c opens it; plan_rows.c reads rows at any positions. Code that fills batches belongs to the room
 * python/src/loader/. */
#ifndef LEAT_PYTHON_PLAN_H
#define LEAT_PYTHON_PLAN_H

#include "core/handle.h"
#include "core/module.h"

struct plan {
    PyObject base;
    struct handle *handle;
};

const struct leat_plan *plan_of(PyObject *self);

/* Returns the handle of a Plan, without holding it, or NULL with an exception set if the object has another type. */
struct handle *plan_handle(PyObject *object);

/* Makes an object for an open plan. It takes the handle over, also on failure. */
PyObject *plan_wrap(struct handle *handle);

/* Adds the type with these methods to the module. Returns -1 with an exception set on failure. */
int plan_add_type(PyObject *module, PyMethodDef *methods);

/* Returns (n, source, window, document, offset, part, epoch, length, block, token), or NULL with an exception set. */
PyObject *plan_sample_tuple(const struct leat_plan *plan, const struct leat_sample *sample);

/* Methods and functions of plan_open.c and plan_rows.c. */
PyObject *plan_open(PyObject *module, PyObject *args);
PyObject *plan_parse(PyObject *module, PyObject *args);
PyObject *plan_reorder(PyObject *self, PyObject *args);
PyObject *plan_by_tokens(PyObject *self, PyObject *args);
PyObject *plan_change(PyObject *self, PyObject *args);
PyObject *plan_change_text(PyObject *self, PyObject *args);
PyObject *plan_change_place(PyObject *self, PyObject *args);
PyObject *plan_ban(PyObject *self, PyObject *args);
PyObject *plan_pieces(PyObject *self, PyObject *args);
PyObject *plan_rows(PyObject *self, PyObject *args);
PyObject *plan_labels_apart(PyObject *self, PyObject *unused);
PyObject *plan_rows_apart(PyObject *self, PyObject *args);

int plan_register(PyObject *module);

#endif
