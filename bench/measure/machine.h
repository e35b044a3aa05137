/*
 * machine.h: the line that goes with every measurement: where, with what and when it was made. And what this process
 * takes of the machine: CPU time, which on a shared machine says more than the clock, and memory.
 */
#ifndef LEAT_BENCH_MACHINE_H
#define LEAT_BENCH_MACHINE_H

#include <stdint.h>

#include "cli/json.h"

/* A line on standard output. */
void machine_print(void);

/* The JSON object of a measurement, on standard output: opens it, and ends it with the member "machine". */
void machine_json_begin(struct json *j);
void machine_json_end(struct json *j);

/* Bytes of memory: the machine's, or the limit of the control group that the process runs in. */
uint64_t machine_memory(void);

/* CPU time of all threads of the process, in the kernel too; and of the calling thread. */
double machine_cpu_seconds(void);
double machine_thread_seconds(void);

/* The memory, in MiB, that only this process takes: its own, and page tables. */
double machine_memory_mib(void);

/* A rate, or a mean: 0 if the divisor is 0. */
static inline double machine_per(double amount, double of)
{
    return of > 0 ? amount / of : 0;
}

#endif
