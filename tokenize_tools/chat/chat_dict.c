/*
 * chat_dict.c: dicts. Their pairs stand in the order in which they came; a few are looked through. More have a tree
 * above them, so that objects of very many members take no quadratic time, whatever their keys: each branch names the
 * first bit in which the keys below it differ, and looking up a key reads one bit per branch. A key of n characters has
 * 32 n bits, so that no choice of keys makes a path longer than that.
 */
#include <string.h>

#include "base/status.h"
#include "chat_value.h"

#define FEW 8u

/* A number below `count` of pairs is a pair, others are branches. */
struct chat_branch {
    uint64_t bit;
    uint32_t below[2]; /* a pair i: 2 i; branch i: 2 i + 1 */
};

/* Bit n of a key: 32 for each character, which is never 0 here, so that an end is not a character. */
static bool bit_of(struct chat_string key, uint64_t n)
{
    uint64_t at = n / 32;

    return at < key.count && (((key.codes[at] & CHAT_CODE) + 1) >> (31 - n % 32) & 1);
}

static uint32_t closest(const struct chat_dict *d, struct chat_string key)
{
    uint32_t at = d->count > 1 ? 1 : 0; /* the root is branch 0 */

    while (at & 1)
        at = d->branches[at / 2].below[bit_of(key, d->branches[at / 2].bit)];
    return at / 2;
}

struct chat_value *chat_dict_find(const struct chat_dict *d, struct chat_string key)
{
    if (d->branches) {
        struct chat_pair *pair = &d->pairs[closest(d, key)];

        return chat_string_equal(pair->key, key) ? &pair->value : NULL;
    }
    for (size_t i = 0; i < d->count; i++)
        if (chat_string_equal(d->pairs[i].key, key))
            return &d->pairs[i].value;
    return NULL;
}

/* The first bit in which two different keys differ. */
static uint64_t first_difference(struct chat_string a, struct chat_string b)
{
    size_t i = 0;
    uint32_t x, y;

    while (i < a.count && i < b.count && (a.codes[i] & CHAT_CODE) == (b.codes[i] & CHAT_CODE))
        i++;
    x = i < a.count ? (a.codes[i] & CHAT_CODE) + 1 : 0;
    y = i < b.count ? (b.codes[i] & CHAT_CODE) + 1 : 0;
    return 32 * (uint64_t)i + (uint64_t)__builtin_clz(x ^ y);
}

/* Puts pair `i` into the tree of the pairs before it. The new branch takes the number i - 1; the root keeps 0. */
static void put_into_tree(struct chat_dict *d, size_t i)
{
    struct chat_string key = d->pairs[i].key;
    struct chat_branch *new = &d->branches[i - 1], *b = d->branches;
    uint32_t at = 1, *from = &at;
    uint64_t bit;

    d->count = i; /* of those that are in it */
    bit = first_difference(d->pairs[closest(d, key)].key, key);
    if (i == 1)
        at = 0;
    while (*from & 1 && b[*from / 2].bit < bit)
        from = &b[*from / 2].below[bit_of(key, b[*from / 2].bit)];
    *new = (struct chat_branch) { .bit = bit };
    new->below[bit_of(key, bit)] = (uint32_t)(2 * i);
    new->below[!bit_of(key, bit)] = *from;
    if (from != &at) {
        *from = (uint32_t)(2 * (i - 1) + 1);
    } else if (i > 1) { /* it becomes the root: the one before moves to its place */
        struct chat_branch old = b[0];

        b[0] = *new;
        b[0].below[!bit_of(key, bit)] = (uint32_t)(2 * (i - 1) + 1);
        *new = old;
    }
}

static enum leat_status grow(struct chat_arena *a, struct chat_dict *d, struct leat_error *err)
{
    size_t room = 2 * d->room + FEW / 2, count = d->count;
    struct chat_pair *pairs = chat_arena_get(a, room * sizeof *pairs, err);
    struct chat_branch *branches = NULL;

    if (pairs && room > FEW)
        branches = chat_arena_get(a, room * sizeof *branches, err);
    if (!pairs || (room > FEW && !branches))
        return err->status;
    if (count > 0)
        memcpy(pairs, d->pairs, count * sizeof *pairs);
    if (d->branches && branches)
        memcpy(branches, d->branches, (count - 1) * sizeof *branches);
    d->pairs = pairs;
    d->room = room;
    if (!branches)
        return LEAT_OK;
    if (!d->branches) {
        d->branches = branches;
        for (size_t i = 1; i < count; i++)
            put_into_tree(d, i);
        d->count = count;
    }
    d->branches = branches;
    return LEAT_OK;
}

enum leat_status chat_dict_set(struct chat_arena *a, struct chat_dict *d, struct chat_string key,
                               const struct chat_value *value, struct leat_error *err)
{
    struct chat_value *old = chat_dict_find(d, key);

    if (old) {
        *old = *value;
        return LEAT_OK;
    }
    if (d->count == d->room && grow(a, d, err) != LEAT_OK)
        return err->status;
    d->pairs[d->count] = (struct chat_pair) { key, *value };
    if (d->branches && d->count > 0)
        put_into_tree(d, d->count);
    d->count++;
    return LEAT_OK;
}
