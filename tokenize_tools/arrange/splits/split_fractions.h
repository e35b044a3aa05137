/*
 * split_fractions.h: chooses the output of a document by the hash of its text alone. So the same text always goes to
 * the same output, and a document keeps its output when others are added. The splits divide [0, 1) into intervals, one
 * after another; the high half of the hash, as a fraction of 2^64, falls into one of them, or into the rest. All of
 * this is exact: fractions are decimal numbers with at most 18 digits after the point.
 *
 * This room divides documents among several datasets: here by fractions; by_values by a field's value, and by_stage
 * finishes those datasets one after another.
 *
 * What may enter: code for dividing that merging and packing both need.
 */
#ifndef LEAT_ARRANGE_SPLIT_FRACTIONS_H
#define LEAT_ARRANGE_SPLIT_FRACTIONS_H

#include <stdbool.h>

#include "leat_pack.h"

#define SPLITS_MAX 64

struct split_fractions {
    size_t count;
    uint64_t last[SPLITS_MAX]; /* the greatest high half that lies in split i or in one before it */
    char *text;                /* "NAME=FRACTION,...", with each fraction written in its shortest form */
};

/* Reads names and fractions. Returns LEAT_E_ARGUMENT if they are invalid. On success split_fractions_free() must
 * follow. */
enum leat_status split_fractions_make(struct split_fractions *f, const struct leat_split *splits, size_t count,
                                      struct leat_error *err);
void split_fractions_free(struct split_fractions *f);

/* Returns the name of a split's dataset, with the suffix: OUTPUT.NAME; or, with `folders`, FOLDER/NAME/FILE if the
 * output is FOLDER/FILE; or OUTPUT if `split` is NULL. The caller frees it; NULL if there is no memory. */
char *split_fractions_output(const char *output, const char *split, bool folders, const char *suffix);

/* Returns the number of the split that a text with this hash goes to; f->count if it goes to the rest. */
size_t split_fractions_choose(const struct split_fractions *f, const uint8_t hash[16]);

#endif
