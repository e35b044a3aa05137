#include "thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>

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

/* Doubles the set of CPUs until Linux takes it: a set smaller than its own gives EINVAL. The usual set has 1,024
 * CPUs. */
unsigned thread_cpus(void)
{
    for (size_t max = CPU_SETSIZE; max <= (size_t)CPU_SETSIZE << 10; max *= 2) {
        cpu_set_t *set = CPU_ALLOC(max);
        bool small = false;
        int count = 0;

        if (set && sched_getaffinity(0, CPU_ALLOC_SIZE(max), set) == 0)
            count = CPU_COUNT_S(CPU_ALLOC_SIZE(max), set);
        else
            small = set && errno == EINVAL;
        CPU_FREE(set);
        if (!small)
            return count > 0 ? (unsigned)count : 1;
    }
    return 1;
}
