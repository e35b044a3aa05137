/*
 * live_merges.c: finds out backwards whether a merge happens. Its two parts stand side by side, each having come
 * about by itself; the later of their last merges is undone, again and again. If two symbols that stood side by side
 * on the way have a merge of a lower rank than the merge that happened next, then that merge came first, and the
 * parts never came about. This needs later merges to have greater ranks, so a part must have been made before; a
 * merge with a part that was not is late.
 */
#include "live_merges.h"

#include <stdlib.h>
#include <string.h>

#include "base/big.h"
#include "base/status.h"
#include "tokenizer/containers/hash_key.h"

/* An entry of the table: left, right and rank of a merge. All bits are set if it is free. */
#define SYMBOL_BITS 20
#define RANK_BITS   24
#define FREE        UINT64_MAX

struct live_merges {
    struct live_symbol *symbols;
    uint64_t *pairs;
    unsigned bits; /* 2^bits pairs */
    uint64_t hash_key;
    uint32_t late, max; /* late merges in the table, and how many it may hold */
};

enum leat_status live_merges_make(struct live_merges **out, uint32_t symbols, size_t merges, struct leat_error *err)
{
    struct live_merges *l;
    size_t room;

    *out = NULL;
    if (symbols >= (uint32_t)1 << SYMBOL_BITS || merges >= (size_t)1 << RANK_BITS)
        return LEAT_OK;
    l = calloc(1, sizeof *l);
    if (!l)
        return status_no_memory(err, sizeof *l);
    l->hash_key = hash_key_new();
    for (l->bits = 6; (size_t)1 << l->bits < 2 * (size_t)symbols;)
        l->bits++;
    room = (size_t)1 << l->bits;
    l->max = symbols / 2; /* merges in addition to one that makes each symbol */
    l->symbols = big_alloc(symbols * sizeof *l->symbols);
    l->pairs = big_alloc(room * sizeof *l->pairs);
    if (!l->symbols || !l->pairs) {
        live_merges_free(l);
        return status_no_memory(err, symbols * sizeof *l->symbols + room * sizeof *l->pairs);
    }
    memset(l->symbols, 0xff, symbols * sizeof *l->symbols);
    memset(l->pairs, 0xff, room * sizeof *l->pairs);
    *out = l;
    return LEAT_OK;
}

void live_merges_free(struct live_merges *l)
{
    if (!l)
        return;
    free(l->symbols);
    free(l->pairs);
    free(l);
}

void live_merges_leaf(struct live_merges *l, uint32_t symbol)
{
    l->symbols[symbol].made = 0;
}

static uint64_t pair_of(uint32_t left, uint32_t right)
{
    return (uint64_t)left << SYMBOL_BITS | right;
}

static size_t first_place(const struct live_merges *l, uint64_t pair)
{
    return (size_t)hash_key_place(pair, l->hash_key, l->bits);
}

void live_merges_prefetch(const struct live_merges *l, uint32_t left, uint32_t right)
{
    __builtin_prefetch(&l->symbols[left]);
    __builtin_prefetch(&l->symbols[right]);
    __builtin_prefetch(&l->pairs[first_place(l, pair_of(left, right))]);
}

/* Returns the place of the pair, or the free one where it would go. */
static size_t place_of(const struct live_merges *l, uint64_t pair)
{
    size_t mask = ((size_t)1 << l->bits) - 1, at = first_place(l, pair);

    while (l->pairs[at] != FREE && l->pairs[at] >> RANK_BITS != pair)
        at = (at + 1) & mask;
    return at;
}

/* Returns true if two symbols that stand side by side are merged by a rank below `limit`. */
static bool merges_below(const struct live_merges *l, uint32_t left, uint32_t right, uint32_t limit)
{
    uint64_t entry = l->pairs[place_of(l, pair_of(left, right))];

    return entry != FREE && (entry & (((uint64_t)1 << RANK_BITS) - 1)) < limit;
}

static void add_live_merge(struct live_merges *l, uint32_t left, uint32_t right, uint32_t rank)
{
    size_t at = place_of(l, pair_of(left, right));

    if (l->pairs[at] == FREE) /* otherwise the pair is there with a lower rank, which decides */
        l->pairs[at] = pair_of(left, right) << RANK_BITS | rank;
}

/* Returns true if both parts of a merge come about side by side. Among equal ranks the leftmost merge goes first: a
 * merge across the boundary is to the right of those that make x, and to the left of those that make y. */
static bool come_about(const struct live_merges *l, uint32_t x, uint32_t y, uint32_t limit)
{
    const struct live_symbol *symbols = l->symbols;

    for (;;) {
        if (merges_below(l, x, y, limit))
            return false;
        if (symbols[x].made > symbols[y].made) {
            limit = symbols[x].made - 1;
            x = symbols[x].right;
        } else if (symbols[y].made == 0) {
            return true;
        } else {
            limit = symbols[y].made;
            y = symbols[y].left;
        }
    }
}

enum live_verdict live_merges_offer(struct live_merges *l, uint32_t left, uint32_t right, uint32_t result,
                                    uint32_t rank)
{
    struct live_symbol *symbols = l->symbols, *s = &symbols[result];

    if (s->made != LIVE_NEVER)
        return LIVE_DEAD;
    /* if some late merges are not in the table, no merge can be judged */
    if (symbols[left].made == LIVE_NEVER || symbols[right].made == LIVE_NEVER || l->late > l->max) {
        if (l->late < l->max)
            add_live_merge(l, left, right, rank);
        l->late++;
        return LIVE_LATE;
    }
    if (!come_about(l, left, right, rank))
        return LIVE_DEAD;
    *s = (struct live_symbol) { rank + 1, left, right };
    add_live_merge(l, left, right, rank);
    return LIVE_YES;
}

const struct live_symbol *live_merges_symbols(const struct live_merges *l)
{
    return l->symbols;
}
