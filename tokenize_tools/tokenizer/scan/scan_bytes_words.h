/* scan_bytes_words.h: 64 bytes as words of eight, for every machine; part of scan_bytes.h. */
#ifndef LEAT_TOKENIZER_SCAN_BYTES_WORDS_H
#define LEAT_TOKENIZER_SCAN_BYTES_WORDS_H

/* Returns the bytes in [first, last], both below 0x80. `fold` is OR-ed to each byte before. */
SCAN_INLINE uint64_t scan_words_between(const bytes64 *b, uint8_t first, uint8_t last, uint8_t fold)
{
    uint64_t mask = 0;

    for (unsigned i = 0; i < 8; i++) {
        uint64_t x = b->words[i] | BYTES_EACH(fold);

        mask |= bytes64_word_mask(bytes64_word_from(x, first) & ~bytes64_word_from(x, last + 1)) << 8 * i;
    }
    return mask;
}

SCAN_INLINE struct scan_ascii scan_bytes_ascii(bytes64 b)
{
    struct scan_ascii a = {
        .letters = scan_words_between(&b, 'a', 'z', 0x20),
        .digits = scan_words_between(&b, '0', '9', 0),
        .newlines = bytes64_equal(b, '\n') | bytes64_equal(b, '\r'),
        .spaces = bytes64_equal(b, ' '),
        .quotes = bytes64_equal(b, '\''),
        .slashes = bytes64_equal(b, '/'),
    };

    a.white = scan_words_between(&b, '\t', '\r', 0) | a.spaces;
    a.controls = (~bytes64_from(b, 0x20) & ~a.white) | bytes64_equal(b, 0x7f);
    return a;
}

/* ---- Boxes of characters: none is decided without a look-up ---- */

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
