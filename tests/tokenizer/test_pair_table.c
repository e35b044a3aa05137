/*
 * test_pair_table.c: the table of pairs against a plain list of them: all that were put in, pairs given twice, and a
 * million that were not put in; tables of all sizes; and that few look-ups need a second line of the CPU's cache. And a
 * vocabulary made to break it: pairs that want the same places, which are then found in another way.
 */
#include "t.h"
#include "tokenizer/bpe/merge_table.h"

#define SYMBOLS 60000u

/* The rank that counts of each pair: what was given last; by a plain table of all symbols at the left. */
struct plain {
    uint32_t *right, *rank, *next, *head;
    uint32_t count;
};

static void plain_put(struct plain *p, const struct merge *m)
{
    uint32_t i = p->count++;

    p->right[i] = m->right;
    p->rank[i] = m->rank;
    p->next[i] = p->head[m->left];
    p->head[m->left] = i;
}

static uint32_t plain_find(const struct plain *p, uint32_t left, uint32_t right)
{
    for (uint32_t i = p->head[left]; i != UINT32_MAX; i = p->next[i])
        if (p->right[i] == right)
            return p->rank[i];
    return UINT32_MAX;
}

static struct plain plain_make(size_t count)
{
    struct plain p = { malloc(4 * count + 4), malloc(4 * count + 4), malloc(4 * count + 4), malloc(4 * SYMBOLS), 0 };

    memset(p.head, 0xff, 4 * SYMBOLS);
    return p;
}

static void plain_free(struct plain *p)
{
    free(p->right);
    free(p->rank);
    free(p->next);
    free(p->head);
}

/* Symbols near each other, as in vocabularies: low ones are in most pairs. */
static uint32_t symbol(uint64_t *random, uint32_t max)
{
    uint64_t limit = 1 + t_below(random, max);

    return (uint32_t)t_below(random, limit);
}

/* That a look-up seldom leaves one line of the CPU's cache: all first and second places are in one, and in a table that
 * is full to three fifths at most one word in twelve lies elsewhere. */
static void in_lines(const struct pair_table *t)
{
    size_t words = (size_t)1 << (32 - t->shift), used = 0, elsewhere = 0;

    T_EQ((uintptr_t)t->words % (PAIR_LINE * sizeof *t->words), 0);
    for (size_t i = 0; i < words; i++) {
        uint64_t word = t->words[i];
        uint32_t hash =
            pair_hash((uint32_t)(word >> (PAIR_KEY + PAIR_BITS)), (uint32_t)(word >> PAIR_KEY) & PAIR_NOBODY);
        size_t first = pair_place(t, hash, 0), second = pair_place(t, hash, 1);

        T_CHECK(first != second && first / PAIR_LINE == second / PAIR_LINE);
        used += word >> 4 != 0;
        elsewhere += word >> 4 != 0 && i != first && i != second;
    }
    if (used >= 1000)
        T_CHECK(elsewhere <= used / 12);
}

static void random_table(uint64_t *random, size_t count)
{
    struct merge *merges = malloc((count + 1) * sizeof *merges);
    struct plain plain = plain_make(count);
    struct pair_table t;

    for (size_t i = 0; i < count; i++) {
        merges[i] = (struct merge) { symbol(random, SYMBOLS), symbol(random, SYMBOLS), (uint32_t)i, (uint32_t)i };
        if (i > 0 && t_below(random, 20) == 0) {
            merges[i].left = merges[t_below(random, i)].left;
            merges[i].right = merges[t_below(random, i)].right;
        }
        plain_put(&plain, &merges[i]);
    }
    T_CHECK(pair_table_fit(merges, count));
    T_OK(pair_table_make(&t, merges, count, &t_err));
    T_CHECK(t.words && !t.results);
    in_lines(&t);
    for (size_t i = 0; i < count; i++)
        T_EQ(pair_rank(&t, merges[i].left, merges[i].right), plain_find(&plain, merges[i].left, merges[i].right));
    for (size_t i = 0; i < 3 * count + 1000; i++) {
        uint32_t left = symbol(random, SYMBOLS), right = symbol(random, SYMBOLS);

        T_EQ(pair_rank(&t, left, right), plain_find(&plain, left, right));
    }
    T_EQ(pair_rank(&t, PAIR_NOBODY, PAIR_NOBODY), UINT32_MAX);
    pair_table_free(&t);
    plain_free(&plain);
    free(merges);
}

/* All of one hash: there is room for three. */
static void colliding(void)
{
    struct merge merges[8];
    struct merge_table *t;
    uint32_t count = 0, inverse = PAIR_RIGHT, result;

    for (int i = 0; i < 5; i++) /* by Newton's steps: right = (hash - left * LEFT) / RIGHT modulo 2^32 */
        inverse *= 2 - PAIR_RIGHT * inverse;
    T_EQ(PAIR_RIGHT * inverse, 1);
    for (uint32_t left = 0; left < PAIR_NOBODY && count < 8; left++) {
        uint32_t right = (12345u - left * PAIR_LEFT) * inverse;

        if (right < PAIR_NOBODY) {
            T_EQ(pair_hash(left, right), 12345u);
            merges[count] = (struct merge) { left, right, 1000 + count, count };
            count++;
        }
    }
    T_EQ(count, 8);
    for (uint32_t n = 1; n <= count; n++) {
        T_OK(merge_table_make(&t, merges, n, &t_err));
        T_CHECK((merge_table_pairs(t) != NULL) == (n <= 3));
        for (uint32_t i = 0; i < count; i++) {
            T_EQ(merge_table_find(t, merges[i].left, merges[i].right, &result), i < n ? i : MERGE_NONE);
            T_CHECK(i >= n || result == 1000 + i);
        }
        merge_table_free(t);
    }
}

/* Symbols without merges may be larger than a word can hold: they must not be taken for others. */
static void large_symbols(void)
{
    const struct merge merges[] = { { 3, 7, 10, 0 }, { 7, 3, 11, 1 }, { 10, 11, 12, 2 } };
    struct merge_table *t;
    uint32_t result;

    T_OK(merge_table_make(&t, merges, 3, &t_err));
    T_CHECK(merge_table_pairs(t) != NULL);
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t k = 1; k < 4096; k++) {
            uint32_t more = k << PAIR_BITS;

            T_EQ(merge_table_find(t, merges[i].left + more, merges[i].right, &result), MERGE_NONE);
            T_EQ(merge_table_find(t, merges[i].left, merges[i].right + more, &result), MERGE_NONE);
        }
    merge_table_free(t);
}

/* Where a symbol is larger than a word can hold, there is no such table, and what is found is the same. */
static void beyond(void)
{
    const struct merge merges[] = { { 3, 7, 10, 0 }, { PAIR_NOBODY, 3, 11, 1 } };
    struct merge_table *t;
    uint32_t result;

    T_OK(merge_table_make(&t, merges, 2, &t_err));
    T_CHECK(merge_table_pairs(t) == NULL);
    T_CHECK(merge_table_find(t, 3, 7, &result) == 0 && result == 10);
    T_CHECK(merge_table_find(t, PAIR_NOBODY, 3, &result) == 1 && result == 11);
    merge_table_free(t);
}

int main(void)
{
    uint64_t random = t_seed();

    for (size_t count = 0; count < 100; count++)
        random_table(&random, count);
    for (size_t count = 1000; count < 300000; count = 3 * count + 7)
        random_table(&random, count);
    random_table(&random, 78600); /* full to three fifths */
    colliding();
    large_symbols();
    beyond();
    return t_end();
}
