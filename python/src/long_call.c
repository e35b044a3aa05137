/* long_call.c: see long_call.h. */
#include "long_call.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

#define LOOK_NS 50000000L

struct running {
    struct long_call *call;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int ended;
};

static void *run(void *context)
{
    struct running *r = context;

    r->call->work(r->call->context);
    pthread_mutex_lock(&r->lock);
    r->ended = 1;
    pthread_cond_signal(&r->changed);
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* Until the work has ended, or for LOOK_NS; returns whether it has. */
static int wait_a_while(struct running *r)
{
    struct timespec until;
    int ended;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_NS;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    pthread_mutex_lock(&r->lock);
    while (!r->ended && pthread_cond_timedwait(&r->changed, &r->lock, &until) != ETIMEDOUT)
        ;
    ended = r->ended;
    pthread_mutex_unlock(&r->lock);
    return ended;
}

/* Signals are for Python's threads. */
static int start(struct running *r, pthread_t *thread)
{
    sigset_t all, before;
    int failed;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(thread, NULL, run, r);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed == 0;
}

int long_call_run(struct long_call *c)
{
    struct running r = { .call = c };
    pthread_condattr_t how;
    pthread_t thread;
    int ended = 0, result = 0;

    atomic_init(&c->stop, false);
    pthread_mutex_init(&r.lock, NULL);
    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_cond_init(&r.changed, &how);
    pthread_condattr_destroy(&how);
    if (start(&r, &thread)) {
        while (!ended) {
            Py_BEGIN_ALLOW_THREADS;
            ended = wait_a_while(&r);
            Py_END_ALLOW_THREADS;
            if (result == 0 && (PyErr_CheckSignals() < 0 || (c->look && c->look(c->context) < 0))) {
                result = -1;
                atomic_store(&c->stop, true);
            }
        }
        Py_BEGIN_ALLOW_THREADS;
        pthread_join(thread, NULL);
        Py_END_ALLOW_THREADS;
    } else { /* no thread can be had: then without looking */
        Py_BEGIN_ALLOW_THREADS;
        run(&r);
        Py_END_ALLOW_THREADS;
        result = PyErr_CheckSignals();
    }
    pthread_cond_destroy(&r.changed);
    pthread_mutex_destroy(&r.lock);
    return result;
}

int long_call_tell(PyObject *progress, uint64_t done, uint64_t total)
{
    PyObject *r;

    if (!progress || progress == Py_None)
        return 0;
    r = PyObject_CallFunction(progress, "KK", (unsigned long long)done, (unsigned long long)total);
    Py_XDECREF(r);
    return r ? 0 : -1;
}
