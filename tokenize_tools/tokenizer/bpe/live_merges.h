/*
 * live_merges.h: finds the merges of a vocabulary that can ever happen. Lists hold a merge for each way in which a
 * token splits into two (Gemma 2 has 580,604), but of the merges that make one token only one can happen: the last
 * merge when the token's text is encoded alone, because the symbols inside a token have merged as if its text stood
 * alone. The other merges are left out of all tables: 234,864 remain, and pairs that only dead merges would join may be
 * cut apart.
 *
 * Merges are offered by rising rank. A merge that is not certain to be dead is kept, which is always right.
 */
#ifndef LEAT_TOKENIZER_LIVE_MERGES_H
#define LEAT_TOKENIZER_LIVE_MERGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat.h"

#define LIVE_NEVER UINT32_MAX

/* The way in which a symbol is made. */
struct live_symbol {
    uint32_t made;        /* 0 if text has it before merging; else the rank of its last merge plus 1; or LIVE_NEVER */
    uint32_t left, right; /* the parts of its last merge */
};

struct live_merges;

/* Makes room for `symbols` symbols and at most `merges` merges. Returns LEAT_OK with NULL in *out if they are too
 * many. */
enum leat_status live_merges_make(struct live_merges **out, uint32_t symbols, size_t merges, struct leat_error *err);
void live_merges_free(struct live_merges *l);

/* Declares a symbol that text has before merging. Called before the first merge is offered. */
void live_merges_leaf(struct live_merges *l, uint32_t symbol);

enum live_verdict {
    LIVE_DEAD, /* the merge never happens */
    LIVE_YES,  /* the merge makes its result */
    LIVE_LATE  /* no offered merge makes one of its parts yet: live_merges_symbols() decides when all merges have
                  been offered */
};

/* Judges a merge. Ranks must not fall, must be below 2^24 - 1, and must differ if the results do. */
enum live_verdict live_merges_offer(struct live_merges *l, uint32_t left, uint32_t right, uint32_t result,
                                    uint32_t rank);

/* Prefetches the memory that an offer of this pair reads first. */
void live_merges_prefetch(const struct live_merges *l, uint32_t left, uint32_t right);

/* Returns an entry per symbol. A symbol whose merges were all late has LIVE_NEVER: these merges must be kept. */
const struct live_symbol *live_merges_symbols(const struct live_merges *l);

#endif
