/*
 * test_live_merges.c: merges that live_merges.c calls dead change nothing. Random vocabularies over few letters, so
 * that tokens overlap in every way, with merges in random order, so that parts are often made after what they are parts
 * of; random texts merged with all merges and with those that are kept.
 */
#include "t.h"

#include "tokenizer/bpe/live_merges.h"
#include "tokenizer/bpe/merge_table.h"

#define LETTERS 2u
#define SYMBOLS 100u
#define MERGES  2000u
#define LONGEST 6u

static uint64_t state;

struct vocabulary {
    char text[SYMBOLS][LONGEST + 1];
    uint32_t symbols;
    struct merge merges[MERGES];
    size_t merge_count;
};

static uint32_t find(const struct vocabulary *v, const char *text)
{
    for (uint32_t i = 0; i < v->symbols; i++)
        if (strcmp(v->text[i], text) == 0)
            return i;
    return MERGE_NONE;
}

/* Letters, then strings that are joined of two that are there, or, some of them, of nothing that is there. */
static void make_symbols(struct vocabulary *v)
{
    uint32_t tries = 1 + (uint32_t)t_below(&state, 3 * SYMBOLS);

    v->symbols = LETTERS;
    for (uint32_t i = 0; i < LETTERS; i++)
        snprintf(v->text[i], sizeof v->text[i], "%c", (int)('a' + i));
    while (v->symbols < SYMBOLS && tries-- > 0) {
        char text[2 * LONGEST + 1];

        snprintf(text, sizeof text, "%s%s", v->text[t_below(&state, v->symbols)], v->text[t_below(&state, v->symbols)]);
        if (t_below(&state, 10) == 0)
            text[0] = (char)('a' + t_below(&state, LETTERS));
        if (strlen(text) <= LONGEST && find(v, text) == MERGE_NONE)
            memcpy(v->text[v->symbols++], text, strlen(text) + 1);
    }
}

/* Every way in which a symbol splits into two, or some of them; then in an order that is more or less random. */
static void make_merges(struct vocabulary *v)
{
    uint32_t kept = 1 + (uint32_t)t_below(&state, 10), disorder = (uint32_t)t_below(&state, 30);

    v->merge_count = 0;
    for (uint32_t i = LETTERS; i < v->symbols; i++)
        for (size_t at = 1; at < strlen(v->text[i]); at++) {
            uint32_t l, r = find(v, v->text[i] + at);

            l = find(v, t_text("%.*s", (int)at, v->text[i]));
            if (l != MERGE_NONE && r != MERGE_NONE && t_below(&state, 10) < kept && v->merge_count < MERGES)
                v->merges[v->merge_count++] = (struct merge) { l, r, i, 0 };
        }
    for (size_t i = 0; disorder < 5 && i < v->merge_count * disorder / 3; i++) {
        size_t a = t_below(&state, v->merge_count), b = t_below(&state, v->merge_count);
        struct merge m = v->merges[a];

        v->merges[a] = v->merges[b];
        v->merges[b] = m;
    }
    for (size_t i = 0; i < v->merge_count; i++)
        v->merges[i].rank = (uint32_t)i;
}

static size_t keep_live(struct merge *kept, const struct vocabulary *v)
{
    const struct live_symbol *symbols;
    struct live_merges *live;
    size_t count = 0, n = 0;

    T_OK(live_merges_make(&live, v->symbols, v->merge_count, &t_err));
    for (uint32_t i = 0; i < LETTERS; i++)
        live_merges_leaf(live, i);
    for (size_t i = 0; i < v->merge_count; i++)
        if (live_merges_offer(live, v->merges[i].left, v->merges[i].right, v->merges[i].result, v->merges[i].rank) !=
            LIVE_DEAD)
            kept[n++] = v->merges[i];
    symbols = live_merges_symbols(live);
    for (size_t i = 0; i < n; i++) {
        const struct live_symbol *s = &symbols[kept[i].result];

        if (s->made == LIVE_NEVER || (s->left == kept[i].left && s->right == kept[i].right))
            kept[count++] = kept[i];
    }
    live_merges_free(live);
    return count;
}

static void compare(const struct merge_table *all, const struct merge_table *live)
{
    static struct merge_scratch scratch;
    uint32_t a[100], b[100];
    size_t count = 1 + t_below(&state, 100), other;

    for (size_t i = 0; i < count; i++)
        a[i] = b[i] = (uint32_t)t_below(&state, LETTERS);
    other = count;
    T_OK(merge_symbols(all, &scratch, a, &count, &t_err));
    T_OK(merge_symbols(live, &scratch, b, &other, &t_err));
    T_EQ(count, other);
    T_CHECK(memcmp(a, b, count * sizeof *a) == 0);
    merge_scratch_free(&scratch);
}

int main(void)
{
    static struct vocabulary v;
    static struct merge kept[MERGES];
    size_t given = 0, left = 0;
    struct live_merges *none;

    /* more symbols than it can tell apart: then all merges are kept */
    T_OK(live_merges_make(&none, 1 << 20, 10, &t_err));
    T_CHECK(!none);

    state = t_seed();
    for (int i = 0; i < 400; i++) {
        struct merge_table *all, *live;
        size_t count;

        make_symbols(&v);
        make_merges(&v);
        count = keep_live(kept, &v);
        given += v.merge_count;
        left += count;
        T_OK(merge_table_make(&all, v.merges, v.merge_count, &t_err));
        T_OK(merge_table_make(&live, kept, count, &t_err));
        for (int k = 0; k < 100; k++)
            compare(all, live);
        merge_table_free(all);
        merge_table_free(live);
    }
    printf("%zu merges, %zu kept\n", given, left);
    T_CHECK(left < given - given / 8); /* else nothing was tried */
    return t_end();
}
