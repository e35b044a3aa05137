/* turn.c: leat._leat.Turn, the base of leat.Loader. It lets one call run at a time, and counts a batch exactly if
 * the caller gets it, even if an interrupt comes. Python raises KeyboardInterrupt between any two statements of
 * Python code, for example between counting a batch and returning it, or between taking a lock and the `try` that
 * releases it. C code has no such places, so these steps are here. next() takes its turn, asks _take() in Python for
 * a batch and the place after it, and stores that place on its way back to the caller. If _take() is interrupted,
 * the old place stays, even if the library has given a batch. The loader compares the two before it takes the next
 * batch. */
#include "batch.h"

struct turn {
    PyObject base;
    PyObject *place; /* value of the loader's attribute _place; NULL before it is first set */
    int running;     /* 1 while a call has its turn */
};

static struct turn *turn_of(PyObject *self)
{
    return (struct turn *)(void *)self;
}

static int take_turn(struct turn *self)
{
    if (self->running) {
        PyErr_SetString(PyExc_RuntimeError,
                        "another thread is using this loader (or the code that a signal handler interrupted): only "
                        "one at a time may take batches");
        return 0;
    }
    self->running = 1;
    return 1;
}

static void set_place(struct turn *self, PyObject *place)
{
    PyObject *old = self->place;

    self->place = place;
    Py_XDECREF(old);
}

/* Returns the next batch of _take(), which gives (batch, place after it), and stores that place. */
static PyObject *turn_next(PyObject *object)
{
    PyObject *taken, *batch, *place;

    if (!take_turn(turn_of(object)))
        return NULL;
    taken = PyObject_CallMethod(object, "_take", NULL);
    turn_of(object)->running = 0;
    if (!taken || !PyArg_ParseTuple(taken, "OO:_take", &batch, &place)) {
        Py_XDECREF(taken);
        return NULL;
    }
    set_place(turn_of(object), Py_NewRef(place));
    Py_INCREF(batch);
    Py_DECREF(taken);
    return batch;
}

/* _alone(function): Calls the function in a turn of its own. */
static PyObject *turn_alone(PyObject *object, PyObject *function)
{
    PyObject *result;

    if (!take_turn(turn_of(object)))
        return NULL;
    result = PyObject_CallFunctionObjArgs(function, NULL);
    turn_of(object)->running = 0;
    return result;
}

static PyObject *get_place(PyObject *object, void *unused)
{
    PyObject *place = turn_of(object)->place;

    (void)unused;
    return Py_NewRef(place ? place : Py_None);
}

static int put_place(PyObject *object, PyObject *place, void *unused)
{
    (void)unused;
    set_place(turn_of(object), place ? Py_NewRef(place) : NULL);
    return 0;
}

/* Needs no garbage collection: the place is a tuple of numbers, so it is in no circle of references. */
static void turn_dealloc(PyObject *object)
{
    set_place(turn_of(object), NULL);
    module_free_object(object);
}

static PyMethodDef methods[] = {
    { "_alone", turn_alone, METH_O, NULL },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef properties[] = {
    { "_place", get_place, put_place, NULL, NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_dealloc, turn_dealloc },
    { Py_tp_iternext, turn_next },
    { Py_tp_methods, methods },
    { Py_tp_getset, properties },
    { Py_tp_doc, "The base of leat.Loader: one call at a time." },
    { 0, NULL },
};

static PyType_Spec spec = { .name = "leat._leat.Turn",
                            .basicsize = sizeof(struct turn),
                            .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                            .slots = slots };

int turn_register(PyObject *module)
{
    return module_add_type(module, &spec, NULL);
}
