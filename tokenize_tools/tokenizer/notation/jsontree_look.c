/*
 * jsontree_look.c: what readers ask of a tree that jsontree.c has made.
 */
#include "jsontree.h"

#include <string.h>

#include "base/bytes.h"

bool jsontree_is(const struct jsontree *j, uint32_t node, const char *text)
{
    size_t length = strlen(text);
    struct jsontree_text t;

    if (j->nodes[node].kind != JSONTREE_STRING)
        return false;
    t = jsontree_string(j, node);
    return t.length == length && memcmp(t.bytes, text, length) == 0;
}

uint32_t jsontree_member(const struct jsontree *j, uint32_t object, const char *name)
{
    const struct jsontree_node *o = &j->nodes[object];
    uint32_t found = JSONTREE_NONE;

    if (o->kind != JSONTREE_OBJECT)
        return JSONTREE_NONE;
    for (uint32_t k = object + 1, end = jsontree_next(j, object); k < end; k = jsontree_next(j, k + 1))
        if (jsontree_is(j, k, name))
            found = k + 1;
    return found;
}

uint64_t jsontree_at(const struct jsontree *j, uint32_t node)
{
    const struct jsontree_node *n = &j->nodes[node];

    if (n->kind >= JSONTREE_ARRAY)
        return j->brackets[n->at].at;
    return n->escaped ? bytes_load32(j->unescaped.bytes + n->at - 4) : n->at;
}

bool jsontree_u64(const struct jsontree *j, uint32_t node, uint64_t *out)
{
    const struct jsontree_node *n = &j->nodes[node];
    const uint8_t *p = j->text + n->at;
    uint64_t v = 0;

    if (n->kind != JSONTREE_NUMBER || n->length > 20)
        return false;
    for (uint32_t i = 0; i < n->length; i++) {
        unsigned d = (unsigned)p[i] - '0';

        if (d > 9 || v > (UINT64_MAX - d) / 10)
            return false;
        v = v * 10 + d;
    }
    *out = v;
    return true;
}

const char *jsontree_kind_name(const struct jsontree *j, uint32_t node)
{
    static const char *const names[] = { "null", "false", "true", "a number", "a string", "an array", "an object" };

    return node == JSONTREE_NONE ? "missing" : names[j->nodes[node].kind];
}
