/*
 * load.h: what the parts of `leat-bench load` share. load.c has the command, load_run.c takes batches from a loader and
 * does with them what a training step would, load_bare.c does the same copies without a loader, load_files.c opens the
 * file that the command writes.
 *
 * The room load/ measures loaders as a training loop uses them. What may enter: consumers, and bare loops to compare
 * with; it opens datasets and loaders by the public headers.
 */
#ifndef LEAT_BENCH_LOAD_H
#define LEAT_BENCH_LOAD_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/plan_options.h"
#include "leat.h"

enum load_output { LOAD_TOKENS, LOAD_I32, LOAD_I64, LOAD_PACKED, LOAD_VIEWS };

struct load_values {
    struct plan_options plan; /* This member comes first, since the offsets of its option rows count from here. */
    struct leat_loader_options loader;
    uint64_t steps, rounds, warm_up;
    const char *work, *dump, *slice, *column;
    unsigned output, rows, compare;
    struct no_loss no_loss;
    bool borrow, no_verify, bare, synthetic, checksum, json;
    uint64_t work_ns; /* `work` in nanoseconds */
};

/* Opens a file to write, which replaces an old one. Refuses a file that the run reads or that belongs to a dataset. */
enum leat_status load_output_open(FILE **out, const char *path, const struct load_values *v, struct leat_error *err);

#define LOAD_CALLS 40u /* classes of calls by their time, which reach up to six days */

/* The results of a run of some steps. */
struct load_figures {
    uint64_t steps, rows, tokens, bytes; /* `bytes` counts what was delivered */
    uint64_t calls[LOAD_CALLS];          /* calls for a batch by the time that they took: below 1 us, 1 to 2, 2 to 4
                                            ... */
    double seconds, cpu_seconds;         /* seconds without those that checksums took */
};

struct load_result {
    struct load_figures total, bare, synthetic;
    double bare_ratio;     /* median over the rounds of the loader's seconds per token divided by the bare loop's */
    double synthetic_loss; /* share of a step's time that the loader adds */
    struct leat_loader_stats stats;
    struct leat_loader_source *sources; /* sources of the plan, which the caller frees; NULL: no loader was used */
    struct leat_times next;             /* times of the calls for a batch, or for a view */
    double calls_per_batch;             /* calls of the GPU's driver by loader and consumer; 0 on the host */
    double memory_mib;
    uint64_t checksum;
    char notices[1024];
};

/* Runs the measurement. `result` is filled on success. */
enum leat_status load_run(const struct leat_plan *plan, const struct load_values *v, struct load_result *result,
                          struct leat_error *err);

/* ---- load_bare.c ---- */

/* A loop that copies or widens rows at places of mapped files, with as little code as possible. The files are read
 * into memory before. */
struct load_bare;
enum leat_status load_bare_open(struct load_bare **out, const struct leat_plan *plan, const struct load_values *v,
                                struct leat_error *err);
void load_bare_close(struct load_bare *b);
/* Copies the rows of the next `steps` batches and adds what it did to *f. */
enum leat_status load_bare_run(struct load_bare *b, uint64_t steps, struct load_figures *f, struct leat_error *err);

#endif
