/*
 * string_finder.c: see string_finder.h. A trie, walked from each place whose first byte begins a string; a text without
 * such bytes is passed at the speed of a table look-up, and a few first bytes at that of vectors, one alone at that of
 * memchr.
 */
#include "string_finder.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"

#define NO_NODE   0u /* the root is not a child */
#define NO_NUMBER UINT32_MAX

/* First bytes of strings, searched in blocks if there are no more than so many. */
#define FEW   8u
#define BLOCK 64u

struct node {
    uint32_t child, sibling; /* first child; next node under the same parent */
    uint32_t number;         /* of the string that ends here */
    uint8_t byte;
};

struct string_finder {
    struct node *nodes;
    size_t count, room;
    size_t longest;
    uint32_t roots[256]; /* the child of the root by byte */
    uint8_t begins[256]; /* 1: there is one */
    unsigned firsts;     /* such bytes; the first of them are: */
    uint8_t first[FEW];
};

static enum leat_status new_node(struct string_finder *f, uint8_t byte, uint32_t *out, struct leat_error *err)
{
    if (f->count == f->room) {
        size_t room = f->room ? 2 * f->room : 256;
        struct node *nodes = room <= UINT32_MAX ? realloc(f->nodes, room * sizeof *nodes) : NULL;

        if (!nodes)
            return status_no_memory(err, room * sizeof *nodes);
        f->nodes = nodes;
        f->room = room;
    }
    f->nodes[f->count] = (struct node) { NO_NODE, NO_NODE, NO_NUMBER, byte };
    *out = (uint32_t)f->count++;
    return LEAT_OK;
}

enum leat_status string_finder_make(struct string_finder **out, struct leat_error *err)
{
    struct string_finder *f = calloc(1, sizeof *f);
    uint32_t root;
    enum leat_status s = f ? new_node(f, 0, &root, err) : status_no_memory(err, sizeof *f);

    *out = NULL;
    if (s != LEAT_OK) {
        string_finder_free(f);
        return s;
    }
    *out = f;
    return LEAT_OK;
}

void string_finder_free(struct string_finder *f)
{
    if (f)
        free(f->nodes);
    free(f);
}

static uint32_t child_of(const struct string_finder *f, uint32_t node, uint8_t byte)
{
    uint32_t child = f->nodes[node].child;

    while (child != NO_NODE && f->nodes[child].byte != byte)
        child = f->nodes[child].sibling;
    return child;
}

enum leat_status string_finder_add(struct string_finder *f, const uint8_t *text, size_t bytes, uint32_t number,
                                   struct leat_error *err)
{
    uint32_t node = 0;

    for (size_t i = 0; i < bytes; i++) {
        uint32_t child = i == 0 ? f->roots[text[0]] : child_of(f, node, text[i]);

        if (child == NO_NODE) {
            enum leat_status s = new_node(f, text[i], &child, err);

            if (s != LEAT_OK)
                return s;
            if (i == 0) {
                f->roots[text[0]] = child;
                f->begins[text[0]] = 1;
                if (f->firsts++ < FEW)
                    f->first[f->firsts - 1] = text[0];
            } else {
                f->nodes[child].sibling = f->nodes[node].child;
                f->nodes[node].child = child;
            }
        }
        node = child;
    }
    if (f->nodes[node].number != NO_NUMBER)
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "two added tokens have the same text \"%.*s\", which is not supported",
                          (int)(bytes < 60 ? bytes : 60), (const char *)text);
    if (node != 0)
        f->nodes[node].number = number;
    if (bytes > f->longest)
        f->longest = bytes;
    return LEAT_OK;
}

/* The longest string that begins at text[at]; its end, or 0. */
static size_t match_at(const struct string_finder *f, const uint8_t *text, size_t bytes, size_t at, uint32_t *number)
{
    uint32_t node = f->roots[text[at]];
    size_t end = 0;

    while (node != NO_NODE) {
        at++;
        if (f->nodes[node].number != NO_NUMBER) {
            end = at;
            *number = f->nodes[node].number;
        }
        node = at < bytes ? child_of(f, node, text[at]) : NO_NODE;
    }
    return end;
}

/* Bits for the bytes of a block that strings begin with: what compilers make vectors of. */
static uint64_t firsts_in_block(const struct string_finder *f, const uint8_t *text)
{
    uint8_t is[BLOCK] = { 0 }, any = 0;
    uint64_t bits = 0;

    for (unsigned k = 0; k < f->firsts; k++)
        for (unsigned i = 0; i < BLOCK; i++)
            is[i] |= text[i] == f->first[k];
    for (unsigned i = 0; i < BLOCK; i++)
        any |= is[i];
    for (unsigned i = 0; any && i < BLOCK; i += 8)
        bits |= (bytes_load64(is + i) * 0x0102040810204080u >> 56) << i;
    return bits;
}

/* The next byte that a string begins with; `bytes` if none follows. */
static size_t next_first(const struct string_finder *f, const uint8_t *text, size_t bytes, size_t at)
{
    if (f->firsts == 1) {
        const uint8_t *found = memchr(text + at, f->first[0], bytes - at);

        return found ? (size_t)(found - text) : bytes;
    }
    while (bytes - at >= 4 &&
           !(f->begins[text[at]] | f->begins[text[at + 1]] | f->begins[text[at + 2]] | f->begins[text[at + 3]]))
        at += 4;
    while (at < bytes && !f->begins[text[at]])
        at++;
    return at;
}

/* Searches the block that begins at s->block; bytes before s->from do not count. */
static uint64_t firsts_from(const struct string_search *s)
{
    return s->from > s->block ? s->firsts & ~(uint64_t)0 << (s->from - s->block) : s->firsts;
}

/* Goes through all whole blocks from s->from on; false, with *start after them, if no match begins in any. */
static bool find_in_blocks(const struct string_finder *f, struct string_search *s, size_t *start, size_t *end,
                           uint32_t *number)
{
    if (s->from < s->block || s->from - s->block >= BLOCK || s->firsts == 0) {
        s->block = s->from;
        s->firsts = s->bytes - s->block >= BLOCK ? firsts_in_block(f, s->text + s->block) : 0;
    }
    while (s->bytes - s->block >= BLOCK) {
        for (uint64_t firsts = firsts_from(s); firsts; firsts &= firsts - 1) {
            *start = s->block + (size_t)__builtin_ctzll(firsts);
            *end = match_at(f, s->text, s->bytes, *start, number);
            if (*end > 0)
                return true;
        }
        s->block += BLOCK;
        s->firsts = s->bytes - s->block >= BLOCK ? firsts_in_block(f, s->text + s->block) : 0;
    }
    *start = s->block;
    return false;
}

bool string_finder_next(const struct string_finder *f, struct string_search *s, size_t *start, size_t *end,
                        uint32_t *number)
{
    size_t at = s->from;

    if (f->firsts > 1 && f->firsts <= FEW && at <= s->bytes) {
        if (find_in_blocks(f, s, start, end, number))
            return true;
        at = *start > at ? *start : at;
    }
    for (; f->firsts > 0 && at < s->bytes && (at = next_first(f, s->text, s->bytes, at)) < s->bytes; at++) {
        *end = match_at(f, s->text, s->bytes, at, number);
        if (*end > 0) {
            *start = at;
            return true;
        }
    }
    return false;
}

size_t string_finder_longest(const struct string_finder *f)
{
    return f->longest;
}
