/*
 * fit_sort.h: sorts documents by length, those of equal length by number: a counting sort, which reads the documents'
 * starts once to count, and then once per window of the sorted list, so that a list of any length can be made in
 * bounded memory. The few documents of 2^20 tokens or more are sorted by comparing.
 */
#ifndef LEAT_FIT_SORT_H
#define LEAT_FIT_SORT_H

#include <stdbool.h>

#include "leat.h"

/* Documents of one length. */
struct fit_run {
    uint64_t tokens;       /* of each */
    uint64_t first, count; /* in their list */
    uint64_t list;         /* which list; of a sort: 0 */
};

/* Documents [first, end) of a dataset. */
struct fit_range {
    uint64_t first, end;
};

struct fit_long {
    uint64_t tokens;
    uint32_t number;
};

struct fit_sort {
    /* From the caller; all else begins as 0. Numbers in the list are less by `base` than in the dataset, and must be
     * below 2^32. `progress` as in struct leat_fit_options. */
    const struct leat_dataset *dataset;
    const struct fit_range *ranges;
    uint64_t range_count, base;
    uint32_t (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;

    struct fit_run *runs; /* shortest documents first */
    uint64_t run_count, documents;
    /* The inside. */
    uint64_t *counts, *places; /* of each length below 2^20: of documents; where the next one goes */
    uint64_t count_end;        /* no counter from here on was touched: most are not, and looking at them takes long */
    struct fit_long *longs;
    size_t long_room;
    uint64_t long_count, done, total;
    uint32_t *list; /* places [first, first + count) of the sorted list */
    uint64_t first, count;
};

/* Finds the runs. fit_sort_free() releases everything, whatever came before. */
enum leat_status fit_sort_count(struct fit_sort *x, struct leat_error *err);
void fit_sort_free(struct fit_sort *x);

/* Then, any number of times: the documents at places [first, first + count) of the sorted list. */
enum leat_status fit_sort_list(struct fit_sort *x, uint64_t first, uint64_t count, uint32_t *list,
                               struct leat_error *err);

#endif
