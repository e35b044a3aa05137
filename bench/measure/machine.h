/* machine.h: the line that goes with every measurement: where, with what and when it was made. It also has what this
 * process takes of the machine: CPU time, which on a shared machine says more than the clock, and memory. */
#ifndef LEAT_BENCH_MACHINE_H
#define LEAT_BENCH_MACHINE_H

#include <stdint.h>

#include "base/json.h"

/* Prints the line on standard output. */
void machine_print(void);

/* The first opens the JSON object of a measurement on standard output, the second ends it with the member "machine". */
void machine_json_begin(struct json *j);
void machine_json_end(struct json *j);

/* Returns the bytes of the machine's memory, or the limit of the process's control group. */
uint64_t machine_memory(void);

/* The first returns the CPU seconds of all threads of the process, the kernel's included, the second those of the
 * calling thread. */
double machine_cpu_seconds(void);
double machine_thread_seconds(void);

/* Returns the MiB of memory that only this process takes: its private pages and its page tables. */
double machine_memory_mib(void);

/* Returns a rate or a mean; 0 if the divisor is 0. */
static inline double machine_per(double amount, double of)
{
    return of > 0 ? amount / of : 0;
}

#endif
