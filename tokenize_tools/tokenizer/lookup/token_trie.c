/*
 * token_trie.c: see token_trie.h.
 *
 * Nodes are placed one after another, depth first, so that a token's bytes lie close together. A node's children need
 * a base for which all their units are free; it is looked for in the last few blocks of 256 units, which a base does
 * not leave. No two nodes have one base, so a unit that carries the byte by which it was reached is the right child. A
 * unit that stays free carries the byte by which no base of its block reaches it.
 */
#include "token_trie.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

#define BLOCK        256u
#define OPEN_BLOCKS  16u
#define MAX_FAILURES 64u /* then a block is full, for practical purposes: without a limit, loading is twice as slow */

/* A block that still has room. */
struct block {
    uint32_t begin;
    uint32_t failures;
    uint64_t taken[BLOCK / 64]; /* units, a bit each */
    bool based[BLOCK];          /* bases of nodes */
};

struct packing {
    struct token_trie *out;
    const struct trie *from;
    struct block open[OPEN_BLOCKS];
    unsigned open_count;
    size_t room; /* units */
    struct leat_error *err;
};

/* A node whose children have to be placed. */
struct pending {
    uint32_t node, unit; /* `unit` is where its base goes */
};

static bool is_taken(const struct block *b, unsigned unit)
{
    return b->taken[unit / 64] >> unit % 64 & 1;
}

/* Gives free units a byte by which nothing reaches them. A block with a free unit has a free base, since each base has
 * a unit of its own; in the first one that is base 0, of which no node is. */
static void close_block(struct packing *p, unsigned i)
{
    struct block *b = &p->open[i];
    unsigned base = 0;

    while (b->begin > 0 && base < BLOCK && b->based[base])
        base++;
    for (unsigned k = 0; k < BLOCK; k++)
        if (!is_taken(b, k))
            p->out->units[b->begin + k] = (struct token_unit) { TOKEN_NO_CHILD, k ^ base };
    *b = p->open[--p->open_count];
}

static enum leat_status open_block(struct packing *p)
{
    struct token_trie *t = p->out;
    struct block *b;

    if (p->open_count == OPEN_BLOCKS)
        close_block(p, 0);
    if (t->count + BLOCK > p->room) {
        size_t room = p->room ? 2 * p->room : 16 * BLOCK;
        struct token_unit *units = room <= UINT32_MAX ? realloc(t->units, room * sizeof *units) : NULL;

        if (!units)
            return status_no_memory(p->err, room * sizeof *units);
        t->units = units;
        p->room = room;
    }
    b = &p->open[p->open_count++];
    memset(b, 0, sizeof *b);
    b->begin = (uint32_t)t->count;
    b->based[0] = t->count == 0; /* TOKEN_NO_CHILD */
    t->count += BLOCK;
    return LEAT_OK;
}

/* Whether the children fit at a base of the block. */
static bool fits(const struct block *b, unsigned base, const struct trie_node *children, unsigned count)
{
    if (b->based[base])
        return false;
    for (unsigned k = 0; k < count; k++)
        if (is_taken(b, base ^ children[k].byte))
            return false;
    return true;
}

/* A block and a base in it for the children; opens a block if none has one. */
static enum leat_status find_base(struct packing *p, const struct trie_node *children, unsigned count, unsigned *block,
                                  unsigned *base)
{
    enum leat_status s;

    for (*block = p->open_count; (*block)-- > 0;) {
        struct block *b = &p->open[*block];

        for (unsigned word = 0; word < BLOCK / 64; word++)
            for (uint64_t free_units = ~b->taken[word]; free_units; free_units &= free_units - 1) {
                unsigned k = 64 * word + (unsigned)__builtin_ctzll(free_units);

                if (fits(b, *base = k ^ children[0].byte, children, count))
                    return LEAT_OK;
            }
        if (++b->failures == MAX_FAILURES)
            close_block(p, *block);
    }
    s = open_block(p);
    if (s != LEAT_OK)
        return s;
    *block = p->open_count - 1;
    *base = p->open[*block].based[0]; /* 0, or 1 in the first block */
    return LEAT_OK;
}

static uint32_t info_of(const struct trie_node *n)
{
    return n->byte | (n->number == TRIE_NO_NUMBER ? 0 : n->number + 1) << 8;
}

/* Places the children of a node, and notes those that have children themselves. */
static enum leat_status place(struct packing *p, const struct trie_node *node, uint32_t *base, struct pending *stack,
                              size_t *depth)
{
    const struct trie_node *children = &p->from->nodes[node->first];
    unsigned block, low;
    enum leat_status s = find_base(p, children, node->count, &block, &low);
    struct block *b;

    if (s != LEAT_OK)
        return s;
    b = &p->open[block];
    b->based[low] = true;
    *base = b->begin + low;
    for (unsigned k = node->count; k-- > 0;) {
        unsigned at = low ^ children[k].byte;

        b->taken[at / 64] |= (uint64_t)1 << at % 64;
        p->out->units[b->begin + at] = (struct token_unit) { TOKEN_NO_CHILD, info_of(&children[k]) };
        if (children[k].count > 0)
            stack[(*depth)++] = (struct pending) { node->first + k, b->begin + at };
    }
    return s;
}

static enum leat_status pack(struct packing *p, struct pending *stack)
{
    size_t depth = 0;
    enum leat_status s = LEAT_OK;

    if (p->from->nodes[TRIE_ROOT].count > 0)
        s = place(p, &p->from->nodes[TRIE_ROOT], &p->out->root, stack, &depth);
    while (s == LEAT_OK && depth > 0) {
        struct pending next = stack[--depth];
        uint32_t base;

        s = place(p, &p->from->nodes[next.node], &base, stack, &depth);
        if (s == LEAT_OK)
            p->out->units[next.unit].base = base;
    }
    while (p->open_count > 0)
        close_block(p, p->open_count - 1);
    return s;
}

enum leat_status token_trie_make(struct token_trie *out, const struct trie *from, struct leat_error *err)
{
    struct packing p = { .out = out, .from = from, .err = err };
    struct pending *stack = malloc(from->count * sizeof *stack);
    enum leat_status s;

    *out = (struct token_trie) { .root = TOKEN_NO_CHILD };
    s = stack ? pack(&p, stack) : status_no_memory(err, from->count * sizeof *stack);
    free(stack);
    if (s != LEAT_OK)
        token_trie_free(out);
    return s;
}

void token_trie_free(struct token_trie *t)
{
    free(t->units);
    *t = (struct token_trie) { .root = TOKEN_NO_CHILD };
}

uint32_t token_trie_find(const struct token_trie *t, const uint8_t *text, size_t bytes)
{
    uint32_t base = t->root, number = TOKEN_NONE;

    for (size_t i = 0; i < bytes; i++)
        if (!token_step(t, &base, text[i], &number))
            return TOKEN_NONE;
    return number;
}
