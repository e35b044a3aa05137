/*
 * pause.h: Ctrl-C in long calls. A signal handler of Python runs in the main thread only, when that holds Python's
 * lock: so a call that releases it must look now and then. Between pause_begin() and pause_end() the lock is released;
 * a call that comes by often enough looks itself, and pause_run() looks for one that does not.
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
/* The same at once, whatever the time. */
int pause_look_now(struct pause *p);
/* And then calls function(...) with arguments as of Py_BuildValue(), a tuple; None is not called. -1: it has raised,
 * too. */
int pause_tell(struct pause *p, PyObject *function, const char *format, ...);

/* Work that takes long and cannot look: a thread does it, while the caller's looks. */
struct pause_work {
    void (*work)(void *context);                 /* on that thread; ends soon when `stop` is set, if it can */
    int (*look)(struct pause *p, void *context); /* after each look at signals; -1: it has raised. NULL: nothing */
    void *context;
    atomic_bool stop;
};
/* Called with Python's lock; returns when the work has ended. -1: with an exception set, by a handler or `look`. */
int pause_run(struct pause_work *w);

#endif
