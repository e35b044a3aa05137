/* clock.h: the clock that times are measured by. */
#ifndef LEAT_BASE_CLOCK_H
#define LEAT_BASE_CLOCK_H

#include <stdint.h>

/* A clock that only goes forward, in nanoseconds. */
uint64_t clock_ns(void);

/* CPU time of the calling thread. */
uint64_t clock_cpu_ns(void);

#endif
