/* verify.h: checks the bytes of a dataset. */
#ifndef LEAT_PUBLIC_VERIFY_H
#define LEAT_PUBLIC_VERIFY_H

#include "dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Verifying -------------------------------------------------------------------------------------------------- */

/*
 * Checks the hash of every 4 KiB page with a token of [first, first + count).
 * Returns LEAT_E_CHECKSUM; `err` names the page and its documents.
 */
LEAT_API enum leat_status leat_dataset_verify_range(const struct leat_dataset *d, uint64_t first, uint64_t count,
                                                    struct leat_error *err);

/* A damaged part of a dataset. */
struct leat_verify_part {
    size_t size;
    uint64_t part;           /* its number */
    uint64_t damaged_pages;  /* damaged pages of its token file */
    uint64_t damaged_others;
    uint64_t page;           /* the first damaged page; LEAT_NONE: none is */
    uint64_t first_document; /* the first document in it, numbered within the part; LEAT_NONE: not known */
    uint64_t documents;      /* how many documents are in it */
};

struct leat_verify_options {
    size_t size;
    uint32_t threads;    /* 0: as many as the process has CPUs to run on */
    uint32_t reserved;   /* 0 */
    /* NULL, or a function that is called now and then, by one thread at a time, with the bytes done. A nonzero result
     * stops the work, and leat_dataset_verify() returns LEAT_E_STOPPED. */
    uint32_t (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
    /* If not NULL: called for each damaged part, from the calling thread, in the order of the parts. */
    void (*damaged)(void *context, const struct leat_verify_part *part);
};
#define LEAT_VERIFY_OPTIONS_INIT { sizeof(struct leat_verify_options), 0, 0, NULL, NULL, NULL }

struct leat_verify_report {
    size_t size;
    uint64_t bytes;           /* bytes checked in both files */
    uint64_t damaged_pages;   /* 4 KiB pages of token files with a wrong hash */
    uint64_t damaged_others;  /* broken sections, records and rules, each counted once */
    uint64_t part;            /* part of the first damaged page; LEAT_NONE: no page is damaged */
    uint64_t page;            /* its number in that part's token file */
    uint64_t first_document;  /* the first document in it, numbered as in the list; LEAT_NONE: not known */
    uint64_t documents;       /* how many documents are in it */
    uint64_t unhashed_parts;  /* parts without hashes of their tokens: changed ids are found only if they are invalid */
};
#define LEAT_VERIFY_REPORT_INIT { sizeof(struct leat_verify_report), 0, 0, 0, 0, 0, 0, 0, 0 }

/*
 * Checks everything: every checksum, every document start, the directory, every id (below the vocabulary size), the end
 * and begin tokens, and every record. Reads both files once, in large pieces, with `options->threads` threads of about
 * 3 MiB each. Continues after the first damage, to count the rest. `report` may be NULL.
 * Returns LEAT_OK if nothing is wrong, else the first damage (_CHECKSUM, _DOCUMENTS, _TOKEN, _RECORD, ...), or _IO.
 */
LEAT_API enum leat_status leat_dataset_verify(const struct leat_dataset *d, const struct leat_verify_options *options,
                                              struct leat_verify_report *report, struct leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
