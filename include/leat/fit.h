/* fit.h: what rows of whole documents are like, for the order LEAT_ORDER_FIT. */
#ifndef LEAT_PUBLIC_FIT_H
#define LEAT_PUBLIC_FIT_H

#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Rows of whole documents: which length ---- */

/* Rows of whole documents of a source for one length of rows, and windows of that length to compare with. A
 * *prediction* is a token with a next one in the same document. */
struct leat_fit_report {
    size_t size;
    uint64_t documents;    /* used */
    uint64_t predictions;  /* predictions that rows show: each once per epoch */
    uint64_t empty;        /* documents of fewer than two tokens, which no row has */
    uint64_t rows;
    uint64_t full_rows;    /* rows that hold nothing but a part of a longer document */
    uint64_t pieces;       /* pieces of all rows */
    uint64_t max_pieces;   /* most pieces of a row */
    uint64_t patterns;     /* different sets of lengths that the rows have */
    uint64_t padding;      /* places of all rows without a prediction */
    uint64_t cut;          /* documents that do not lie in one row */
    uint64_t lost;         /* predictions with lost context: not in a row with the beginning of their document */
    uint64_t window_rows;  /* rows that windows of all documents make; documents that they cut; predictions that lose
                            * context */
    uint64_t window_cut;
    uint64_t window_lost;
    uint64_t left_out;     /* documents too short or too long for the plan (min_length, max_length), not counted
                            * above */
    uint64_t unused;       /* predictions in documents that are left out, and after cut_length in others; not counted
                            * above */
    uint64_t context;      /* places of all rows that show a prediction again, without loss (overlap); not padding */
};
#define LEAT_FIT_REPORT_INIT                                                                                           \
    { sizeof(struct leat_fit_report), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/*
 * Reports on a source of a plan of any order. Of the plan, only its split and its options of order fit count. Reads
 * the starts of all used documents, some 20 ns each, in memory that does not grow with their number.
 * Returns LEAT_E_RANGE for an unknown source, LEAT_E_ARGUMENT for a seq_len of 0 or above 2^24, or which the plan's
 * `align` does not divide or its `overlap` fills.
 */
LEAT_API enum leat_status leat_plan_fit_report(const struct leat_plan *plan, uint64_t source, uint64_t seq_len,
                                               struct leat_fit_report *report, struct leat_error *err);

struct leat_fit_options {
    size_t size;
    /* NULL, or a function that is called now and then with the bytes read, for each dataset of a list from 0 on. A
     * nonzero result stops the work, and leat_dataset_fit() returns LEAT_E_STOPPED. */
    uint32_t (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
};
#define LEAT_FIT_OPTIONS_INIT { sizeof(struct leat_fit_options), NULL, NULL }

/*
 * Writes a file NAME.fit beside each dataset of a list, or replaces it: its documents by length, 4 bytes each. Plans
 * with the order LEAT_ORDER_FIT then read it where they need it, instead of sorting the documents in memory when they
 * are opened, which they refuse for more than 2^28 documents per source. It changes no sample. A plan uses a file only
 * if it was made of the same dataset, belongs to the caller or to the owner of its folder, and is not damaged. Takes
 * 160 MiB of memory, whatever the number of documents, and a pass over their starts, and one for every 2^25 of them.
 * While another thread or process makes the same file (NAME.fit.partial), it waits, however long that takes, and then
 * makes it again: concurrent calls run one after another. `progress` is called meanwhile, and can stop it.
 * LEAT_E_UNSUPPORTED for a dataset that was opened by a URL.
 */
LEAT_API enum leat_status leat_dataset_fit(const struct leat_dataset *d, const struct leat_fit_options *options,
                                           struct leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
