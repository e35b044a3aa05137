/*
 * join_metadata.h: the metadata of all sources becomes that of the output. What they agree on is kept; where they
 * differ, the value of source i (from 1) is kept as "KEY.i". What says how a dataset was arranged ("leat.shuffle",
 * "leat.dedup") is not true of several joined datasets, even if they agree on it, and is kept by source as well.
 */
#ifndef LEAT_ARRANGE_JOIN_METADATA_H
#define LEAT_ARRANGE_JOIN_METADATA_H

#include "outputs.h"

/* Keys that say how a dataset was arranged. */
#define METADATA_SHUFFLE "leat.shuffle" /* the seed */
#define METADATA_DEDUP   "leat.dedup"   /* "1" */
#define METADATA_SPLITS  "leat.splits"  /* "NAME=FRACTION,...": all splits that were made */
#define METADATA_SPLIT   "leat.split"   /* the one that the dataset is; none: it is the rest */

enum leat_status join_metadata(const struct sources *sources, struct outputs *outputs, struct leat_error *err);

#endif
