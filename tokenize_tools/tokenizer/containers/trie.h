/*
 * trie.h: strings as a tree of their bytes, each with a number. It is made by adding strings, and sealed; adding is
 * several times as fast if they come in the order of their bytes. Once it is sealed, the
 * children of a node lie side by side, in the order of their bytes, so that no step takes longer than eight comparisons
 * whatever the strings. A node's number is below those of its children, and of all nodes further from the root.
 */
#ifndef LEAT_TOKENIZER_TRIE_H
#define LEAT_TOKENIZER_TRIE_H

#include <stddef.h>
#include <stdint.h>

#include "leat.h"

#define TRIE_ROOT      0u
#define TRIE_NONE      0u /* the root is nobody's child */
#define TRIE_NO_NUMBER UINT32_MAX

struct trie_node {
    uint32_t first;  /* child */
    uint32_t number; /* of the string that ends here */
    uint16_t count;  /* of children */
    uint8_t byte;
};

/* All zero: empty, to be added to. */
struct trie {
    struct trie_node *nodes; /* once it is sealed */
    struct trie_made *made;  /* before */
    size_t count, room;
};

/* *known is the number of an equal string that is there already, which stays; else TRIE_NO_NUMBER. The string is not
 * empty. */
enum leat_status trie_add(struct trie *t, const uint8_t *text, size_t bytes, uint32_t number, uint32_t *known,
                          struct leat_error *err);
enum leat_status trie_seal(struct trie *t, struct leat_error *err);
void trie_free(struct trie *t);

/* The child of a node of a sealed one, or TRIE_NONE. */
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
