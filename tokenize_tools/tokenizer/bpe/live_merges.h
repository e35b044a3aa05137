/*
 * live_merges.h: which merges of a vocabulary can ever be carried out. Lists hold a merge for each way in which a token
 * splits into two (Gemma 2 has 580,604), yet of those that make the same token only one can happen: the last one of the
 * token's text encoded alone, because what a merge makes has come about from its own text as if that stood alone. The
 * others are left out of all tables: 234,864 remain, and the pairs that they alone would join may be cut apart.
 *
 * Merges are offered by rising rank. What cannot be told for certain is kept, which is always right.
 */
#ifndef LEAT_TOKENIZER_LIVE_MERGES_H
#define LEAT_TOKENIZER_LIVE_MERGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat.h"

#define LIVE_NEVER UINT32_MAX

/* How a symbol comes about. */
struct live_symbol {
    uint32_t made; /* 0: texts begin with it; else the rank of its last merge, plus 1; LIVE_NEVER: never, or unknown */
    uint32_t left, right; /* what it is then merged from */
};

struct live_merges;

/* Takes so many symbols and at most so many merges. If these are too many, returns LEAT_OK with NULL in *out. */
enum leat_status live_merges_make(struct live_merges **out, uint32_t symbols, size_t merges, struct leat_error *err);
void live_merges_free(struct live_merges *l);

/* Says that texts begin with this symbol. Call it before the first merge is offered. */
void live_merges_leaf(struct live_merges *l, uint32_t symbol);

enum live_verdict {
    LIVE_DEAD, /* never happens */
    LIVE_YES,  /* the one that makes its result */
    LIVE_LATE  /* a part is not known to come about yet: live_merges_symbols() decides when all are offered */
};

/* Ranks must not fall, and those of different results must differ; below 2^24 - 1. */
enum live_verdict live_merges_offer(struct live_merges *l, uint32_t left, uint32_t right, uint32_t result,
                                    uint32_t rank);

/* Asks for the memory that an offer of this pair will look at first. */
void live_merges_prefetch(const struct live_merges *l, uint32_t left, uint32_t right);

/* An entry per symbol. A symbol that was only late has LIVE_NEVER: its late merges must be kept. */
const struct live_symbol *live_merges_symbols(const struct live_merges *l);

#endif
