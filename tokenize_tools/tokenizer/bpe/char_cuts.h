/*
 * char_cuts.h: finds places at which a pretoken of bytes may be cut without changing its ids: no merge joins two
 * neighbouring characters if no token has them side by side. A token may begin and end within a character, so it may
 * hold only a part of either. So a new pretoken becomes parts that the cache knows.
 *
 * Cuts are made only before characters that are not ASCII: words of ASCII hardly ever have a pair that no token has.
 */
#ifndef LEAT_TOKENIZER_CHAR_CUTS_H
#define LEAT_TOKENIZER_CHAR_CUTS_H

#include <stdbool.h>

#include "base/bytes.h"
#include "tokenizer/spec/spec.h"

struct char_cuts {
    bool long_only; /* true if only long pretokens are cut, because the cache has nearly all short ones */
    /* Pairs of whole characters that a token has side by side: a word by the hash of the first and of the second
     * without its last six bits, and a bit by these. So pairs of one alphabet lie in few lines of the CPU's cache. */
    uint64_t *pairs;
    unsigned shift; /* shift that makes a place of a hash */
    /* Pairs of which a token holds only a part: a word by the last byte of the first character, a bit by the first byte
     * of the second, which is not ASCII. */
    uint64_t partial[256];
    bool has_partial;     /* false if `partial` is zero */
    uint8_t bits[256][8]; /* places of the bits of a byte, for vectors */
};

/* The most bytes of a short pretoken: models that only cut long pretokens leave it whole. */
#define CHAR_CUTS_MIN 15

/* The factors of a hash, for the character before and the one after. */
#define CHAR_CUTS_BEFORE 0x9e3779b1u
#define CHAR_CUTS_AFTER  0x85ebca77u

/* Makes an empty table, for tokens of whole characters. */
enum leat_status char_cuts_begin(struct char_cuts *c, struct leat_error *err);

/* Makes the table as small as possible, after the last pair was added. */
void char_cuts_end(struct char_cuts *c);

/* Makes the table of a byte-level spec. */
enum leat_status char_cuts_make(struct char_cuts *c, const struct tokenizer_spec *spec, struct leat_error *err);
void char_cuts_free(struct char_cuts *c);

/* Returns the length of a character by its first byte. */
static inline unsigned char_cuts_length(uint8_t first)
{
    return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* Returns the bytes of a character as a word, the first lowest. `room` bytes can be read. */
static inline uint32_t char_cuts_load(const uint8_t *text, unsigned length, size_t room)
{
    uint32_t word = 0;

    if (room >= 4)
        return bytes_load32(text) & UINT32_MAX >> (32 - 8 * length);
    for (unsigned i = 0; i < length; i++)
        word |= (uint32_t)text[i] << 8 * i;
    return word;
}

/* Returns the number of the word of a pair. `where` is the second character without its last six bits. */
static inline uint32_t char_cuts_hash(const struct char_cuts *c, uint32_t before, uint32_t where)
{
    return (before * CHAR_CUTS_BEFORE + where * CHAR_CUTS_AFTER) >> c->shift;
}

/* Returns the place of a character's last byte in its word, in bits. */
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

/* Returns true if two characters may be cut apart, if tokens hold whole characters only. */
static inline bool char_cuts_safe_whole(const struct char_cuts *c, uint32_t before, uint32_t after)
{
    return !(*char_cuts_word(c, before, after) >> (after >> char_cuts_last(after) & 63) & 1);
}

/* Returns true if two characters may be cut apart. The second is not ASCII; `last` is the first one's last byte. */
static inline bool char_cuts_safe(const struct char_cuts *c, uint32_t before, uint8_t last, uint32_t after)
{
    return char_cuts_safe_whole(c, before, after) && !(c->partial[last] >> (after & 63) & 1);
}

#endif
