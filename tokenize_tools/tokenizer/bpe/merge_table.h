/*
 * merge_table.h: byte pair encoding proper: a table of pairs that may merge, and merging until none may. It knows
 * nothing about text: symbols are numbers.
 *
 * All families have one rule: of all neighbouring pairs that have a merge, the pair of least rank is merged, and among
 * equal ranks the leftmost; this is repeated until no pair has a merge. Ranks come from the loader: places in a list of
 * merges, tiktoken's ranks of the products, or the order of sentencepiece's scores.
 */
#ifndef LEAT_TOKENIZER_MERGE_TABLE_H
#define LEAT_TOKENIZER_MERGE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "leat.h"

#define MERGE_NONE UINT32_MAX

struct merge {
    uint32_t left, right, result, rank;
};

/* ---- Pairs in words ---------------------------------------------------------------------------------------------- */

/*
 * Merges of a vocabulary in little memory, since nearly every look-up for a new pretoken misses the CPU's nearer
 * caches: a word of 64 bits per merge, at one of three places that a hash of the pair gives. The second place is in the
 * first one's line of the CPU's cache, so both are read without waiting, and without a branch. At most three fifths of
 * the words are in use, so few pairs lie at their third place (test_pair_table.c). A word at the second place of such a
 * pair has a bit that says so; thus most look-ups of pairs without a merge end there, too. This matters if eight or
 * sixteen pairs are looked up together: one of them at its third place makes all wait.
 *
 * A word is, from the top, 20 bits left, 20 bits right, 20 bits rank + 1, and 4 bits, of which two say: a pair with its
 * first place here lies at a later one; a pair with its second place here lies at its third one.
 */

#define PAIR_BITS   20
#define PAIR_KEY    24                               /* bits below a key */
#define PAIR_NOBODY (((uint32_t)1 << PAIR_BITS) - 1) /* symbol that has no merges */

/* The bit in the word at place 0 or 1 of a pair that says that the pair lies at a later place. */
#define PAIR_MOVED(place) (1u << (place))

/* The hash of a pair is LEFT * left + RIGHT * right. Its upper bits are the first place, the next two the second place
 * in the line of the first, and the upper bits of the hash times THIRD are the third place. */
#define PAIR_PLACES 3
#define PAIR_LEFT   0x9e3779b1u
#define PAIR_RIGHT  0x85ebca77u
#define PAIR_THIRD  0x27d4eb2fu
#define PAIR_LINE   8 /* words */

struct pair_table {
    uint64_t *words;   /* NULL if no table could be made */
    unsigned shift;    /* shift that makes a place of a hash */
    uint32_t *results; /* results by rank; NULL if each rank is its own result */
};

/* Returns true if symbols and ranks are small enough, and each rank has one result. */
int pair_table_fit(const struct merge *merges, size_t count);

/* Makes a table of merges that fit. A later merge of a pair replaces an earlier one. Leaves `words` NULL if too many
 * pairs have one hash, which happens with no sound vocabulary. */
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

/* Returns place 0, 1 or 2 of a pair. */
static inline size_t pair_place(const struct pair_table *t, uint32_t hash, unsigned number)
{
    if (number == 2)
        return hash * PAIR_THIRD >> t->shift;
    return hash >> t->shift ^ (number == 0 ? 0 : (hash >> (t->shift - 3) & 6) | 1);
}

/* Returns the rank of the pair's merge; UINT32_MAX if there is none. Symbols must fit PAIR_BITS. It does not branch on
 * that result, since the CPU would often guess wrong. */
static inline uint32_t pair_rank(const struct pair_table *t, uint32_t left, uint32_t right)
{
    uint64_t key = pair_key(left, right);
    uint32_t hash = pair_hash(left, right);
    uint64_t first = t->words[pair_place(t, hash, 0)] ^ key, second = t->words[pair_place(t, hash, 1)] ^ key;
    uint64_t rest = first >> PAIR_KEY == 0 ? first : second;
    uint64_t other = 0 - (uint64_t)(rest >> PAIR_KEY != 0);

    if (second & other & PAIR_MOVED(1)) {
        rest = t->words[pair_place(t, hash, 2)] ^ key;
        other = 0 - (uint64_t)(rest >> PAIR_KEY != 0);
    }
    return ((uint32_t)(rest >> 4) - 1) | (uint32_t)other;
}

static inline uint32_t pair_result(const struct pair_table *t, uint32_t rank)
{
    return t->results ? t->results[rank] : rank;
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

struct merge_table;

/* Makes a table of the merges, which are copied. A later merge of a pair replaces an earlier one. */
enum leat_status merge_table_make(struct merge_table **out, const struct merge *merges, size_t count,
                                  struct leat_error *err);
void merge_table_free(struct merge_table *table);

/* Returns the rank of a pair's merge, and sets *result; MERGE_NONE if there is none. */
uint32_t merge_table_find(const struct merge_table *table, uint32_t left, uint32_t right, uint32_t *result);

/* Returns the table of pairs, if the merges fit one; else NULL. */
const struct pair_table *merge_table_pairs(const struct merge_table *table);

/* A thread's memory for merging, which `bound` counts unless it is NULL. The other members are zeroed at first. */
struct merge_scratch {
    void *memory;
    size_t bytes;
    struct bound *bound;
};
void merge_scratch_free(struct merge_scratch *scratch);

/* Merges symbols[0..*count) in place, and sets *count to the number that remain. Takes O(n log n) at worst. Frees the
 * scratch of a very long run at once. */
enum leat_status merge_symbols(const struct merge_table *table, struct merge_scratch *scratch, uint32_t *symbols,
                               size_t *count, struct leat_error *err);

/* Returns the place of the next symbol; after the last one, the end of the run. */
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

/* Returns the place of the symbol before this one, whose place is not 0. */
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

/* Length from which on runs are merged block by block: a heap over millions of symbols does not fit the caches, and
 * takes four times the memory of the symbols. */
#define MERGE_LONG ((size_t)1 << 15)

/*
 * Merges as merge_symbols() does, in blocks of `block` symbols, at least 4 (0 is the usual size). Sets *done to
 * false if the results of blocks do not meet: then the symbols are destroyed, and the caller makes them again for
 * merge_symbols().
 */
enum leat_status merge_blocks(const struct merge_table *table, struct merge_scratch *scratch, uint32_t *symbols,
                              size_t *count, size_t block, bool *done, struct leat_error *err);

#endif
