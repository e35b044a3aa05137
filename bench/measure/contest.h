/*
 * contest.h: measures named cases against each other. It knows nothing of what they do. Cases run in turn (A B C A B C
 * ...), so that a machine that slows down slows all of them; the first round warms up and does not count. Results are
 * medians, with the minimum and maximum beside them. CPU time is that of all threads of the process.
 *
 * The room measure/ is how all commands of leat-bench measure: cases in turn, bare loops to compare with, and what the
 * machine is and gives to this process. What may enter: tools that know nothing of leat's own work.
 */
#ifndef LEAT_BENCH_CONTEST_H
#define LEAT_BENCH_CONTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "cli/cli.h"

/* The work of one run, filled in by the case. */
struct contest_work {
    uint64_t bytes;  /* 0: not counted */
    uint64_t items;  /* 0: not counted */
    double seconds;  /* set by a case that itself measures a part of its run; 0: the whole run counts */
    char why[160];   /* why the case cannot run here: the end of "not measured: ..." */
    char note[160];  /* shown beside the numbers */
    unsigned number; /* number of this run, the warm-up included; set by contest.c */
};

struct contest_case {
    const char *name;
    const char *item; /* name of an item in the singular ("read"); NULL: only bytes are shown */
    void *context;
    /* Called before each run, outside the clock, unless it is NULL. Returns false, with work->why, if the case
     * cannot run here. */
    bool (*prepare)(void *context, struct contest_work *work);
    /* Does the run that is measured. Returns false, with work->why, if the case cannot run here. */
    bool (*run)(void *context, struct contest_work *work);
};

/* Writes work->why and returns false, so that a case that cannot run returns this. */
bool contest_refuse(struct contest_work *work, const char *format, ...) CLI_PRINTF(2, 3);

struct contest_sample {
    double seconds, cpu_seconds;
    uint64_t bytes, items;
};

struct contest_result {
    unsigned runs; /* 0: not measured, for the reason `why` */
    struct contest_sample *samples;
    char why[160];
    char note[160];
};

/* Measures `count` cases into results[], each `runs` times (at least 1) without the warm-up, and shows the progress of
 * the work that `label` names. contest_free_results() releases the results, also after a failure. */
enum leat_status contest_run(const char *label, const struct contest_case *cases, size_t count, uint64_t runs,
                             struct contest_result *results, struct leat_error *err);
void contest_free_results(struct contest_result *results, size_t count);

/* Figures of a run: bytes per second, seconds per item, CPU seconds per second. */
enum contest_measure { CONTEST_BYTES_PER_S, CONTEST_SECONDS_PER_ITEM, CONTEST_CPU };

struct contest_spread {
    double median, min, max;
};

/* Returns the median, least and most of a figure; all are 0 without runs. */
struct contest_spread contest_spread(const struct contest_result *r, enum contest_measure measure);

/* Sorts the values, at least one, and returns their median. */
double contest_median(double *values, uint64_t count);

/* The first prints a table under `title` on standard output, the second writes the same figures as an array of
 * objects. */
void contest_print(const char *title, const struct contest_case *cases, const struct contest_result *results,
                   size_t count);
void contest_json(struct json *j, const char *key, const struct contest_case *cases,
                  const struct contest_result *results, size_t count);

/* Calls work(context, 0) to work(context, threads - 1) at the same time and waits for all. Returns false if a thread
 * could not be started; the others have run. */
bool contest_threads(unsigned threads, void (*work)(void *context, unsigned index), void *context);

/* Returns the next number of SplitMix64's sequence and moves *state on. */
static inline uint64_t contest_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

#endif
