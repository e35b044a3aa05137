/*
 * char_cuts.h: where a pretoken of bytes may be cut further without changing anything: no product of a merge reaches
 * across two neighbouring characters if no token has them side by side. A token may begin and end within a character,
 * so it may hold only a part of either. Pretokens never seen before become parts that were seen.
 *
 * Cuts are made only before characters that are not ASCII: words of ASCII hardly ever have a pair that no token has.
 */
#ifndef LEAT_TOKENIZER_CHAR_CUTS_H
#define LEAT_TOKENIZER_CHAR_CUTS_H

#include <stdbool.h>

#include "base/bytes.h"
#include "tokenizer/spec/spec.h"

struct char_cuts {
    bool long_only; /* pretokens have been cut already: the cache has nearly all that are not long */
    /* of two whole characters: words by hash of the first and of where the second is, bits by its last six bits. So
     * those of an alphabet lie in few of the CPU's lines */
    uint64_t *pairs;
    unsigned shift; /* of a hash */
    /* by the last byte before the place, bits by that after it, which is not ASCII: where tokens hold a part only */
    uint64_t partial[256];
    bool has_partial;     /* else none does */
    uint8_t bits[256][8]; /* the places of the bits of a byte, for vectors */
};

/* If only long pretokens are cut, those of at most this many bytes are left as they are. */
#define CHAR_CUTS_MIN 15

/* Bits of a hash: of the character before, of the one after. */
#define CHAR_CUTS_BEFORE 0x9e3779b1u
#define CHAR_CUTS_AFTER  0x85ebca77u

/* Nothing in it yet: of tokens that hold whole characters only. */
enum leat_status char_cuts_begin(struct char_cuts *c, struct leat_error *err);

/* Nothing is added any more: makes the table as small as it may be. */
void char_cuts_end(struct char_cuts *c);

/* Makes the table of a byte-level spec. */
enum leat_status char_cuts_make(struct char_cuts *c, const struct tokenizer_spec *spec, struct leat_error *err);
void char_cuts_free(struct char_cuts *c);

/* How many bytes a character has, by its first. */
static inline unsigned char_cuts_length(uint8_t first)
{
    return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* A character as a word: its bytes, the first lowest. `room` bytes can be read. */
static inline uint32_t char_cuts_load(const uint8_t *text, unsigned length, size_t room)
{
    uint32_t word = 0;

    if (room >= 4)
        return bytes_load32(text) & UINT32_MAX >> (32 - 8 * length);
    for (unsigned i = 0; i < length; i++)
        word |= (uint32_t)text[i] << 8 * i;
    return word;
}

/* Which word has a pair. `where`: the second character without its last six bits. */
static inline uint32_t char_cuts_hash(const struct char_cuts *c, uint32_t before, uint32_t where)
{
    return (before * CHAR_CUTS_BEFORE + where * CHAR_CUTS_AFTER) >> c->shift;
}

/* Where a character's last byte is in its word. */
static inline unsigned char_cuts_last(uint32_t character)
{
    return (31 - (unsigned)__builtin_clz(character | 1)) & 24;
}

static inline uint64_t *char_cuts_word(const struct char_cuts *c, uint32_t before, uint32_t after)
{
    return &c->pairs[char_cuts_hash(c, before, after & ~((uint32_t)63 << char_cuts_last(after)))];
}

static inline void char_cuts_add(struct char_cuts *c, uint32_t before, uint32_t after)
{
    *char_cuts_word(c, before, after) |= (uint64_t)1 << (after >> char_cuts_last(after) & 63);
}

/* Whether there may be a cut between two whole characters, of tokens that hold only such. */
static inline bool char_cuts_safe_whole(const struct char_cuts *c, uint32_t before, uint32_t after)
{
    return !(*char_cuts_word(c, before, after) >> (after >> char_cuts_last(after) & 63) & 1);
}

/* Whether there may be a cut between two characters; the second is not ASCII. `last`: the byte before the place. */
static inline bool char_cuts_safe(const struct char_cuts *c, uint32_t before, uint8_t last, uint32_t after)
{
    return char_cuts_safe_whole(c, before, after) && !(c->partial[last] >> (after & 63) & 1);
}

#endif
