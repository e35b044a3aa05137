/*
 * pair_table.h: the merges of a vocabulary in as little memory as can be, since nearly every look-up of a pretoken that
 * is new misses the CPU's nearer caches: a word of 64 bits each, at one of three places that a hash of the pair gives.
 * Three in four or more lie at their first one; and a word that stands at the first place of another pair says so, so
 * that most look-ups of pairs that have no merge end there, too. Words can be looked up many at a time by gathers.
 *
 * A word is, from the top, 20 bits left, 20 bits right, 20 bits rank + 1, 4 bits that are free but for the lowest one:
 * a pair that has a place here lies at its next place, or the one after that.
 */
#ifndef LEAT_TOKENIZER_PAIR_TABLE_H
#define LEAT_TOKENIZER_PAIR_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "leat.h"

#define PAIR_BITS   20
#define PAIR_KEY    24                               /* bits below a key */
#define PAIR_NOBODY (((uint32_t)1 << PAIR_BITS) - 1) /* a symbol that has no merges */
#define PAIR_MOVED  1u

/* The hash of a pair is LEFT * left + RIGHT * right; times each of these, its upper bits number the places. */
#define PAIR_PLACES 3
#define PAIR_LEFT   0x9e3779b1u
#define PAIR_RIGHT  0x85ebca77u
#define PAIR_SECOND 0xc2b2ae3du
#define PAIR_THIRD  0x27d4eb2fu

struct merge;

struct pair_table {
    uint64_t *words;   /* NULL: none could be made */
    unsigned shift;    /* of a hash */
    uint32_t *results; /* by rank; NULL: a rank is its own result */
};

/* Whether symbols and ranks are small enough, and each rank has one result. */
int pair_table_fit(const struct merge *merges, size_t count);

/* If two merges have the same pair, the later one counts. They must fit. Without `words` if too many pairs want the
 * same places, which no sound vocabulary does. */
enum leat_status pair_table_make(struct pair_table *t, const struct merge *merges, size_t count,
                                 struct leat_error *err);
void pair_table_free(struct pair_table *t);

static inline uint64_t pair_key(uint32_t left, uint32_t right)
{
    return ((uint64_t)left << PAIR_BITS | right) << PAIR_KEY;
}

static inline uint32_t pair_hash(uint32_t left, uint32_t right)
{
    return left * PAIR_LEFT + right * PAIR_RIGHT;
}

/* Place 0, 1 or 2 of a pair. */
static inline size_t pair_place(const struct pair_table *t, uint32_t hash, unsigned number)
{
    return (hash * (number == 0 ? 1 : number == 1 ? PAIR_SECOND : PAIR_THIRD)) >> t->shift;
}

/* The rank of the pair's merge; UINT32_MAX if there is none. Symbols have at most PAIR_BITS bits. */
static inline uint32_t pair_rank(const struct pair_table *t, uint32_t left, uint32_t right)
{
    uint64_t key = pair_key(left, right);
    uint32_t hash = pair_hash(left, right);

    for (unsigned i = 0; i < PAIR_PLACES; i++) {
        uint64_t rest = t->words[pair_place(t, hash, i)] ^ key;

        if (rest >> PAIR_KEY == 0)
            return (uint32_t)(rest >> 4) - 1;
        if (!(rest & PAIR_MOVED))
            break;
    }
    return UINT32_MAX;
}

static inline uint32_t pair_result(const struct pair_table *t, uint32_t rank)
{
    return t->results ? t->results[rank] : rank;
}

#endif
