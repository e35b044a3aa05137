/* clock.h: the clocks that times are measured by. */
#ifndef LEAT_BASE_CLOCK_H
#define LEAT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_of(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Returns the time of a clock that only goes forward, in nanoseconds. */
static inline uint64_t clock_ns(void)
{
    return clock_of(CLOCK_MONOTONIC);
}

/* Returns the CPU time of the calling thread, in nanoseconds. */
static inline uint64_t clock_cpu_ns(void)
{
    return clock_of(CLOCK_THREAD_CPUTIME_ID);
}

#endif
