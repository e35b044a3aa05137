/*
 * fit_side.h: documents sorted by length (struct fit_sort), and the side file of a dataset, NAME.fit, which `leat fit`
 * makes of them, so that a plan need not hold them in memory. It is derived from the dataset: a file that is missing or
 * of another dataset changes no sample.
 *
 * Its numbers are little-endian. A header of 80 bytes: "leatfits", then u64 each: version 2, the dataset's identity
 * (16 bytes), how many documents, tokens and runs it has, 0; XXH3-128 of the XXH3-128 of these 64 bytes and that of all
 * up to the list. Then the runs: tokens of a document and number of documents, u64 each. Then for each page of 1024
 * bytes of the list the low half of its XXH3-128. Then the list: the documents, u32, run by run.
 *
 * Header, runs and hashes are checked when the file is opened, and a page of the list before its first number is used.
 */
#ifndef LEAT_FIT_SIDE_H
#define LEAT_FIT_SIDE_H

#include <stdbool.h>

#include "choose/choose.h"
#include "dataset/file_map.h"
#include "leat.h"

/* ---- Sorting ---- */

/*
 * Sorts documents by length, those of equal length by number: a counting sort, which reads the documents'
 * starts once to count, and then once per window of the sorted list, so that a list of any length can be made in
 * bounded memory. The few documents of 2^20 tokens or more are sorted by comparing.
 */

/* Documents of one length. */
struct fit_run {
    uint64_t tokens;       /* tokens of each */
    uint64_t first, count; /* in their list */
    uint64_t list;         /* number of the list; 0 for a sort */
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
    /* Set by the caller; all else begins as 0. Numbers in the list are less by `base` than in the dataset, and must be
     * below 2^32. See struct leat_fit_options for `progress`. */
    const struct leat_dataset *dataset;
    const struct choice *choice; /* numbers are those of chosen documents; NULL: those of the dataset */
    const struct fit_range *ranges;
    uint64_t range_count, base;
    uint32_t (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;

    struct fit_run *runs; /* shortest documents first */
    uint64_t run_count, documents;
    /* The inside. */
    uint64_t *counts, *places; /* number of documents of each length below 2^20; place of the next one */
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

/* Reads the documents at places [first, first + count) of the sorted list; any number of times. */
enum leat_status fit_sort_list(struct fit_sort *x, uint64_t first, uint64_t count, uint32_t *list,
                               struct leat_error *err);

/* ---- The side file ---- */

struct fit_side {
    struct file_map file;
    char *path;
    struct fit_run *runs;
    uint64_t run_count, documents, list; /* list: where it begins in the file */
    uint8_t *head;                       /* all that lies before it */
    atomic_uint_fast64_t *checked;       /* a bit per page of it: the hash was right */
};

/* Opens the side file of a part of a dataset. LEAT_E_NO_FILE: it has none; other failures: it cannot be used. After any
 * of them fit_side_close() still has to be called. */
enum leat_status fit_side_open(struct fit_side *side, const struct leat_dataset *d, const struct leat_part *part,
                               struct leat_error *err);
void fit_side_close(struct fit_side *side);

/* The document at a place of the sorted list: a number in the part. `map` is the file's, if the caller is inside
 * (file_map_enter()), or NULL to read it. LEAT_E_DOCUMENTS: this page of the list is damaged. */
enum leat_status fit_side_document(struct fit_side *side, const uint8_t *map, uint64_t place, uint64_t *document,
                                   struct leat_error *err);

#define FIT_SIDE_HEADER 80u
#define FIT_SIDE_PAGE   1024u

/* The bytes before the list, and how many pages it has. */
uint64_t fit_side_head_bytes(uint64_t documents, uint64_t run_count);
uint64_t fit_side_pages(uint64_t documents);

/* Stores the hashes of a list's pages, 8 bytes each. */
void fit_side_hash(uint8_t *sums, const void *list, uint64_t bytes);

/* Makes what the file has before the list, the caller's. The hashes of its pages go to *sums; then fit_side_seal()
 * completes the head. NULL: no memory. */
void fit_side_seal(uint8_t *head, uint64_t bytes);

#endif
