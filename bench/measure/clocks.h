/* clocks.h: CPU time, which on a shared machine says more than the clock. */
#ifndef LEAT_BENCH_CLOCKS_H
#define LEAT_BENCH_CLOCKS_H

#include <time.h>

static inline double clocks_cpu(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Seconds of all threads of the process, in the kernel too; and of the calling thread. */
static inline double clocks_process(void)
{
    return clocks_cpu(CLOCK_PROCESS_CPUTIME_ID);
}

static inline double clocks_thread(void)
{
    return clocks_cpu(CLOCK_THREAD_CPUTIME_ID);
}

#endif
