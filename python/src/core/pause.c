/* pause.c: releases Python's lock, and runs long work on a thread while the caller looks for signals. */
#include "pause.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

#define SECONDS_BETWEEN 0.05

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void pause_begin(struct pause *p)
{
    p->next = now() + SECONDS_BETWEEN;
    p->state = PyEval_SaveThread();
}

void pause_end(struct pause *p)
{
    PyEval_RestoreThread(p->state);
}

/* ---- Looking ---- */

static int pause_look_now(struct pause *p)
{
    return pause_tell(p, Py_None, "()");
}

int pause_look(struct pause *p)
{
    return now() < p->next ? 0 : pause_look_now(p);
}

int pause_tell(struct pause *p, PyObject *function, const char *format, ...)
{
    PyObject *arguments, *result;
    va_list values;
    int r;

    va_start(values, format);
    PyEval_RestoreThread(p->state);
    r = PyErr_CheckSignals();
    if (r == 0 && function != Py_None) {
        arguments = Py_VaBuildValue(format, values);
        result = arguments ? PyObject_CallObject(function, arguments) : NULL;
        Py_XDECREF(arguments);
        Py_XDECREF(result);
        r = result ? 0 : -1;
    }
    p->state = PyEval_SaveThread();
    va_end(values);
    p->next = now() + SECONDS_BETWEEN;
    return r;
}

/* ---- Work on a thread ---- */

struct running {
    struct pause_work *work;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ended;
};

static void *run_work(void *context)
{
    struct running *r = context;

    r->work->work(r->work->context);
    pthread_mutex_lock(&r->lock);
    r->ended = true;
    pthread_cond_signal(&r->changed);
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* Waits until the work has ended, or for SECONDS_BETWEEN. Returns true if the work has ended. */
static bool wait_a_while(struct running *r)
{
    double end = now() + SECONDS_BETWEEN;
    struct timespec until = { .tv_sec = (time_t)end };
    bool ended;

    until.tv_nsec = (long)((end - (double)until.tv_sec) * 1e9);
    pthread_mutex_lock(&r->lock);
    while (!r->ended && pthread_cond_timedwait(&r->changed, &r->lock, &until) != ETIMEDOUT)
        ;
    ended = r->ended;
    pthread_mutex_unlock(&r->lock);
    return ended;
}

/* Starts the thread with all signals blocked: they are for Python's threads. */
static bool start(struct running *r, pthread_t *thread)
{
    sigset_t all, before;
    int failed;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(thread, NULL, run_work, r);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed == 0;
}

static int wait_and_look(struct running *r, struct pause *p)
{
    struct pause_work *w = r->work;
    bool ended = false;
    int result = 0;

    /* This looks once more after the end, as Python does between two steps of its own. */
    while (!ended) {
        ended = wait_a_while(r);
        if (result == 0 && (pause_look_now(p) < 0 || (w->look && w->look(p, w->context) < 0))) {
            result = -1;
            atomic_store(&w->stop, true);
        }
    }
    return result;
}

int pause_run(struct pause_work *w)
{
    struct running r = { .work = w };
    pthread_condattr_t how;
    pthread_t thread;
    struct pause p;
    int result;

    atomic_init(&w->stop, false);
    pthread_mutex_init(&r.lock, NULL);
    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_cond_init(&r.changed, &how);
    pthread_condattr_destroy(&how);
    pause_begin(&p);
    if (start(&r, &thread)) {
        result = wait_and_look(&r, &p);
        pthread_join(thread, NULL);
    } else { /* If no thread can be started, the work runs here, without looking for signals. */
        run_work(&r);
        result = pause_look_now(&p);
    }
    pause_end(&p);
    pthread_cond_destroy(&r.changed);
    pthread_mutex_destroy(&r.lock);
    return result;
}
