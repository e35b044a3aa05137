/*
 * utf8_blocks.h: utf8_valid_prefix() 64 bytes at a time, beginning with a character. The bytes that must continue one are
 * shifts of the masks of first bytes; they must be those that can. Four first bytes allow only some second ones. Compiled
 * once for each CPU level, which defines UTF8_ROW, the name of the row's function.
 */
#include <string.h>

#include "scan_bytes.h"
#include "scan_masks.h"
#include "utf8_rows.h"

#define UTF8_BLOCK 64u

/* How much of a block is well-formed; `size` if a character is cut by its end, or nothing is wrong. *next is where the
 * character begins that is cut. */
SCAN_INLINE size_t utf8_block(scan_bytes b, size_t size, size_t *next)
{
    uint64_t two = scan_bytes_from(b, 0xc2), three = scan_bytes_from(b, 0xe0), four = scan_bytes_from(b, 0xf0);
    uint64_t from_c0 = scan_bytes_from(b, 0xc0), beyond = scan_bytes_from(b, 0xf5);
    uint64_t from_90 = scan_bytes_from(b, 0x90), from_a0 = scan_bytes_from(b, 0xa0);
    uint64_t wanted = two << 1 | three << 2 | four << 3, wrong, cut;

    wrong = (wanted ^ (scan_bytes_high(b) & ~from_c0)) | (from_c0 & ~two) | beyond;
    /* long forms, surrogates, values above U+10FFFF */
    wrong |= scan_bytes_equal(b, 0xe0) << 1 & ~from_a0;
    wrong |= scan_bytes_equal(b, 0xed) << 1 & from_a0;
    wrong |= scan_bytes_equal(b, 0xf0) << 1 & ~from_90;
    wrong |= scan_bytes_equal(b, 0xf4) << 1 & from_90;
    if (wrong) {
        unsigned at = scan_lowest(wrong);

        return wanted >> at & 1 ? scan_highest(two & ~scan_from(wrong)) : at;
    }
    cut = (two & UINT64_C(1) << 63) | (three & UINT64_C(1) << 62) | (four & UINT64_C(1) << 61);
    *next = cut ? scan_lowest(cut) : UTF8_BLOCK;
    return size;
}

size_t UTF8_ROW(const uint8_t *text, size_t size)
{
    size_t at = 0, good, next;
    uint8_t tail[UTF8_BLOCK] = { 0 };

    while (size - at >= UTF8_BLOCK) {
        scan_bytes b = scan_bytes_load(text + at);

        if (scan_bytes_high(b) == 0) {
            at += UTF8_BLOCK;
            continue;
        }
        good = utf8_block(b, UTF8_BLOCK, &next);
        if (good < UTF8_BLOCK)
            return at + good;
        at += next;
    }
    memcpy(tail, text + at, size - at);
    return at + utf8_block(scan_bytes_load(tail), size - at, &next);
}
