/* trie.c: adds strings to lists of children, and lays the nodes out level by level when the tree is sealed. */
#include "trie.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/status.h"

struct trie_made {
    struct trie_node node; /* node; `first` is the first of its list of children, which is sorted by byte */
    uint32_t sibling;      /* next node in the list */
    uint32_t last;         /* the last child */
};

static enum leat_status new_node(struct trie *t, uint8_t byte, uint32_t *out, struct leat_error *err)
{
    enum leat_status s = t->count < UINT32_MAX ? GROW(t->made, t->count + 1, t->room, err)
                                               : status_no_memory(err, t->count * sizeof *t->made);

    if (s != LEAT_OK)
        return s;
    t->made[t->count] = (struct trie_made) { .node = { .number = TRIE_NO_NUMBER, .byte = byte } };
    *out = (uint32_t)t->count++;
    return LEAT_OK;
}

/* Finds the child with this byte, and makes it if it is missing. If strings come in the order of their bytes, the
 * child is the last one or comes after it. */
static enum leat_status child_for(struct trie *t, uint32_t node, uint8_t byte, uint32_t *child, struct leat_error *err)
{
    uint32_t last = t->made[node].last, before = TRIE_NONE, after = t->made[node].node.first;
    enum leat_status s;

    if (last != TRIE_NONE && t->made[last].node.byte == byte) {
        *child = last;
        return LEAT_OK;
    }
    if (last != TRIE_NONE && t->made[last].node.byte < byte) {
        before = last;
        after = TRIE_NONE;
    }
    while (after != TRIE_NONE && t->made[after].node.byte < byte) {
        before = after;
        after = t->made[after].sibling;
    }
    *child = after;
    if (after != TRIE_NONE && t->made[after].node.byte == byte)
        return LEAT_OK;
    s = new_node(t, byte, child, err);
    if (s != LEAT_OK)
        return s;
    t->made[*child].sibling = after;
    if (after == TRIE_NONE)
        t->made[node].last = *child;
    *(before == TRIE_NONE ? &t->made[node].node.first : &t->made[before].sibling) = *child;
    t->made[node].node.count++;
    return LEAT_OK;
}

enum leat_status trie_add(struct trie *t, const uint8_t *text, size_t bytes, uint32_t number, uint32_t *known,
                          struct leat_error *err)
{
    uint32_t node = TRIE_ROOT;
    enum leat_status s = t->count > 0 ? LEAT_OK : new_node(t, 0, &node, err);

    for (size_t i = 0; s == LEAT_OK && i < bytes; i++)
        s = child_for(t, node, text[i], &node, err);
    if (s != LEAT_OK)
        return s;
    *known = t->made[node].node.number;
    if (*known == TRIE_NO_NUMBER)
        t->made[node].node.number = number;
    return LEAT_OK;
}

/* Numbers the nodes anew, by their distance from the root. */
enum leat_status trie_seal(struct trie *t, struct leat_error *err)
{
    uint32_t root, count = 1;
    enum leat_status s = t->count > 0 ? LEAT_OK : new_node(t, 0, &root, err);
    struct trie_node *nodes;

    if (s != LEAT_OK)
        return s;
    nodes = malloc(t->count * sizeof *nodes);
    if (!nodes)
        return status_no_memory(err, t->count * sizeof *nodes);
    nodes[TRIE_ROOT] = t->made[TRIE_ROOT].node;
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t child = nodes[i].first;

        nodes[i].first = count;
        for (; child != TRIE_NONE; child = t->made[child].sibling)
            nodes[count++] = t->made[child].node;
    }
    free(t->made);
    t->made = NULL;
    t->nodes = nodes;
    t->room = 0;
    return LEAT_OK;
}

void trie_free(struct trie *t)
{
    free(t->nodes);
    free(t->made);
    *t = (struct trie) { 0 };
}
