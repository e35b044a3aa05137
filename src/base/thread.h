/* thread.h: how the library starts threads of its own in other people's programs, and how many CPUs they have. */
#ifndef LEAT_BASE_THREAD_H
#define LEAT_BASE_THREAD_H

#include <pthread.h>

/* The limits that can keep a thread from starting, as the end of an error in parentheses. */
#define THREAD_LIMITS "ulimit -u and a control group's pids.max limit threads, ulimit -v memory"

/* Starts a thread with a stack of `stack` bytes. Signals stay with the program's threads. Returns 0 or an errno. */
int thread_start(pthread_t *thread, size_t stack, void *(*run)(void *context), void *context);

/* Returns how many CPUs this thread may run on, at least 1. */
unsigned thread_cpus(void);

#endif
