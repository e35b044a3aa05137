/* trie.c: see trie.h. */
#include "trie.h"

#include <stdlib.h>

#include "base/status.h"

static enum leat_status new_node(struct trie *t, uint8_t byte, uint32_t *out, struct leat_error *err)
{
    if (t->count == t->room) {
        size_t room = t->room ? 2 * t->room : 256;
        struct trie_node *nodes = room <= UINT32_MAX ? realloc(t->nodes, room * sizeof *nodes) : NULL;
        uint32_t *siblings;

        if (!nodes)
            return status_no_memory(err, room * sizeof *nodes);
        t->nodes = nodes;
        siblings = realloc(t->siblings, room * sizeof *siblings);
        if (!siblings)
            return status_no_memory(err, room * sizeof *siblings);
        t->siblings = siblings;
        siblings = realloc(t->last, room * sizeof *siblings);
        if (!siblings)
            return status_no_memory(err, room * sizeof *siblings);
        t->last = siblings;
        t->room = room;
    }
    t->nodes[t->count] = (struct trie_node) { .number = TRIE_NO_NUMBER, .byte = byte };
    t->siblings[t->count] = t->last[t->count] = TRIE_NONE;
    *out = (uint32_t)t->count++;
    return LEAT_OK;
}

/* The child with this byte, made if it is not there. If strings come in the order of their bytes, it is the last one or
 * comes after it. */
static enum leat_status child_for(struct trie *t, uint32_t node, uint8_t byte, uint32_t *child, struct leat_error *err)
{
    uint32_t last = t->last[node], before = TRIE_NONE, after = t->nodes[node].first;
    enum leat_status s;

    if (last != TRIE_NONE && t->nodes[last].byte == byte) {
        *child = last;
        return LEAT_OK;
    }
    if (last != TRIE_NONE && t->nodes[last].byte < byte) {
        before = last;
        after = TRIE_NONE;
    }
    while (after != TRIE_NONE && t->nodes[after].byte < byte) {
        before = after;
        after = t->siblings[after];
    }
    *child = after;
    if (after != TRIE_NONE && t->nodes[after].byte == byte)
        return LEAT_OK;
    s = new_node(t, byte, child, err);
    if (s != LEAT_OK)
        return s;
    t->siblings[*child] = after;
    if (after == TRIE_NONE)
        t->last[node] = *child;
    *(before == TRIE_NONE ? &t->nodes[node].first : &t->siblings[before]) = *child;
    t->nodes[node].count++;
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
    *known = t->nodes[node].number;
    if (*known == TRIE_NO_NUMBER)
        t->nodes[node].number = number;
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
    nodes[TRIE_ROOT] = t->nodes[TRIE_ROOT];
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t child = nodes[i].first;

        nodes[i].first = count;
        for (; child != TRIE_NONE; child = t->siblings[child])
            nodes[count++] = t->nodes[child];
    }
    free(t->nodes);
    free(t->siblings);
    free(t->last);
    t->nodes = nodes;
    t->siblings = t->last = NULL;
    t->room = t->count;
    return LEAT_OK;
}

void trie_free(struct trie *t)
{
    free(t->nodes);
    free(t->siblings);
    free(t->last);
    *t = (struct trie) { 0 };
}
