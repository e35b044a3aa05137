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

#include "cli/units.h"
#include "leat.h"
#include "tokenizer/notation/jsontree.h"

/* One JSON object: a line of a file, or all of it. */
struct report_item {
    const char *file; /* its path */
    unsigned line;
    struct jsontree tree; /* of `text` */
    uint8_t *text;        /* owned */
    unsigned kind;        /* in report_kinds */
    bool alike;           /* another one of its kind has its name */
};

/* A kind of result, by the members that only it has. */
struct report_kind {
    const char *title;
    const char *members[2];
    /* Writes the section of all items of this kind; `items` has `count` of them. */
    void (*write)(FILE *out, const struct report_item *const *items, size_t count);
    /* Writes the name of an item: what was measured. As snprintf(). */
    int (*name)(const struct report_item *x, char *out, size_t room);
    /* Writes sentences, each a paragraph: what all items of this kind come to. */
    void (*say)(FILE *out, const struct report_item *const *items, size_t count);
};
extern const struct report_kind report_kinds[]; /* ends with a title of NULL */

/* Members of an object (a node of the item's tree; 0: the item itself). A missing number is NaN; a missing text has
 * length 0. */
uint32_t report_member(const struct report_item *x, uint32_t object, const char *name);
double report_element(const struct report_item *x, uint32_t node); /* of an array, likewise */
double report_number(const struct report_item *x, uint32_t object, const char *name);
struct jsontree_text report_text(const struct report_item *x, uint32_t object, const char *name);

/* The label of an item: its name, `more`, and, if others have its name, that of its file. Cut to `room`. Returns the
 * length. */
size_t report_label(const struct report_item *x, struct jsontree_text more, char *out, size_t room);

#define LABEL_BYTES 256u

void report_heading(FILE *out, const char *text);

/* The label as a heading, or as the subject of a sentence, with a colon. */
void report_title(FILE *out, const struct report_item *x);
void report_subject(FILE *out, const struct report_item *x);

/* The unit of an axis for values up to `most`, and what to multiply them with: ns to s; kB/s to GB/s. */
double report_time_unit(double most, const char **unit);
double report_rate_unit(double most, const char **unit);

/* A duration as units_duration() has it, but with a letter mu. */
struct units_text report_time(double seconds);

/* A cell of a table: a measured number, in four digits or as a whole one; a count; or what has a unit. NaN leaves it
 * empty. */
void report_time_cell(FILE *out, double seconds);
void report_rate_cell(FILE *out, double bytes_per_s);
void report_size_cell(FILE *out, double bytes);
void report_cell(FILE *out, double value);
void report_count(FILE *out, double value);
void report_text_cell(FILE *out, struct jsontree_text text);

/* What a run, whose lines `items` are, had of each source; nothing if there is only one. `batches`, of each line,
 * counts on where a loader was opened again. */
void report_sources(FILE *out, const struct report_item *const *items, size_t count, const double *batches);

/* The kinds' names and sentences. */
int report_name_machine(const struct report_item *x, char *out, size_t room);
int report_name_tokenizer(const struct report_item *x, char *out, size_t room);
int report_name_packing(const struct report_item *x, char *out, size_t room);
int report_name_loading(const struct report_item *x, char *out, size_t room);
int report_name_run(const struct report_item *x, char *out, size_t room);
int report_name_work(const struct report_item *x, char *out, size_t room);
void report_say_measurements(FILE *out, const struct report_item *const *items, size_t count);
void report_say_packing(FILE *out, const struct report_item *const *items, size_t count);
void report_say_loading(FILE *out, const struct report_item *const *items, size_t count);
void report_say_peers(FILE *out, const struct report_item *const *items, size_t count);
void report_say_encoding(FILE *out, const struct report_item *const *items, size_t count);
void report_say_slow_texts(FILE *out, const struct report_item *const *items, size_t count);
void report_say_runs(FILE *out, const struct report_item *const *items, size_t count);

/* The kinds' sections. */
void report_measurements(FILE *out, const struct report_item *const *items, size_t count);
void report_packing(FILE *out, const struct report_item *const *items, size_t count);
void report_loading(FILE *out, const struct report_item *const *items, size_t count);
void report_peers(FILE *out, const struct report_item *const *items, size_t count);
void report_encoding(FILE *out, const struct report_item *const *items, size_t count);
void report_slow_texts(FILE *out, const struct report_item *const *items, size_t count);
void report_runs(FILE *out, const struct report_item *const *items, size_t count);

#endif
