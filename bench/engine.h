/*
 * engine.h: measures named cases against each other. It knows nothing of what they do. Cases run in turn (A B C A B C
 * ...), so that a machine that slows down slows all of them; the first round warms up and is not counted. Results are
 * medians with the least and the greatest run beside them. CPU time is that of all threads of the process.
 */
#ifndef LEAT_BENCH_ENGINE_H
#define LEAT_BENCH_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/json.h"

/* What one run did; filled by the case. */
struct engine_work {
    uint64_t bytes;  /* 0: not counted */
    uint64_t items;  /* 0: not counted */
    double seconds;  /* set by a case that times a part of its run itself; 0: the engine's clock counts */
    char why[160];   /* set when the case cannot run here: the end of "not measured: ..." */
    char note[160];  /* shown beside the numbers */
    unsigned number; /* of this run, counting the warm-up; set by the engine */
};

struct engine_case {
    const char *name;
    const char *item; /* what an item is, in the singular ("read"); NULL: only bytes are shown */
    void *context;
    /* Before each run, not timed; NULL: nothing. False: cannot run here, work->why says why. */
    bool (*prepare)(void *context, struct engine_work *work);
    /* Timed. False as above. */
    bool (*run)(void *context, struct engine_work *work);
};

struct engine_sample {
    double seconds, cpu_seconds;
    uint64_t bytes, items;
};

struct engine_result {
    unsigned runs; /* 0: not measured, `why` says why */
    struct engine_sample *samples;
    char why[160];
    char note[160];
};

struct engine_options {
    unsigned runs; /* counted ones, without the warm-up; at least 1 */
    /* Called before each run; NULL: not wanted; engine_show() tells a struct progress, which is then the context. */
    void (*progress)(void *context, const char *name, uint64_t done, uint64_t total);
    void *context;
};

/* Measures `count` cases into results[]; false: no memory. engine_free_results() releases the results. */
bool engine_run(const struct engine_case *cases, size_t count, const struct engine_options *options,
                struct engine_result *results);
void engine_free_results(struct engine_result *results, size_t count);

void engine_show(void *context, const char *name, uint64_t done, uint64_t total);

/* What can be asked of a sample: bytes or items a second, seconds an item, CPU seconds a second. */
enum engine_measure { ENGINE_BYTES_PER_S, ENGINE_ITEMS_PER_S, ENGINE_SECONDS_PER_ITEM, ENGINE_CPU };

struct engine_spread {
    double median, min, max;
};

/* All zero if there are no runs. */
struct engine_spread engine_spread(const struct engine_result *r, enum engine_measure measure);

/* Orders doubles, for qsort(). */
int engine_compare(const void *a, const void *b);

/* The median over the rounds of a's measure divided by b's of the same round; 0 if it cannot be told. */
double engine_ratio(const struct engine_result *a, const struct engine_result *b, enum engine_measure measure);

/* A table under `title`, and the same as an array of objects. */
void engine_print(FILE *out, const char *title, const struct engine_case *cases, const struct engine_result *results,
                  size_t count);
void engine_json(struct json *j, const char *key, const struct engine_case *cases, const struct engine_result *results,
                 size_t count);

#endif
