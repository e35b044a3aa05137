/* clock.c: see clock.h. */
#include "clock.h"

#include <time.h>

static uint64_t now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t clock_ns(void)
{
    return now(CLOCK_MONOTONIC);
}

uint64_t clock_cpu_ns(void)
{
    return now(CLOCK_THREAD_CPUTIME_ID);
}
