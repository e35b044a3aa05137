/* pair_lines.c: making what pair_lines.h describes. */
#include "pair_lines.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "big.h"
#include "merge_table.h"

#define LINE_BYTES (PAIR_WORDS * sizeof(uint64_t))

/* Pairs a line on average, at most: half of its room. A table twice as large gains nothing, one half as large is a
 * tenth slower. */
#define PAIRS_A_LINE 4

static uint32_t most_rank(const struct merge *merges, size_t count)
{
    uint32_t most = 0;

    for (size_t i = 0; i < count; i++)
        most = merges[i].rank > most ? merges[i].rank : most;
    return most;
}

int pair_lines_fit(const struct merge *merges, size_t count)
{
    uint32_t *results;
    bool fit = true;

    for (size_t i = 0; i < count; i++)
        if (merges[i].left >= PAIR_NOBODY || merges[i].right >= PAIR_NOBODY || merges[i].result >= PAIR_NOBODY ||
            merges[i].rank >= PAIR_NOBODY)
            return false;
    results = malloc((most_rank(merges, count) + (size_t)1) * sizeof *results);
    if (!results)
        return false;
    memset(results, 0xff, (most_rank(merges, count) + (size_t)1) * sizeof *results);
    for (size_t i = 0; fit && i < count; i++) {
        uint32_t *result = &results[merges[i].rank];

        fit = *result == UINT32_MAX || *result == merges[i].result;
        *result = merges[i].result;
    }
    free(results);
    return fit;
}

static enum leat_status make_results(struct pair_lines *t, const struct merge *merges, size_t count,
                                     struct leat_error *err)
{
    size_t ranks = most_rank(merges, count) + (size_t)1;
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

static void put(struct pair_lines *t, const struct merge *m)
{
    uint64_t key = pair_key(m->left, m->right);

    for (size_t line = pair_line(t, key);; line = pair_next_line(t, line)) {
        uint64_t *words = t->lines + line;

        for (unsigned i = 0; i < PAIR_WORDS; i++)
            if (words[i] >> 4 == 0 || (words[i] ^ key) >> PAIR_KEY == 0) {
                words[i] = key | (uint64_t)(m->rank + 1) << 4 | (words[i] & 1);
                return;
            }
        words[PAIR_WORDS - 1] |= 1;
    }
}

enum leat_status pair_lines_make(struct pair_lines *t, const struct merge *merges, size_t count, struct leat_error *err)
{
    unsigned bits = 1;
    size_t bytes;
    enum leat_status s;

    while ((size_t)PAIRS_A_LINE << bits < count)
        bits++;
    bytes = LINE_BYTES << bits;
    *t = (struct pair_lines) { .shift = 64 - bits, .memory = big_alloc(bytes + LINE_BYTES) };
    if (!t->memory)
        return status_no_memory(err, bytes);
    t->lines = (uint64_t *)(((uintptr_t)t->memory + LINE_BYTES - 1) & ~(uintptr_t)(LINE_BYTES - 1));
    memset(t->lines, 0, bytes);
    for (size_t i = 0; i < count; i++)
        put(t, &merges[i]);
    s = make_results(t, merges, count, err);
    if (s != LEAT_OK)
        pair_lines_free(t);
    return s;
}

void pair_lines_free(struct pair_lines *t)
{
    free(t->memory);
    free(t->results);
    *t = (struct pair_lines) { .lines = NULL };
}

uint32_t pair_in_next_lines(const struct pair_lines *t, size_t line, uint64_t key)
{
    uint32_t found = 0;

    while (!found && (t->lines[line + PAIR_WORDS - 1] & 1)) {
        line = pair_next_line(t, line);
        found = pair_in_line(t->lines + line, key);
    }
    return found;
}
