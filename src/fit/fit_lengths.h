/*
 * fit_lengths.h: the used documents of a source by length, those of equal length by number: what rows of whole
 * documents are made of (docs/ORDER.md), for any length of rows. Documents of equal length follow each other, in a
 * *run*, so all that goes by length goes from run to run.
 *
 * The sorted lists are those of the side files (fit_side.h) if every dataset of the source has one, else one in memory,
 * of 4 bytes per document. A run takes 40 bytes. Never changes once made. Documents have the source's own numbers
 * (plan_source.h); chosen ones are sorted in memory.
 */
#ifndef LEAT_FIT_LENGTHS_H
#define LEAT_FIT_LENGTHS_H

#include "fit_side.h"
#include "plan/plan_source.h"

#define FIT_MAX_IN_MEMORY ((uint64_t)1 << 28) /* documents of a source: 1 GiB */

struct fit_list {
    uint64_t first_document; /* number of its document 0 in the source's dataset */
    uint32_t *memory;        /* NULL: */
    struct fit_side side;
};

struct fit_lengths {
    struct fit_run *runs; /* shortest documents first, then list by list */
    uint64_t run_count, documents;
    struct fit_list *lists;
    uint64_t list_count;
};

/*
 * Sorts all used documents, or opens the side files; LEAT_E_UNSUPPORTED: no side files, and more than `max_in_memory`
 * documents. On failure fit_lengths_free() still has to be called. The second one makes no lists, only the runs: for
 * what goes by length alone, of any number of documents.
 */
enum leat_status fit_lengths_make(struct fit_lengths *l, const struct plan_source *s, const char *name,
                                  uint64_t max_in_memory, struct leat_error *err);
enum leat_status fit_lengths_count(struct fit_lengths *l, const struct plan_source *s, struct leat_error *err);
void fit_lengths_free(struct fit_lengths *l);

/* A piece of a row: at place `at`, `places` predictions, from number `from` on, of document `document` of a run. */
struct fit_found {
    const struct fit_run *run;
    uint64_t document, from;
    uint32_t at, places;
};

/* The numbers in the source of the documents of pieces. */
enum leat_status fit_lengths_documents(const struct fit_lengths *l, const struct fit_found *found, uint64_t count,
                                       uint64_t *documents, struct leat_error *err);

/* The inverse, for a document with this number of tokens: its run, and its place in the run. */
enum leat_status fit_lengths_find(const struct fit_lengths *l, uint64_t document, uint64_t tokens,
                                  const struct fit_run **run, uint64_t *i, struct leat_error *err);

#endif
