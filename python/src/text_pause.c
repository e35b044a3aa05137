/* text_pause.c: see text.h. A signal handler of Python runs in the main thread only, when that holds the GIL. */
#include <time.h>

#include "text.h"

#define SECONDS_BETWEEN 0.05

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void pause_begin(struct text_pause *p)
{
    p->next = now() + SECONDS_BETWEEN;
    p->state = PyEval_SaveThread();
}

int pause_look_now(struct text_pause *p)
{
    int r;

    PyEval_RestoreThread(p->state);
    r = PyErr_CheckSignals();
    p->state = PyEval_SaveThread();
    p->next = now() + SECONDS_BETWEEN;
    return r;
}

int pause_look(struct text_pause *p)
{
    return now() < p->next ? 0 : pause_look_now(p);
}

void pause_end(struct text_pause *p)
{
    PyEval_RestoreThread(p->state);
}
