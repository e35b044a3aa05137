/* pair_table.c: making what pair_table.h describes. */
#include "pair_table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/big.h"
#include "base/status.h"
#include "merge_table.h"

/* Tables of other sizes that are tried, each of twice as many words, and how often a word is moved before one is given
 * up. With no more than four fifths of all words taken, a few moves are enough. */
#define MAX_TRIES 3u
#define MAX_MOVES 500u

static uint32_t max_rank(const struct merge *merges, size_t count)
{
    uint32_t max = 0;

    for (size_t i = 0; i < count; i++)
        max = merges[i].rank > max ? merges[i].rank : max;
    return max;
}

int pair_table_fit(const struct merge *merges, size_t count)
{
    uint32_t *results;
    bool fit = true;

    for (size_t i = 0; i < count; i++)
        if (merges[i].left >= PAIR_NOBODY || merges[i].right >= PAIR_NOBODY || merges[i].result >= PAIR_NOBODY ||
            merges[i].rank >= PAIR_NOBODY)
            return false;
    results = malloc((max_rank(merges, count) + (size_t)1) * sizeof *results);
    if (!results)
        return false;
    memset(results, 0xff, (max_rank(merges, count) + (size_t)1) * sizeof *results);
    for (size_t i = 0; fit && i < count; i++) {
        uint32_t *result = &results[merges[i].rank];

        fit = *result == UINT32_MAX || *result == merges[i].result;
        *result = merges[i].result;
    }
    free(results);
    return fit;
}

static enum leat_status make_results(struct pair_table *t, const struct merge *merges, size_t count,
                                     struct leat_error *err)
{
    size_t ranks = max_rank(merges, count) + (size_t)1;
    bool same = true;

    for (size_t i = 0; same && i < count; i++)
        same = merges[i].rank == merges[i].result;
    if (same)
        return LEAT_OK;
    t->results = big_alloc(ranks * sizeof *t->results);
    if (!t->results)
        return status_no_memory(err, ranks * sizeof *t->results);
    for (size_t i = 0; i < count; i++)
        t->results[merges[i].rank] = merges[i].result;
    return LEAT_OK;
}

static uint32_t hash_of(uint64_t word)
{
    return pair_hash((uint32_t)(word >> (PAIR_KEY + PAIR_BITS)), (uint32_t)(word >> PAIR_KEY) & PAIR_NOBODY);
}

/* The first free place for the word, or that of an earlier one of the same pair; NULL if there is none. A word takes
 * its first free place, and a place that was taken once is never free again: so the same pair lies before that, if
 * anywhere. */
static uint64_t *place_for(const struct pair_table *t, uint64_t word)
{
    uint32_t hash = hash_of(word);

    for (unsigned i = 0; i < PAIR_PLACES; i++) {
        uint64_t *at = &t->words[pair_place(t, hash, i)];

        if (*at == 0 || (*at ^ word) >> PAIR_KEY == 0)
            return at;
    }
    return NULL;
}

/* Words that stand in the way move to other places of theirs. */
static bool put(const struct pair_table *t, uint64_t word, uint32_t *random)
{
    for (unsigned moves = 0; moves < MAX_MOVES; moves++) {
        uint64_t *at = place_for(t, word), other;

        if (at) {
            *at = word;
            return true;
        }
        *random = *random * 1664525 + 1013904223;
        at = &t->words[pair_place(t, hash_of(word), (*random >> 16) % PAIR_PLACES)];
        other = *at;
        *at = word;
        word = other;
    }
    return false;
}

static void mark_moved(const struct pair_table *t, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        uint32_t hash = hash_of(t->words[i]);

        for (unsigned k = 0; t->words[i] >> 4 != 0 && pair_place(t, hash, k) != i; k++)
            t->words[pair_place(t, hash, k)] |= PAIR_MOVED;
    }
}

/* t->words stays NULL if not all find a place. */
static enum leat_status make_words(struct pair_table *t, const struct merge *merges, size_t count, unsigned bits,
                                   struct leat_error *err)
{
    size_t bytes = sizeof *t->words << bits;
    uint32_t random = 1;

    t->shift = 32 - bits;
    t->words = big_alloc(bytes);
    if (!t->words)
        return status_no_memory(err, bytes);
    memset(t->words, 0, bytes);
    for (size_t i = 0; i < count; i++)
        if (!put(t, pair_key(merges[i].left, merges[i].right) | (uint64_t)(merges[i].rank + 1) << 4, &random)) {
            free(t->words);
            t->words = NULL;
            return LEAT_OK;
        }
    mark_moved(t, (size_t)1 << bits);
    return LEAT_OK;
}

enum leat_status pair_table_make(struct pair_table *t, const struct merge *merges, size_t count, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    unsigned bits = 4;

    *t = (struct pair_table) { .words = NULL };
    while ((size_t)1 << bits < count + count / 4)
        bits++;
    for (unsigned i = 0; s == LEAT_OK && !t->words && i < MAX_TRIES; i++)
        s = make_words(t, merges, count, bits + i, err);
    if (s == LEAT_OK && t->words)
        s = make_results(t, merges, count, err);
    if (s != LEAT_OK)
        pair_table_free(t);
    return s;
}

void pair_table_free(struct pair_table *t)
{
    free(t->words);
    free(t->results);
    *t = (struct pair_table) { .words = NULL };
}
