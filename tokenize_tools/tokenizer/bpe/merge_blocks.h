/*
 * merge_blocks.h: merging very long runs of symbols block by block: a heap over all of a run of millions would not fit
 * the caches, and takes four times the memory of the run itself.
 */
#ifndef LEAT_TOKENIZER_MERGE_BLOCKS_H
#define LEAT_TOKENIZER_MERGE_BLOCKS_H

#include <stdbool.h>

#include "merge_table.h"

/* Runs from here on are worth it. */
#define MERGE_LONG ((size_t)1 << 15)

/* As merge_symbols() in blocks of so many symbols, at least 4 (0: the usual). *done false: the blocks' results do not
 * meet; the symbols are destroyed then, and must be made again for merge_symbols(). */
enum leat_status merge_blocks(const struct merge_table *table, struct merge_scratch *scratch, uint32_t *symbols,
                              size_t *count, size_t block, bool *done, struct leat_error *err);

#endif
