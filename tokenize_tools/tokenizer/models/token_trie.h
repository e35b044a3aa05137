/*
 * token_trie.h: tokens as a tree of their bytes, packed for reading (a double array): a node's child of byte b is the
 * unit at (the node's base ^ b), if that unit has the byte b. So a step takes one load.
 */
#ifndef LEAT_TOKENIZER_TOKEN_TRIE_H
#define LEAT_TOKENIZER_TOKEN_TRIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat.h"
#include "tokenizer/containers/trie.h"
#include "tokenizer/spec/spec.h"

#define TOKEN_NONE     UINT32_MAX
#define TOKEN_MAX      ((1u << 24) - 2) /* greatest number of a token */
#define TOKEN_NO_CHILD 0u               /* base of a node without children */

struct token_unit {
    uint32_t base;
    uint32_t info; /* byte of the unit, and above it the number of the token that ends here plus 1, or 0 */
};

struct token_trie {
    struct token_unit *units;
    size_t count;
    uint32_t root; /* its base */
};

/* Packs a sealed trie, whose numbers are at most TOKEN_MAX. */
enum leat_status token_trie_make(struct token_trie *out, const struct trie *from, struct leat_error *err);

/* Returns true if a token is wanted. */
typedef bool token_wanted(const struct spec_token *t);

/* Packs the wanted tokens of a spec, with their places there as numbers. If several have one text, the last one counts
 * if `last_counts`, else the first. Sets *longest to the length of the longest one. */
enum leat_status token_trie_of_spec(struct token_trie *out, const struct tokenizer_spec *spec, token_wanted *wanted,
                                    bool last_counts, uint32_t *longest, struct leat_error *err);

/* Frees the trie; a zeroed or freed one is fine. */
void token_trie_free(struct token_trie *t);

/* Moves *base from a node to its child of this byte, and sets *number to the token that ends there, or TOKEN_NONE.
 * Returns false if there is no such child. */
static inline bool token_step(const struct token_trie *t, uint32_t *base, uint8_t byte, uint32_t *number)
{
    struct token_unit unit;

    if (*base == TOKEN_NO_CHILD)
        return false;
    unit = t->units[*base ^ byte];
    if ((uint8_t)unit.info != byte)
        return false;
    *base = unit.base;
    *number = (unit.info >> 8) - 1; /* 0 becomes TOKEN_NONE */
    return true;
}

/* Returns the token with exactly this text, or TOKEN_NONE. */
uint32_t token_trie_find(const struct token_trie *t, const uint8_t *text, size_t bytes);

#endif
