/*
 * long_call.h: work that takes long, and must not keep Ctrl-C from working. A thread does it, without Python's lock; the
 * caller's thread looks at signals, and at how far it is, twenty times a second.
 */
#ifndef LEAT_PYTHON_LONG_CALL_H
#define LEAT_PYTHON_LONG_CALL_H

#include <stdatomic.h>

#include "module.h"

struct long_call {
    void (*work)(void *context); /* on a thread; ends soon when `stop` is set, if it can */
    int (*look)(void *context);  /* with Python's lock; -1 with an exception set stops the work. NULL: nothing */
    void *context;
    atomic_bool stop;
};

/* Returns when the work has ended. -1: with an exception set, by a signal's handler (KeyboardInterrupt) or `look`. */
int long_call_run(struct long_call *c);

/* For `look`: calls progress(done, total); None is not called. -1: it has raised. */
int long_call_tell(PyObject *progress, uint64_t done, uint64_t total);

#endif
