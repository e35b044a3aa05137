/*
 * pause.h: Ctrl-C in long calls. Python runs signal handlers in the main thread only, while that thread holds
 * Python's lock; so a call that releases the lock must look for signals now and then. Between pause_begin() and
 * pause_end() the lock is released. If the library calls back often enough, the callback calls pause_look();
 * pause_run() does the work of a call that does not.
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

/* Lets signal handlers run, about 20 times a second however often it is called. Returns -1 if a handler has raised
 * an exception, which pause_end() then finds set; the caller must leave at once. */
int pause_look(struct pause *p);
/* Lets signal handlers run at each call, unlike pause_look(), and returns what it returns. */
/* Lets signal handlers run, then calls function(...) with a tuple of arguments as in Py_BuildValue(), unless it is
 * None. Returns -1 if a handler or the function has raised. */
int pause_tell(struct pause *p, PyObject *function, const char *format, ...);

/* Long work that cannot look for signals itself. A thread does it, while the caller's thread looks. */
struct pause_work {
    void (*work)(void *context);                 /* runs on the thread, and ends soon once `stop` is set, if it can */
    int (*look)(struct pause *p, void *context); /* called after each look for signals unless it is NULL; returns -1
                                                    if it has raised */
    void *context;
    atomic_bool stop;
};
/* Does the work; the caller has Python's lock. Returns when the work has ended: -1 with an exception set if a
 * handler or `look` has raised. */
int pause_run(struct pause_work *w);

#endif
