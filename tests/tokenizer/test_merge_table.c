/*
 * test_merge_table.c: merging, short, long and block by block, against the rule read literally: look at all pairs,
 * merge the leftmost of the least rank, begin again. Random tables with many ties of rank and ranks in no order, random
 * symbols, and long runs of one symbol.
 */
#include "t.h"
#include "tokenizer/bpe/merge_table.h"

static size_t merge_plainly(const struct merge_table *t, uint32_t *symbols, size_t count)
{
    for (;;) {
        uint32_t min = MERGE_NONE, result = 0;
        size_t at = 0;

        for (size_t i = 0; i + 1 < count; i++) {
            uint32_t r, rank = merge_table_find(t, symbols[i], symbols[i + 1], &r);

            if (rank < min) {
                min = rank;
                result = r;
                at = i;
            }
        }
        if (min == MERGE_NONE)
            return count;
        symbols[at] = result;
        memmove(symbols + at + 1, symbols + at + 2, (count - at - 2) * sizeof *symbols);
        count--;
    }
}

static unsigned block_runs, block_runs_done;

/* In blocks, where their results meet. */
static void compare_blocks(const struct merge_table *t, struct merge_scratch *scratch, const uint32_t *symbols,
                           size_t count, const uint32_t *want, size_t want_count, size_t block)
{
    uint32_t *a = malloc(4 * count + 4);
    size_t n = count;
    bool done;

    memcpy(a, symbols, 4 * count);
    T_OK(merge_blocks(t, scratch, a, &n, block, &done, &t_err));
    if (done && (n != want_count || memcmp(a, want, 4 * n) != 0))
        T_FAIL("blocks of %zu give another result", block);
    block_runs++;
    block_runs_done += done;
    free(a);
}

static void compare(const struct merge_table *t, struct merge_scratch *scratch, const uint32_t *symbols, size_t count)
{
    uint32_t *a = malloc(4 * count + 4), *b = malloc(4 * count + 4);
    size_t an = count, bn;

    memcpy(a, symbols, 4 * count);
    memcpy(b, symbols, 4 * count);
    bn = merge_plainly(t, b, count);
    T_OK(merge_symbols(t, scratch, a, &an, &t_err));
    T_EQ(an, bn);
    T_CHECK(an != bn || memcmp(a, b, 4 * an) == 0);
    for (size_t block = 4; block < 64; block += block < 10 ? 1 : 7)
        compare_blocks(t, scratch, symbols, count, b, bn, block);
    free(a);
    free(b);
}

static void random_tables(uint64_t *random, struct merge_scratch *scratch)
{
    uint32_t symbols[600];

    for (int round = 0; round < 400; round++) {
        uint32_t base = 1 + (uint32_t)t_below(random, 12), ids = base;
        size_t count = t_below(random, 200);
        struct merge *merges = malloc((count + 1) * sizeof *merges);
        struct merge_table *t;

        for (size_t i = 0; i < count; i++) {
            uint32_t left = (uint32_t)t_below(random, ids), right = (uint32_t)t_below(random, ids);

            merges[i] = (struct merge) { left, right, ids++, (uint32_t)t_below(random, 1 + (round % 3 ? count : 5)) };
        }
        T_OK(merge_table_make(&t, merges, count, &t_err));
        for (int i = 0; i < 20; i++) {
            size_t n = t_below(random, i % 4 ? 60 : 600);

            for (size_t k = 0; k < n; k++)
                symbols[k] = (uint32_t)t_below(random, base);
            compare(t, scratch, symbols, n);
        }
        merge_table_free(t);
        free(merges);
    }
}

/* In blocks, where neither the block nor what merging it takes fits; or only that does not. */
static void check_bounds(const struct merge_table *t, uint32_t *symbols, size_t count)
{
    for (uint64_t max = 100; max <= 4 * 64; max += 4 * 64 - 100) {
        struct bound bound = { .max = max };
        struct merge_scratch bounded = { .bound = &bound };
        size_t n = count;
        bool done;

        T_REFUSED(merge_blocks(t, &bounded, symbols, &n, 64, &done, &t_err), LEAT_E_PRETOKEN, "cannot be cut");
        T_EQ(bound.held, 0);
    }
}

/* 0 0 -> 1, 1 1 -> 2, ...: a run of one symbol is merged to one. */
static void doubling(struct merge_scratch *scratch)
{
    struct bound bound = { .max = 1000 };
    struct merge_scratch bounded = { .bound = &bound };
    size_t n = 1 << 16;
    uint32_t *run = calloc(n, sizeof *run);
    struct merge doubles[16];
    struct merge_table *t;

    for (uint32_t i = 0; i < 16; i++)
        doubles[i] = (struct merge) { i, i, i + 1, i };
    T_OK(merge_table_make(&t, doubles, 16, &t_err));
    T_OK(merge_symbols(t, scratch, run, &n, &t_err));
    T_EQ(n, 1);
    T_EQ(run[0], 16);
    n = 1 << 16;
    T_REFUSED(merge_symbols(t, &bounded, run, &n, &t_err), LEAT_E_PRETOKEN, "cannot be cut");
    T_EQ(bound.held, 0);
    check_bounds(t, run, n);
    merge_table_free(t);
    free(run);
}

/* Of abcdabcd... first all ab are merged, then all cd, then all abcd: each time the pairs to both sides of it are new,
 * and come after all those, so that more wait than there is room for, most of which are there no more. */
static void crowded(struct merge_scratch *scratch)
{
    enum { A, B, C, D, AB, CD, ABCD, OTHER, MANY = 4096 };
    static const struct merge merges[] = {
        { A, B, AB, 0 },
        { C, D, CD, 1 },
        { AB, CD, ABCD, 2 },
        { B, C, OTHER, 10 },
        { D, A, OTHER + 1, 11 },
        { D, AB, OTHER + 2, 12 },
        { AB, C, OTHER + 3, 13 },
        { CD, AB, OTHER + 4, 14 },
        { ABCD, AB, OTHER + 5, 15 },
        { ABCD, ABCD, OTHER + 6, 16 },
    };
    static uint32_t symbols[MANY];
    struct merge_table *t;

    for (uint32_t i = 0; i < MANY; i++)
        symbols[i] = i % 4;
    T_OK(merge_table_make(&t, merges, sizeof merges / sizeof merges[0], &t_err));
    for (size_t n = 0; n <= MANY; n += n < 200 ? 1 : 487)
        compare(t, scratch, symbols, n);
    merge_table_free(t);
}

int main(void)
{
    struct merge_scratch scratch = { 0 };
    uint64_t random = t_seed();

    random_tables(&random, &scratch);
    T_CHECK(block_runs_done > block_runs / 2 && block_runs_done < block_runs);
    doubling(&scratch);
    crowded(&scratch);
    merge_scratch_free(&scratch);
    return t_end();
}
