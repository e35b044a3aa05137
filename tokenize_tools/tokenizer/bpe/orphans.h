/*
 * orphans.h: tokens that do not come about when their own text is merged. Where a pretoken that is a token is taken as
 * it stands, these are the only ones for which that makes a difference: Llama 3 has 588 of them, most vocabularies have
 * none. So only of a pretoken whose text may be one of them need it be asked, and a part of a pretoken must be told
 * from a pretoken of the same text only then.
 */
#ifndef LEAT_TOKENIZER_ORPHANS_H
#define LEAT_TOKENIZER_ORPHANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORPHAN_BITS 14

struct orphans {
    uint32_t maybe[1 << (ORPHAN_BITS - 5)]; /* bits by hash of the text: the set ones may be one */
    uint64_t *tokens;                       /* bits by place in the vocabulary */
};

static inline uint32_t orphan_hash(const uint8_t *text, size_t bytes)
{
    uint32_t some = text[0] | (uint32_t)text[bytes / 2] << 8 | (uint32_t)text[bytes - 1] << 16 | (uint32_t)bytes << 24;

    return some * 0x9e3779b1u >> (32 - ORPHAN_BITS);
}

/* Whether a text of at least one byte may be such a token. */
static inline bool orphan_maybe(const struct orphans *o, const uint8_t *text, size_t bytes)
{
    uint32_t bit = orphan_hash(text, bytes);

    return o->maybe[bit / 32] >> bit % 32 & 1;
}

static inline bool orphan_is(const struct orphans *o, uint32_t place)
{
    return o->tokens[place / 64] >> place % 64 & 1;
}

#endif
