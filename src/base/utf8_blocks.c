/*
 * utf8_blocks.c: utf8_valid_prefix() for 64 bytes at a time. Compiled once per CPU level.
 *
 * Where there are vectors, blocks that are well-formed are passed by three look-ups (Keiser and Lemire, "Validating
 * UTF-8 in less than one instruction per byte", 2020). What is left, from the start of a character on, is checked by
 * masks, which find the place of what is wrong: shifted masks of first bytes give the places where a continuation byte
 * must stand, and they must equal the mask of continuation bytes; four first bytes allow only some second ones.
 */
#include <string.h>

#include "bytes64.h"
#include "cpu.h"
#include "utf8.h"

#define UTF8_BLOCK 64u

#if BYTES64_VECTORS

/*
 * Errors in two bytes. An error is a bit that three table entries have in common: those of both halves of the first
 * byte, and of the high half of the second. TWO is a continuation byte after another one, which is right in the
 * third and fourth place of a character.
 */
enum {
    SHORT = 1,       /* a first byte without a continuation */
    LONG = 2,        /* ASCII before a continuation */
    OVERLONG_3 = 4,  /* E0 before a byte below A0 */
    TOO_LARGE = 8,   /* F4 before 90 or more; any byte of F5 and more */
    SURROGATE = 16,  /* ED before A0 or more */
    OVERLONG_2 = 32, /* C0, C1 */
    LARGER = 64,     /* F5 or more before a byte below 90; or OVERLONG_4: F0 before such a byte */
    TWO = 128,
    CARRY = SHORT | LONG | TWO /* errors that do not depend on the low half of the first byte */
};

/* Returns true if a block is well-formed, except for a character that its end cuts. The text before it must be
 * well-formed, with the same exception. */
BYTES_INLINE bool utf8_block_good(const uint8_t *p, bytes64 b)
{
    enum { C = CARRY, L = LARGER, LT = CARRY | LARGER | TOO_LARGE };
    static const uint8_t first_high[16] = { LONG,
                                            LONG,
                                            LONG,
                                            LONG,
                                            LONG,
                                            LONG,
                                            LONG,
                                            LONG,
                                            TWO,
                                            TWO,
                                            TWO,
                                            TWO,
                                            SHORT | OVERLONG_2,
                                            SHORT,
                                            SHORT | OVERLONG_3 | SURROGATE,
                                            SHORT | TOO_LARGE | LARGER };
    static const uint8_t first_low[16] = { C | OVERLONG_3 | OVERLONG_2 | L,
                                           C | OVERLONG_2,
                                           C,
                                           C,
                                           C | TOO_LARGE,
                                           LT,
                                           LT,
                                           LT,
                                           LT,
                                           LT,
                                           LT,
                                           LT,
                                           LT,
                                           LT | SURROGATE,
                                           LT,
                                           LT };
    static const uint8_t second_high[16] = { SHORT,
                                             SHORT,
                                             SHORT,
                                             SHORT,
                                             SHORT,
                                             SHORT,
                                             SHORT,
                                             SHORT,
                                             LONG | OVERLONG_2 | TWO | OVERLONG_3 | LARGER,
                                             LONG | OVERLONG_2 | TWO | OVERLONG_3 | TOO_LARGE,
                                             LONG | OVERLONG_2 | TWO | SURROGATE | TOO_LARGE,
                                             LONG | OVERLONG_2 | TWO | SURROGATE | TOO_LARGE,
                                             SHORT,
                                             SHORT,
                                             SHORT,
                                             SHORT };
    bytes64 before = bytes64_load(p - 1), codes, inside;

    codes = bytes64_and(bytes64_lookup(first_high, bytes64_high_half(before)),
                        bytes64_lookup(first_low, bytes64_low_half(before)));
    codes = bytes64_and(codes, bytes64_lookup(second_high, bytes64_high_half(b)));
    /* the top bit where a third or fourth byte must stand: where TWO is right */
    inside =
        bytes64_or(bytes64_minus(bytes64_load(p - 2), 0xe0 - 0x80), bytes64_minus(bytes64_load(p - 3), 0xf0 - 0x80));
    return !bytes64_any(bytes64_xor(codes, bytes64_and(inside, bytes64_all(TWO))));
}

