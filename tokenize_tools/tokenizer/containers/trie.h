/*
 * trie.h: strings as a tree of their bytes, each with a number. Strings are added, several times as fast if they come
 * in the order of their bytes; then the tree is sealed. The children of a node of a sealed tree lie side by side, in
 * the order of their bytes, so that a step takes at most eight comparisons. A node's place is before those of its
 * children, and of all nodes further from the root.
 */
#ifndef LEAT_TOKENIZER_TRIE_H
#define LEAT_TOKENIZER_TRIE_H

#include <stddef.h>
#include <stdint.h>

#include "leat.h"

#define TRIE_ROOT      0u
#define TRIE_NONE      0u /* number of no node: the root is nobody's child */
#define TRIE_NO_NUMBER UINT32_MAX

struct trie_node {
    uint32_t first;  /* the first child */
    uint32_t number; /* number of the string that ends here, or TRIE_NO_NUMBER */
    uint16_t count;  /* number of children */
    uint8_t byte;
};

/* A tree, zeroed while it is empty. */
struct trie {
    struct trie_node *nodes; /* set once it is sealed */
    struct trie_made *made;  /* used before */
    size_t count, room;
};

/* Adds a string, which is not empty. If the string is there already, changes nothing, and sets *known to its number;
 * else sets *known to TRIE_NO_NUMBER. */
enum leat_status trie_add(struct trie *t, const uint8_t *text, size_t bytes, uint32_t number, uint32_t *known,
                          struct leat_error *err);
enum leat_status trie_seal(struct trie *t, struct leat_error *err);
void trie_free(struct trie *t);

/* Returns the child of a node of a sealed tree, or TRIE_NONE. */
static inline uint32_t trie_child(const struct trie *t, uint32_t node, uint8_t byte)
{
    const struct trie_node *n = &t->nodes[node];
    uint32_t low = n->first, count = n->count;

    while (count > 1) {
        uint32_t half = count / 2;

        low += t->nodes[low + half].byte <= byte ? half : 0;
        count -= half;
    }
    return count == 1 && t->nodes[low].byte == byte ? low : TRIE_NONE;
}

#endif
