/*
 * merge_lanes.h: merges several short pretokens in turns: while one waits for memory with the pairs that it asked for,
 * the others go on. Part of each of pretoken_kernels_*.c.
 *
 * The rule is that of merge_table.h, least rank first and leftmost among equals, applied literally: all ranks of a
 * pretoken are kept, with their places in the low bits, and each time the least of all is looked for.
 */
#ifndef LEAT_TOKENIZER_MERGE_LANES_H
#define LEAT_TOKENIZER_MERGE_LANES_H

#include "orphans.h"
#include "pair_table.h"
#include "pretoken_batch.h"
#include "vocabulary_map.h"

#define LANES          8
#define LANE_SYMBOLS   62 /* the most of a pretoken: places 1 to 62 */
#define LANE_PLACES    64
#define LANE_LETTERS   0x10000u
#define LANE_NO_LETTER UINT32_MAX
#define LANE_NONE      (UINT32_MAX - LANE_PLACES + 1)

/* What a kernel must know of a model whose pretokens are bytes, or characters. */
struct merge_rules {
    const struct pair_table *pairs;
    const uint32_t *bytes;              /* the symbol of each; of pretokens of characters, of those of one byte */
    const uint32_t *first;              /* of two bytes, at left << 8 | right, the rank; UINT32_MAX: none */
    const uint32_t *ids;                /* by symbol; NULL: a symbol is its own */
    const struct vocabulary_map *whole; /* pretokens that are tokens stay as they are; NULL: they come out so anyway */
    const struct orphans *orphans;      /* for which tokens that must be asked */
    const uint32_t *letters;            /* the symbol of each character below LANE_LETTERS; LANE_NO_LETTER: none, it
                                           becomes bytes. NULL: pretokens are bytes */
    const uint32_t *fallback;           /* the symbols of these bytes, which nothing merges with */
};

struct lane {
    _Alignas(64) uint32_t
        ranks[LANE_PLACES]; /* of the pair that begins at a place: rank << 6 | place; from LANE_NONE on: none */
    uint32_t symbols[LANE_PLACES + 2];                 /* by place; PAIR_NOBODY before the first and after the last */
    uint64_t alive;                                    /* bits: places that begin a symbol, and those of PAIR_NOBODY */
    unsigned width;                                    /* places that are in use, a multiple of 16 */
    unsigned left, right;                              /* places of ranks that were asked for: until then none */
    uint32_t left_symbol, middle_symbol, right_symbol; /* whose pairs these are */
    uint32_t at;                                       /* which pretoken of the batch */
    uint32_t bytes, count;                             /* of the pretoken: bytes, and symbols at the begin */
    struct pretoken_key key;                           /* of a pretoken that the cache keeps */
};

#endif
