/*
 * merge_table.h: byte pair encoding proper: which two neighbours may become one, and merging until none may. It knows
 * nothing about text: symbols are ids.
 *
 * The rule is the same for all families: of all neighbouring pairs that have a merge, the one of least rank is merged,
 * and among equals the leftmost; again until no pair has one. Ranks come from the loader: a merge list's places,
 * tiktoken's ranks of the products, or the order of sentencepiece's scores.
 */
#ifndef LEAT_TOKENIZER_MERGE_TABLE_H
#define LEAT_TOKENIZER_MERGE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "leat.h"
#include "pair_table.h"

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

/* The table itself, if the merges fit one of this kind; else NULL. */
const struct pair_table *merge_table_pairs(const struct merge_table *table);

/* A thread's memory for merging; zeroed at first but for `bound`, where it is counted, if that is not NULL. */
struct merge_scratch {
    void *memory;
    size_t bytes;
    struct bound *bound;
};
void merge_scratch_free(struct merge_scratch *scratch);

/* Merges symbols[0..*count) in place and sets *count to what is left. O(n log n) at worst; the scratch of a very long
 * run is freed at once. */
enum leat_status merge_symbols(const struct merge_table *table, struct merge_scratch *scratch, uint32_t *symbols,
                               size_t *count, struct leat_error *err);

/* The same, but the symbols that remain stay where they begin: places whose bit is set in *alive, which lies in the
 * scratch. The bit after the last place is set, too. For long runs. */
enum leat_status merge_in_place(const struct merge_table *table, struct merge_scratch *scratch, uint32_t *symbols,
                                size_t count, const uint64_t **alive, struct leat_error *err);

/* The place after this one; after the last one, the end of the run. */
static inline size_t merge_next(const uint64_t *alive, size_t place)
{
    size_t word = ++place / 64;
    uint64_t bits = alive[word] >> place % 64;

    if (bits)
        return place + (size_t)__builtin_ctzll(bits);
    while (!alive[++word])
        ;
    return 64 * word + (size_t)__builtin_ctzll(alive[word]);
}

/* The place before this one, which is not 0. */
static inline size_t merge_before(const uint64_t *alive, size_t place)
{
    size_t word = --place / 64;
    uint64_t bits = alive[word] << (63 - place % 64);

    if (bits)
        return place - (size_t)__builtin_clzll(bits);
    while (!alive[--word])
        ;
    return 64 * word + 63 - (size_t)__builtin_clzll(alive[word]);
}

/* Runs from here on are worth merging block by block: a heap over a run of millions does not fit the caches, and takes
 * four times the memory of the run itself. */
#define MERGE_LONG ((size_t)1 << 15)

/* Does what merge_symbols() does, in blocks of this many symbols, at least 4 (0: the usual size). *done is false if the
 * blocks' results do not meet: the symbols are then destroyed, and the caller makes them again for merge_symbols(). */
enum leat_status merge_blocks(const struct merge_table *table, struct merge_scratch *scratch, uint32_t *symbols,
                              size_t *count, size_t block, bool *done, struct leat_error *err);

#endif
