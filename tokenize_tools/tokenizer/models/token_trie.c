/* token_trie.c: finds room for the children of each node of a trie, node by node. */
#include "token_trie.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

/* ---- The order of tokens ----------------------------------------------------------------------------------------- */

/*
 * A token to be added. A trie is made several times faster from tokens in the order of their texts than in any other
 * (trie.h). Most texts differ in their first eight bytes, which are compared as a number; only for others the text
 * has to be fetched.
 */

struct entry {
    uint64_t head; /* the first eight bytes, the first one highest; zeros after a shorter text */
    uint32_t token;
};

struct comparing {
    const struct tokenizer_spec *spec;
    bool last_first;
};

static uint64_t head_of(const struct tokenizer_spec *spec, uint32_t token)
{
    const struct spec_token *t = &spec->tokens[token];
    const uint8_t *text = spec_token_bytes(spec, t);
    uint64_t head = 0;

    for (uint32_t i = 0; i < 8; i++)
        head = head << 8 | (i < t->length ? text[i] : 0);
    return head;
}

static int compare(const void *a, const void *b, void *context)
{
    const struct comparing *c = context;
    uint32_t one = ((const struct entry *)a)->token, two = ((const struct entry *)b)->token;
    const struct spec_token *x = &c->spec->tokens[one], *y = &c->spec->tokens[two];
    uint64_t head_one = ((const struct entry *)a)->head, head_two = ((const struct entry *)b)->head;
    uint32_t common = x->length < y->length ? x->length : y->length;
    int order = (head_one > head_two) - (head_one < head_two);

    if (order == 0)
        order = memcmp(spec_token_bytes(c->spec, x), spec_token_bytes(c->spec, y), common);
    if (order == 0)
        order = (x->length > y->length) - (x->length < y->length);
    if (order == 0)
        order = c->last_first ? (one < two) - (one > two) : (one > two) - (one < two);
    return order;
}

/* Lists the places of wanted tokens in the order of their bytes. If texts are equal, the last one comes first if
 * `last_first`. The caller frees the list. */
static enum leat_status make_order(uint32_t **order, uint32_t *count, const struct tokenizer_spec *spec,
                                   token_wanted *wanted, bool last_first, struct leat_error *err)
{
    size_t room = (size_t)spec->token_count + 1;
    struct entry *entries = malloc(room * sizeof *entries);
    struct comparing c = { spec, last_first };
    uint32_t n = 0;

    *order = malloc(room * sizeof **order);
    if (!entries || !*order) {
        free(entries);
        return status_no_memory(err, room * sizeof *entries);
    }
    for (uint32_t i = 0; i < spec->token_count; i++)
        if (wanted(&spec->tokens[i]))
            entries[n++] = (struct entry) { head_of(spec, i), i };
    qsort_r(entries, n, sizeof *entries, compare, &c);
    for (uint32_t i = 0; i < n; i++)
        (*order)[i] = entries[i].token;
    free(entries);
    *count = n;
    return LEAT_OK;
}

/* ---- The packed trie --------------------------------------------------------------------------------------------- */

/*
 * Packs nodes. They are placed one after another, depth first, so that a token's bytes lie close together. A node's
 * children need a base for which all their units are free; it is looked for in the last few blocks of 256 units,
 * which a base does not leave. No two nodes have one base, so a unit that carries the byte by which it was reached
 * is the right child. A unit that stays free carries the byte by which no base of its block reaches it.
 */

#define BLOCK        256u
#define OPEN_BLOCKS  16u
#define MAX_FAILURES 64u /* Failures after which a block counts as full: without a limit, loading is twice as slow. */

/* A block that still has room. */
struct block {
    uint32_t begin;
    uint32_t failures;
    uint64_t taken[BLOCK / 64]; /* a bit for each unit that is taken */
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

/* Gives free units a byte by which nothing reaches them. A block with a free unit has a free base, since each base
 * has a unit of its own; in the first block that is base 0, which no node has. */
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

/* Returns true if the children fit at a base of the block. */
static bool fits(const struct block *b, unsigned base, const struct trie_node *children, unsigned count)
{
    if (b->based[base])
        return false;
    for (unsigned k = 0; k < count; k++)
        if (is_taken(b, base ^ children[k].byte))
            return false;
    return true;
}

/* Finds a block and a base in it for the children; opens a block if none has one. */
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
    *base = p->open[*block].based[0]; /* base 0, or 1 in the first block */
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

/* ---- The trie of a spec ------------------------------------------------------------------------------------------ */

static enum leat_status add_tokens(struct trie *trie, const struct tokenizer_spec *spec, const uint32_t *order,
                                   uint32_t count, uint32_t *longest, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    uint32_t known;

    for (uint32_t i = 0; s == LEAT_OK && i < count; i++) {
        const struct spec_token *t = &spec->tokens[order[i]];

        s = trie_add(trie, spec_token_bytes(spec, t), t->length, order[i], &known, err);
        *longest = t->length > *longest ? t->length : *longest;
    }
    return s == LEAT_OK ? trie_seal(trie, err) : s;
}

enum leat_status token_trie_of_spec(struct token_trie *out, const struct tokenizer_spec *spec, token_wanted *wanted,
                                    bool last_counts, uint32_t *longest, struct leat_error *err)
{
    struct trie trie = { 0 };
    uint32_t *order = NULL, count = 0;
    enum leat_status s = make_order(&order, &count, spec, wanted, last_counts, err);

    *longest = 0;
    if (s == LEAT_OK)
        s = add_tokens(&trie, spec, order, count, longest, err);
    if (s == LEAT_OK)
        s = token_trie_make(out, &trie, err);
    free(order);
    trie_free(&trie);
    return s;
}
