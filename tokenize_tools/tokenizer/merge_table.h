/*
 * merge_table.h: byte pair encoding proper: which two neighbours may become one, and doing it until none may. Knows
 * nothing of text: symbols are ids.
 *
 * The rule, the same for all families: of all neighbouring pairs that have a merge, the one of least rank is merged,
 * and among equals the leftmost; again until no pair has one. Ranks come from the loader: a merge list's positions,
 * tiktoken's ranks of the products, or the order of sentencepiece's scores.
 */
#ifndef LEAT_TOKENIZER_MERGE_TABLE_H
#define LEAT_TOKENIZER_MERGE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "bound.h"
#include "leat.h"

#define MERGE_NONE UINT32_MAX

struct merge {
    uint32_t left, right, result, rank;
};

struct merge_table;

/* Copies the merges. Of two with the same pair the later one counts, with its rank. */
enum leat_status merge_table_make(struct merge_table **out, const struct merge *merges, size_t count,
                                  struct leat_error *err);
void merge_table_free(struct merge_table *table);

/* The merge of this pair, its result in *result; MERGE_NONE if there is none, else its rank. */
uint32_t merge_table_find(const struct merge_table *table, uint32_t left, uint32_t right, uint32_t *result);

/* A thread's memory for merging; zeroed at first but for `bound`, where it is counted, if that is not NULL. */
struct merge_scratch {
    void *memory;
    size_t bytes;
    struct bound *bound;
};
void merge_scratch_free(struct merge_scratch *scratch);

/* How much memory merging `count` symbols takes at most. */
uint64_t merge_bytes(uint64_t count);

/* Merges symbols[0..*count) in place and sets *count to what is left. O(n log n) at worst; the scratch of a very long
 * run is freed at once. */
enum leat_status merge_symbols(const struct merge_table *table, struct merge_scratch *scratch, uint32_t *symbols,
                               size_t *count, struct leat_error *err);

#endif
