/*
 * length_histogram.h: counts the documents of a dataset by length, in buckets that double: exactly for up to
 * HISTOGRAM_EXACT documents, beyond that from runs of documents at equal distances.
 */
#ifndef LEAT_TOKENIZE_TOOLS_LENGTH_HISTOGRAM_H
#define LEAT_TOKENIZE_TOOLS_LENGTH_HISTOGRAM_H

#include <stdbool.h>

#include "leat.h"

#define HISTOGRAM_EXACT   ((uint64_t)1 << 26) /* documents whose starts are all read: 512 MiB */
#define HISTOGRAM_RUN     256u                /* documents per run of the sample */
#define HISTOGRAM_RUNS    4096u               /* runs of the sample */
#define HISTOGRAM_BUCKETS 65                  /* 0 tokens; then 2^(k-1) to 2^k - 1 tokens for k from 1 to 64 */

struct length_histogram {
    bool sampled;
    uint64_t documents; /* counted */
    uint64_t tokens;    /* of these */
    uint64_t shortest, longest;
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

/* `exact` is HISTOGRAM_EXACT, or less for tests. Counts nothing where the documents are not known. */
enum leat_status length_histogram_count(struct length_histogram *h, const struct leat_dataset *d, uint64_t exact,
                                        struct leat_error *err);

/* Tokens per document; 0 if there is none. */
double length_histogram_mean(const struct length_histogram *h);

/* The least and greatest length that bucket `k` counts. */
uint64_t length_histogram_min(unsigned k);
uint64_t length_histogram_max(unsigned k);

/* The first and the last bucket that is not empty; false if all are. */
bool length_histogram_range(const struct length_histogram *h, unsigned *first, unsigned *last);

#endif
