/*
 * report.h: what measurements say, as a page: JSON that other commands of leat-bench have printed, and statistics of
 * training runs.
 *
 * The room report/ reads results (report.c) and draws them: loaders in report_loading.c, what a run had of each source
 * in report_sources.c, all others in report_figures.c. What may enter: readers of results, and kinds of them, each with
 * a row in report_kinds; nothing here measures.
 */
#ifndef LEAT_BENCH_REPORT_H
#define LEAT_BENCH_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "leat.h"
#include "tokenizer/notation/jsontree.h"

/* One JSON object: a line of a file, or all of it. */
struct report_item {
    const char *file; /* its path */
    unsigned line;
    struct jsontree tree; /* of `text` */
    uint8_t *text;        /* owned */
    unsigned kind;        /* in report_kinds */
};

/* A kind of result, by the members that only it has. */
struct report_kind {
    const char *title;
    const char *members[2];
    /* Writes the section of all items of this kind; `items` has `count` of them. */
    void (*write)(FILE *out, const struct report_item *const *items, size_t count);
};
extern const struct report_kind report_kinds[]; /* ends with a title of NULL */

/* Members of an object (a node of the item's tree; 0: the item itself). A missing number is NaN; a missing text has
 * length 0. */
uint32_t report_member(const struct report_item *x, uint32_t object, const char *name);
double report_element(const struct report_item *x, uint32_t node); /* of an array, likewise */
double report_number(const struct report_item *x, uint32_t object, const char *name);
struct jsontree_text report_text(const struct report_item *x, uint32_t object, const char *name);

/* The label of an item in charts: its file without folders, its line if there are several, and `more` (may be NULL).
 * Cut to `room`. Returns the length. */
size_t report_label(const struct report_item *x, struct jsontree_text more, char *out, size_t room);

#define LABEL_BYTES 256u

void report_heading(FILE *out, const char *text);

/* A cell of a table: a measured number, in four digits or as a whole one; or a count. NaN leaves it empty. */
void report_cell(FILE *out, double value);
void report_count(FILE *out, double value);
void report_text_cell(FILE *out, struct jsontree_text text);

/* What a run, whose lines `items` are, had of each source; nothing if there is only one. `batches`, of each line,
 * counts on where a loader was opened again. */
void report_sources(FILE *out, const struct report_item *const *items, size_t count, const double *batches);

/* The kinds' sections. */
void report_measurements(FILE *out, const struct report_item *const *items, size_t count);
void report_packing(FILE *out, const struct report_item *const *items, size_t count);
void report_loading(FILE *out, const struct report_item *const *items, size_t count);
void report_peers(FILE *out, const struct report_item *const *items, size_t count);
void report_encoding(FILE *out, const struct report_item *const *items, size_t count);
void report_slow_texts(FILE *out, const struct report_item *const *items, size_t count);
void report_runs(FILE *out, const struct report_item *const *items, size_t count);

#endif
