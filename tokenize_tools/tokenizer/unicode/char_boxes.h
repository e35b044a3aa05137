/*
 * char_boxes.h: finds the sets that the characters of 64 bytes are in, for code that is compiled for each CPU level.
 *
 * A vector looks up 16 entries at once, by four bits of a byte. So vectors alone can test for a set of characters if it
 * is a box: each half of each of its first three bytes lies in a set of its own. A table of six rows has eight boxes, a
 * bit each: a character is in the boxes that the entries of all its halves have in common. The third byte of a
 * character of two bytes is the next byte of the text. scripts/gen_scan_tables.py and gen_normalize_boxes.py make the
 * tables.
 *
 *     char_halves_load(p)        the characters that begin at each of 64 bytes; two more bytes are read
 *     char_boxes(&halves, rows)  the boxes at each byte
 *
 * Without vectors (BYTES64_VECTORS), no character is in a box.
 */
#ifndef LEAT_TOKENIZER_CHAR_BOXES_H
#define LEAT_TOKENIZER_CHAR_BOXES_H

#include "base/bytes64.h"

#if BYTES64_VECTORS

/* The high and the low half of the first, second and third byte. */
struct char_halves {
    bytes64 halves[6];
};

typedef bytes64 char_codes;

BYTES_INLINE struct char_halves char_halves_load(const uint8_t *p)
{
    struct char_halves c;

    for (unsigned i = 0; i < 3; i++) {
        bytes64 b = bytes64_load(p + i);

        c.halves[2 * i] = bytes64_high_half(b);
        c.halves[2 * i + 1] = bytes64_low_half(b);
    }
    return c;
}

BYTES_INLINE char_codes char_boxes(const struct char_halves *c, const uint8_t (*rows)[16])
{
    char_codes all = bytes64_lookup(rows[0], c->halves[0]);

    for (unsigned i = 1; i < 6; i++)
        all = bytes64_and(all, bytes64_lookup(rows[i], c->halves[i]));
    return all;
}

#else

struct char_halves {
    uint8_t none;
};

typedef uint8_t char_codes;

BYTES_INLINE struct char_halves char_halves_load(const uint8_t *p)
{
    (void)p;
    return (struct char_halves) { 0 };
}

BYTES_INLINE char_codes char_boxes(const struct char_halves *c, const uint8_t (*rows)[16])
{
    (void)c;
    (void)rows;
    return 0;
}

#endif
#endif
