/*
 * utf8_blocks.c: utf8_valid_prefix() for 64 bytes at a time, from the start of a character on. Shifted masks of first
 * bytes give the places where a continuation byte must stand, and they must equal the mask of continuation bytes. Four
 * first bytes allow only some second ones. Compiled once per CPU level.
 */
#include <string.h>

#include "bytes64.h"
#include "cpu.h"
#include "utf8.h"

#define UTF8_BLOCK 64u

/* How much of a block is well-formed; `size` if nothing is wrong, even if the end cuts a character. *next is where the
 * cut character begins. */
BYTES_INLINE size_t utf8_block(bytes64 b, size_t size, size_t *next)
{
    uint64_t two = bytes64_from(b, 0xc2), three = bytes64_from(b, 0xe0), four = bytes64_from(b, 0xf0);
    uint64_t from_c0 = bytes64_from(b, 0xc0), beyond = bytes64_from(b, 0xf5);
    uint64_t from_90 = bytes64_from(b, 0x90), from_a0 = bytes64_from(b, 0xa0);
    uint64_t wanted = two << 1 | three << 2 | four << 3, wrong, cut;

    wrong = (wanted ^ (bytes64_high(b) & ~from_c0)) | (from_c0 & ~two) | beyond;
    /* long forms, surrogates, values above U+10FFFF */
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
