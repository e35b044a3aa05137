/* bpe_kinds.c: what the kinds of byte-pair models differ in, a row each. Nothing else asks a spec which it is. */
#include "bpe_internal.h"

static const struct bpe_kind kinds[] = {
    [SPEC_BYTES] = { .apart = true },
    [SPEC_RANKS] = { .whole = true, .needs_bytes = true, .add_merges = bpe_merges_of_ranks },
    [SPEC_MERGES] = { .prepare = bpe_merges_prepare, .add_merges = bpe_merges_of_list },
    [SPEC_SCORES] = { .scored = true, .prepare = bpe_scores_order, .add_merges = bpe_scores_merges },
};

const struct bpe_kind *bpe_kind_of(const struct tokenizer_spec *spec)
{
    return &kinds[spec->model];
}
