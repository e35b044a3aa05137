/*
 * pause.h: Ctrl-C in long calls. Python runs signal handlers in the main thread only, while that holds Python's lock;
 * so a call that releases the lock must look for signals now and then. Between pause_begin() and pause_end() the lock
 * is released. A call that comes by often enough calls pause_look() itself; pause_run() looks on behalf of one that
 * does not.
 */
#ifndef LEAT_PYTHON_PAUSE_H
#define LEAT_PYTHON_PAUSE_H

#include "module.h"

#include <stdatomic.h>

struct pause {
    PyThreadState *state;
    double next;
};
void pause_begin(struct pause *p);
void pause_end(struct pause *p);

/* Lets signal handlers run, about 20 times a second however often it is called. -1: one of them has raised an
 * exception, which pause_end() then finds set: leave at once. */
int pause_look(struct pause *p);
/* The same immediately, however often it is called. */
int pause_look_now(struct pause *p);
/* Then calls function(...) with arguments as in Py_BuildValue(), a tuple; None is not called. -1: it has raised an
 * exception, too. */
int pause_tell(struct pause *p, PyObject *function, const char *format, ...);

/* Work that takes long and cannot look for signals: a thread does it, while the caller's thread looks. */
struct pause_work {
    void (*work)(void *context);                 /* on that thread; ends soon when `stop` is set, if it can */
    int (*look)(struct pause *p, void *context); /* after each look at signals; -1: it has raised. NULL: nothing */
    void *context;
    atomic_bool stop;
};
/* Called with Python's lock; returns when the work has ended. -1: with an exception set, by a handler or `look`. */
int pause_run(struct pause_work *w);

#endif
