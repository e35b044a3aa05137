/*
 * join_facts.h: joins the inputs and the metadata of all parts to those of the output.
 *
 * If two shares of a run meet inside an input, both list it; here it becomes one again. Metadata on which all parts
 * agree are kept; if they differ, the value of part i (from 1) is kept as "KEY.i". Keys that say how a dataset was
 * arranged ("leat.shuffle", "leat.dedup") do not hold for several joined datasets, even if these agree, and are kept by
 * part as well. The damaged inputs of all parts are one list (DAMAGE_KEY).
 */
#ifndef LEAT_ARRANGE_JOIN_FACTS_H
#define LEAT_ARRANGE_JOIN_FACTS_H

#include "outputs.h"

/* Declares the inputs in all outputs, and sets in each part the numbers that its inputs get. */
enum leat_status join_inputs(struct merge_parts *parts, struct outputs *outputs, struct leat_error *err);

/* Keys of metadata that say how a dataset was arranged */
#define METADATA_SHUFFLE "leat.shuffle" /* the seed */
#define METADATA_DEDUP   "leat.dedup"   /* "1" */
#define METADATA_KEEP    "leat.keep"    /* which records were kept */
#define METADATA_SPLITS  "leat.splits"  /* "NAME=FRACTION,...": all splits that were made */
#define METADATA_SPLIT   "leat.split"   /* the split that the dataset is; the rest has no such key */

/* Sets the metadata of all outputs from those of the parts. */
enum leat_status join_metadata(const struct merge_parts *parts, struct outputs *outputs, struct leat_error *err);

#endif
