/*
 * test_token_trie.c: a packed tree of tokens (models/token_trie.h) finds what was put into it, by its number, and
 * nothing else: random tokens over few bytes and many, prefixes of each other, some nodes with most bytes as children,
 * and more of those than blocks stay open for.
 */
#include "t.h"

#include "tokenizer/models/token_trie.h"

#define MOST    6000u
#define LONGEST 4u

static uint64_t state;
static uint8_t texts[MOST][LONGEST];
static size_t lengths[MOST];
static uint32_t count;

static void add(struct trie *t, const uint8_t *text, size_t bytes)
{
    uint32_t known;

    T_OK(trie_add(t, text, bytes, 3 * count, &known, &t_err));
    if (known != TRIE_NO_NUMBER)
        return;
    memcpy(texts[count], text, bytes);
    lengths[count++] = bytes;
}

/* Texts of `kinds` different bytes. */
static void add_random(struct trie *t, unsigned number, unsigned kinds)
{
    while (number-- > 0) {
        uint8_t text[LONGEST];
        size_t bytes = 1 + t_below(&state, LONGEST);

        for (size_t i = 0; i < bytes; i++)
            text[i] = (uint8_t)(t_below(&state, kinds) * 255 / (kinds > 1 ? kinds - 1 : 1));
        add(t, text, bytes);
    }
}

/* So many nodes with so many children each. */
static void add_wide(struct trie *t, unsigned nodes, unsigned children)
{
    for (unsigned i = 0; i < nodes; i++)
        for (unsigned k = 0; k < children; k++)
            add(t, (const uint8_t[]) { (uint8_t)(7 * i), (uint8_t)(k + i) }, 2);
}

static uint32_t find(const struct trie *t, const uint8_t *text, size_t bytes)
{
    uint32_t node = TRIE_ROOT;

    for (size_t i = 0; i < bytes; i++) {
        node = trie_child(t, node, text[i]);
        if (node == TRIE_NONE)
            return TOKEN_NONE;
    }
    return t->nodes[node].number == TRIE_NO_NUMBER ? TOKEN_NONE : t->nodes[node].number;
}

static void check(unsigned random, unsigned kinds, unsigned nodes, unsigned children)
{
    struct trie from = { 0 };
    struct token_trie packed;

    count = 0;
    add_random(&from, random, kinds);
    add_wide(&from, nodes, children);
    T_OK(trie_seal(&from, &t_err));
    T_OK(token_trie_make(&packed, &from, &t_err));
    for (uint32_t i = 0; i < count; i++)
        T_EQ(token_trie_find(&packed, texts[i], lengths[i]), 3 * i);
    for (unsigned a = 0; a < 256; a++)
        for (unsigned b = 0; b < 256; b++) {
            const uint8_t text[] = { (uint8_t)a, (uint8_t)b, (uint8_t)t_below(&state, 256) };

            T_EQ(token_trie_find(&packed, text, 2), find(&from, text, 2));
            T_EQ(token_trie_find(&packed, text, 3), find(&from, text, 3));
        }
    token_trie_free(&packed);
    trie_free(&from);
}

int main(void)
{
    state = t_seed();
    check(1, 1, 0, 0);
    for (unsigned i = 0; i < t_times(10); i++)
        check((unsigned)t_below(&state, 1000), 1 + (unsigned)t_below(&state, 256), (unsigned)t_below(&state, 36),
              (unsigned)t_below(&state, 140));
    check(0, 1, 24, 200); /* of 17 blocks, each has room for one of these */
    check(0, 1, 20, 256);
    return t_end();
}
