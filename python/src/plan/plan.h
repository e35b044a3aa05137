/*
 * plan.h: leat._leat.Plan, an open plan. plan.c has its methods, samples and states, plan_open.c opens it,
 * plan_rows.c has rows at any positions.
 *
 * The room python/src/plan/ has this type and its samples; what fills batches belongs to python/src/loader/.
 */
#ifndef LEAT_PYTHON_PLAN_H
#define LEAT_PYTHON_PLAN_H

#include "core/handle.h"
#include "core/module.h"

struct plan {
    PyObject base;
    struct handle *handle;
};

const struct leat_plan *plan_of(PyObject *self);

/* The handle of an object of the type, not held; NULL with an exception set: another type. */
struct handle *plan_handle(PyObject *object);

/* Makes an object for an open plan; takes over the handle, also on failure. */
PyObject *plan_wrap(struct handle *handle);

/* The stretches of a sample's row, for the caller to free. */
enum leat_status plan_row_find(const struct leat_plan *plan, const struct leat_sample *x, struct leat_stretch **row,
                               uint64_t *count, struct leat_error *err);

/* (n, source, window, document, offset, part, epoch, length, block, token). NULL: an exception is set. */
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
PyObject *plan_rows(PyObject *self, PyObject *args);
PyObject *plan_labels_apart(PyObject *self, PyObject *unused);
PyObject *plan_rows_apart(PyObject *self, PyObject *args);

int plan_register(PyObject *module);

#endif
