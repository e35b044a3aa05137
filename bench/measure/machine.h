/* machine.h: the line that goes with every measurement: where, with what and when it was made. */
#ifndef LEAT_BENCH_MACHINE_H
#define LEAT_BENCH_MACHINE_H

#include <stdint.h>
#include <stdio.h>

#include "cli/json.h"

struct machine {
    char cpu[96];
    unsigned cores;  /* that this process may use */
    uint64_t memory; /* bytes */
    char kernel[160];
    char compiler[64];
    char date[48];
};

void machine_describe(struct machine *m);
void machine_print(FILE *out, const struct machine *m);
void machine_json(struct json *j, const char *key, const struct machine *m);

/* Bytes of memory: the machine's, or the limit of the control group that the process runs in. */
uint64_t machine_memory(void);

/* The memory, in MiB, that only this process takes: its own, and page tables. */
double machine_memory_mib(void);

#endif