/* Returns true if the three bytes before p begin a character that goes on at p; p[-4] can be read. */
BYTES_INLINE bool utf8_cut_at(const uint8_t *p)
{
    return (bytes_load32(p - 4) & 0x80808080u) && (p[-1] >= 0xc0 || p[-2] >= 0xe0 || p[-3] >= 0xf0);
}

/* Returns the start of a character up to which the text is well-formed: nearly all of its well-formed beginning.
 * `at` is such a start, at least 4. */
BYTES_INLINE size_t utf8_good(const uint8_t *text, size_t size, size_t at)
{
    for (; size - at >= UTF8_BLOCK; at += UTF8_BLOCK) {
        bytes64 b = bytes64_load(text + at);

        if (bytes64_high(b) == 0 ? utf8_cut_at(text + at) : !utf8_block_good(text + at, b))
            break;
    }
    for (size_t back = 1; back <= 3; back++)
        if (text[at - back] >= 0xc0)
            return utf8_cut_at(text + at) ? at - back : at;
    return at;
}

#endif

/* Returns how much of a block is well-formed; `size` if nothing is wrong, even if the end cuts a character. Sets
 * *next to where the cut character begins. */
BYTES_INLINE size_t utf8_block(bytes64 b, size_t size, size_t *next)
{
    uint64_t two = bytes64_from(b, 0xc2), three = bytes64_from(b, 0xe0), four = bytes64_from(b, 0xf0);
    uint64_t from_c0 = bytes64_from(b, 0xc0), beyond = bytes64_from(b, 0xf5);
    uint64_t from_90 = bytes64_from(b, 0x90), from_a0 = bytes64_from(b, 0xa0);
    uint64_t wanted = two << 1 | three << 2 | four << 3, wrong, cut;

    wrong = (wanted ^ (bytes64_high(b) & ~from_c0)) | (from_c0 & ~two) | beyond;
    /* long forms, surrogates, and values above U+10FFFF */
    wrong |= bytes64_equal(b, 0xe0) << 1 & ~from_a0;
    wrong |= bytes64_equal(b, 0xed) << 1 & from_a0;
    wrong |= bytes64_equal(b, 0xf0) << 1 & ~from_90;
    wrong |= bytes64_equal(b, 0xf4) << 1 & from_90;
    if (wrong) {
        unsigned at = bits_lowest(wrong);

        return wanted >> at & 1 ? bits_highest(two & ~bits_from(wrong)) : at;
    }
    cut = (two & UINT64_C(1) << 63) | (three & UINT64_C(1) << 62) | (four & UINT64_C(1) << 61);
    *next = cut ? bits_lowest(cut) : UTF8_BLOCK;
    return size;
}

size_t LEVEL_NAME(utf8_valid_prefix)(const uint8_t *text, size_t size)
{
    size_t at = 0, good, next;
    uint8_t tail[UTF8_BLOCK] = { 0 };

#if BYTES64_VECTORS
    if (size >= 2 * UTF8_BLOCK && utf8_block(bytes64_load(text), UTF8_BLOCK, &next) == UTF8_BLOCK)
        at = utf8_good(text, size, next);
#endif
    while (size - at >= UTF8_BLOCK) {
        bytes64 b = bytes64_load(text + at);

        if (bytes64_high(b) == 0) {
            at += UTF8_BLOCK;
            continue;
        }
        good = utf8_block(b, UTF8_BLOCK, &next);
        if (good < UTF8_BLOCK)
            return at + good;
        at += next;
    }
    memcpy(tail, text + at, size - at);
    return at + utf8_block(bytes64_load(tail), size - at, &next);
}
