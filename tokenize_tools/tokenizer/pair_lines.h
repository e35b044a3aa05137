/*
 * pair_lines.h: the merges of a vocabulary in as little memory as can be, since nearly every look-up of a piece that is
 * new misses the CPU's nearer caches: eight to a line of 64 bytes, and a line is looked at as a whole.
 *
 * A word of a line is, from the top, 20 bits left, 20 bits right, 20 bits rank + 1, 4 bits that are free but for the
 * lowest one of the last word: there was no room for some pair of this line, which is in the next one, or yet further.
 */
#ifndef LEAT_TOKENIZER_PAIR_LINES_H
#define LEAT_TOKENIZER_PAIR_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "leat.h"

#define PAIR_WORDS  8
#define PAIR_BITS   20
#define PAIR_KEY    24                               /* bits below a key */
#define PAIR_NOBODY (((uint32_t)1 << PAIR_BITS) - 1) /* a symbol that has no merges */

struct merge;

struct pair_lines {
    uint64_t *lines;
    unsigned shift;    /* of a hash: its upper bits number the lines */
    uint32_t *results; /* by rank; NULL: a rank is its own result */
    void *memory;
};

/* Whether symbols and ranks are small enough, and each rank has one result. */
int pair_lines_fit(const struct merge *merges, size_t count);

/* Of two merges with the same pair the later one counts. They must fit. */
enum leat_status pair_lines_make(struct pair_lines *t, const struct merge *merges, size_t count,
                                 struct leat_error *err);
void pair_lines_free(struct pair_lines *t);

static inline uint64_t pair_key(uint32_t left, uint32_t right)
{
    return ((uint64_t)left << PAIR_BITS | right) << PAIR_KEY;
}

static inline size_t pair_line(const struct pair_lines *t, uint64_t key)
{
    return (size_t)(key * 0x9e3779b97f4a7c15u >> t->shift) * PAIR_WORDS;
}

static inline size_t pair_next_line(const struct pair_lines *t, size_t line)
{
    return line + PAIR_WORDS == (size_t)PAIR_WORDS << (64 - t->shift) ? 0 : line + PAIR_WORDS;
}

/* Of the word of a line that has this key, the rank + 1; 0 if none has. */
static inline uint32_t pair_in_line(const uint64_t *line, uint64_t key)
{
    uint64_t found = 0;

    for (unsigned i = 0; i < PAIR_WORDS; i++) {
        uint64_t rest = line[i] ^ key;

        found |= rest >> PAIR_KEY ? 0 : rest;
    }
    return (uint32_t)(found >> 4);
}

/* The same in the lines after one that has no room for all of its pairs. */
uint32_t pair_in_next_lines(const struct pair_lines *t, size_t line, uint64_t key);

/* The rank of the pair's merge; UINT32_MAX if there is none. */
static inline uint32_t pair_rank(const struct pair_lines *t, uint32_t left, uint32_t right)
{
    uint64_t key = pair_key(left, right);
    size_t line = pair_line(t, key);
    uint32_t found = pair_in_line(t->lines + line, key);

    if (!found && (t->lines[line + PAIR_WORDS - 1] & 1))
        found = pair_in_next_lines(t, line, key);
    return found - 1;
}

static inline uint32_t pair_result(const struct pair_lines *t, uint32_t rank)
{
    return t->results ? t->results[rank] : rank;
}

#endif
