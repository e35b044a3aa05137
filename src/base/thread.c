/* thread.c: see thread.h. */
#include "thread.h"

#include <signal.h>

int thread_start(pthread_t *thread, size_t stack, void *(*run)(void *context), void *context)
{
    pthread_attr_t how;
    sigset_t all, before;
    int r = pthread_attr_init(&how);

    if (r != 0)
        return r;
    pthread_attr_setstacksize(&how, stack);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    r = pthread_create(thread, &how, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&how);
    return r;
}
