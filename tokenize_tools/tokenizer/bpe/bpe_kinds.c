/* bpe_kinds.c: what the kinds of byte-pair models differ in. Nothing else asks a model which it is. */
#include "bpe_internal.h"

const struct bpe_kind bpe_bytes = { .apart = true };
const struct bpe_kind bpe_ranks = { .whole = true, .needs_bytes = true, .add_merges = bpe_merges_of_ranks };
const struct bpe_kind bpe_merges = { .prepare = bpe_merges_prepare, .add_merges = bpe_merges_of_list };
const struct bpe_kind bpe_scores = { .scored = true, .prepare = bpe_scores_order, .add_merges = bpe_scores_merges };
