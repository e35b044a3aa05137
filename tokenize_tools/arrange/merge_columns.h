/*
 * merge_columns.h: the columns of the outputs. All parts must have columns of the same names; then each output has
 * them, too, and its token or document i has the values that it had in its part. While documents are arranged, an
 * output keeps only where each of them is from. When it is complete, the values are copied, in bounded memory.
 */
#ifndef LEAT_ARRANGE_MERGE_COLUMNS_H
#define LEAT_ARRANGE_MERGE_COLUMNS_H

#include "merge_parts.h"

/* Adds the names of a dataset's columns to those of the parts, whose last items are the dataset's. Returns
 * LEAT_E_INCOMPATIBLE if they differ from those of the parts before it. */
enum leat_status merge_columns_take(struct merge_parts *parts, const struct leat_dataset *d, struct leat_error *err);
void merge_columns_free(struct merge_parts *parts);

/* Opens each column of all parts as one, and closes it again, to find out before hours of work whether they fit
 * together. Returns LEAT_E_INCOMPATIBLE, or what leat_column_open() returns. */
enum leat_status merge_columns_check(const struct merge_parts *parts, struct leat_error *err);

/* Where the documents of an output are from: numbers in the order of the parts, which become the values that its
 * writer keeps. */
#define MERGE_SOURCES 512u

struct merge_sources {
    uint64_t numbers[MERGE_SOURCES];
    size_t count;
};

/* Notes the source of the next document. merge_sources_end() must follow the last one. */
enum leat_status merge_sources_add(struct merge_sources *s, struct leat_writer *w, uint64_t number,
                                   struct leat_error *err);
enum leat_status merge_sources_end(struct merge_sources *s, struct leat_writer *w, struct leat_error *err);

/* Makes the columns of `count` outputs between leat_writer_prepare() and leat_writer_finish() of their writers. */
enum leat_status merge_columns_make(const struct merge_parts *parts, struct leat_writer *const *writers, size_t count,
                                    struct pace *pace, struct leat_error *err);

#endif
