/*
 * merge_blocks.h: merges very long runs of symbols block by block: a heap over a run of millions does not fit the
 * caches, and takes four times the memory of the run itself.
 */
#ifndef LEAT_TOKENIZER_MERGE_BLOCKS_H
#define LEAT_TOKENIZER_MERGE_BLOCKS_H

#include <stdbool.h>

#include "merge_table.h"

/* Runs from here on are worth it. */
#define MERGE_LONG ((size_t)1 << 15)

/* Does what merge_symbols() does, in blocks of this many symbols, at least 4 (0: the usual size). *done is false if the
 * blocks' results do not meet: the symbols are then destroyed, and the caller makes them again for merge_symbols(). */
enum leat_status merge_blocks(const struct merge_table *table, struct merge_scratch *scratch, uint32_t *symbols,
                              size_t *count, size_t block, bool *done, struct leat_error *err);

#endif
