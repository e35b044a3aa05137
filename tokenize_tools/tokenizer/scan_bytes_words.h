/* scan_bytes_words.h: 64 bytes as words of eight, for every machine; see scan_bytes.h. */
#ifndef LEAT_TOKENIZER_SCAN_BYTES_WORDS_H
#define LEAT_TOKENIZER_SCAN_BYTES_WORDS_H

#include "scan_ascii.h"

typedef struct {
    uint64_t words[8];
} scan_bytes;

/* The top bits of eight bytes, the first one lowest. */
SCAN_INLINE uint64_t scan_word_mask(uint64_t top)
{
    return (top >> 7 & SCAN_BYTES(1)) * UINT64_C(0x0102040810204080) >> 56;
}

/* The top bit of each byte that is `c` or more. Of both the low seven bits are compared; they decide where the top bits
 * are the same. */
SCAN_INLINE uint64_t scan_word_from(uint64_t x, uint8_t c)
{
    uint64_t low = (x & SCAN_BYTES(0x7f)) + SCAN_BYTES(0x80u - (c & 0x7fu));

    return c < 0x80 ? low | x : low & x;
}

SCAN_INLINE scan_bytes scan_bytes_load(const uint8_t *p)
{
    scan_bytes b;

    for (unsigned i = 0; i < 8; i++)
        b.words[i] = bytes_load64(p + 8 * i);
    return b;
}

SCAN_INLINE uint64_t scan_bytes_from(scan_bytes b, uint8_t c)
{
    uint64_t mask = 0;

    for (unsigned i = 0; i < 8; i++)
        mask |= scan_word_mask(scan_word_from(b.words[i], c)) << 8 * i;
    return mask;
}

SCAN_INLINE uint64_t scan_bytes_equal(scan_bytes b, uint8_t c)
{
    uint64_t mask = 0;

    for (unsigned i = 0; i < 8; i++)
        mask |= scan_word_mask(~scan_word_from(b.words[i] ^ SCAN_BYTES(c), 1)) << 8 * i;
    return mask;
}

SCAN_INLINE uint64_t scan_bytes_high(scan_bytes b)
{
    uint64_t mask = 0;

    for (unsigned i = 0; i < 8; i++)
        mask |= scan_word_mask(b.words[i]) << 8 * i;
    return mask;
}

/* In [first, last], both below 0x80; `fold` is OR-ed to each byte before. */
SCAN_INLINE uint64_t scan_words_between(const scan_bytes *b, uint8_t first, uint8_t last, uint8_t fold)
{
    uint64_t mask = 0;

    for (unsigned i = 0; i < 8; i++) {
        uint64_t x = b->words[i] | SCAN_BYTES(fold);

        mask |= scan_word_mask(scan_word_from(x, first) & ~scan_word_from(x, last + 1)) << 8 * i;
    }
    return mask;
}

SCAN_INLINE struct scan_ascii scan_bytes_ascii(scan_bytes b)
{
    struct scan_ascii a = {
        .letters = scan_words_between(&b, 'a', 'z', 0x20),
        .digits = scan_words_between(&b, '0', '9', 0),
        .newlines = scan_bytes_equal(b, '\n') | scan_bytes_equal(b, '\r'),
        .spaces = scan_bytes_equal(b, ' '),
        .quotes = scan_bytes_equal(b, '\''),
        .slashes = scan_bytes_equal(b, '/'),
    };

    a.white = scan_words_between(&b, '\t', '\r', 0) | a.spaces;
    a.controls = (~scan_bytes_from(b, 0x20) & ~a.white) | scan_bytes_equal(b, 0x7f);
    return a;
}

/* ---- Sets of characters: none is told without a look-up ---- */

struct scan_chars {
    uint8_t none;
};

typedef uint8_t scan_codes;

SCAN_INLINE struct scan_chars scan_chars_load(const uint8_t *p)
{
    (void)p;
    return (struct scan_chars) { 0 };
}

SCAN_INLINE scan_codes scan_chars_sets(const struct scan_chars *c, const uint8_t (*rows)[16])
{
    (void)c;
    (void)rows;
    return 0;
}

SCAN_INLINE uint64_t scan_codes_with(scan_codes codes, int bits)
{
    (void)codes;
    (void)bits;
    return 0;
}

/* ---- Lists of positions ---- */

SCAN_INLINE void scan_positions(uint32_t *ends, uint32_t base, uint64_t bits)
{
    scan_positions_by_bits(ends, base, bits);
}

#endif
