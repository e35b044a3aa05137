/*
 * load.h: what the parts of `leat-bench load` share. load.c has the command, load_run.c takes batches from a loader and
 * does with them what a training step would, load_bare.c does the same copies without a loader, load_files.c writes a
 * trace, and opens the files to write.
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
    struct plan_options plan; /* first: its rows count from here */
    struct leat_loader_options loader;
    uint64_t steps, rounds, warm_up;
    const char *trace, *work, *dump, *slice;
    unsigned output, rows, compare;
    struct no_loss no_loss;
    bool borrow, no_verify, bare, synthetic, checksum, json;
    uint64_t work_ns; /* of `work` */
};

/* Opens a file to write, which replaces the old one. Refuses files that the run reads, or that a dataset has. */
enum leat_status load_output_open(FILE **out, const char *path, const struct load_values *v, struct leat_error *err);

/* A trace in Chrome's format; all calls but the first are fine with NULL. */
struct load_trace;
struct load_trace *load_trace_begin(FILE *out); /* takes `out` over, even if it returns NULL: no memory */
void load_trace_span(struct load_trace *t, const char *name, uint64_t began_ns, uint64_t ended_ns);
void load_trace_stats(struct load_trace *t, uint64_t at_ns, const struct leat_loader_stats *stats);
bool load_trace_close(struct load_trace *t);

#define LOAD_CALLS 40u /* classes by time, up to six days */

/* The results of a run of some steps. */
struct load_figures {
    uint64_t steps, rows, tokens, bytes; /* bytes as delivered */
    uint64_t calls[LOAD_CALLS];          /* for a batch, by the time they took: below 1 us, 1 to 2, 2 to 4 ... */
    double seconds, cpu_seconds;         /* without checksums */
};

struct load_result {
    struct load_figures total, bare, synthetic;
    double bare_ratio;     /* median over the rounds of the loader's seconds per token divided by the bare loop's */
    double synthetic_loss; /* share that the loader adds to a step */
    struct leat_loader_stats stats;
    struct leat_loader_source *sources; /* of the plan, owned; NULL: no loader was used */
    struct leat_times next;             /* of views: of one view */
    double calls_per_batch;             /* of the GPU's driver, by loader and consumer; 0: on the host */
    double memory_mib;
    uint64_t checksum;
    char notices[1024];
};

/* Runs it. `result` is filled on success. */
enum leat_status load_run(const struct leat_plan *plan, const struct load_values *v, struct load_result *result,
                          struct leat_error *err);

/* ---- load_bare.c ---- */

/* Copies or widens rows at places of mapped files, with as little code as possible; everything is in memory before. */
struct load_bare;
enum leat_status load_bare_open(struct load_bare **out, const struct leat_plan *plan, const struct load_values *v,
                                struct leat_error *err);
void load_bare_close(struct load_bare *b);
/* The rows of the next `steps` batches; adds to *f. */
enum leat_status load_bare_run(struct load_bare *b, uint64_t steps, struct load_figures *f, struct leat_error *err);

#endif
