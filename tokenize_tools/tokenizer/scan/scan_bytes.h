/*
 * scan_bytes.h: functions on 64 bytes in registers (base/bytes64.h), for scanners that work in blocks: the classes of
 * ASCII, and masks as lists of offsets.
 *
 *     scan_bytes_ascii(b)            struct scan_ascii
 *     scan_codes_with(codes, bits)   a mask of the bytes with one of these bits: classes, or boxes (char_boxes.h)
 *     scan_positions(ends, base, x)  writes base + i for each bit i of x, and perhaps more: there is room for 64
 */
#ifndef LEAT_TOKENIZER_SCAN_BYTES_H
#define LEAT_TOKENIZER_SCAN_BYTES_H

#include "scan_text.h"
#include "tokenizer/unicode/char_boxes.h"

typedef char_codes scan_codes;

/* Classes of ASCII; other characters are punctuation. Bytes from 0x80 on may be in any class except `quotes`. */
struct scan_ascii {
    uint64_t letters, digits, white, newlines, spaces, quotes, slashes;
    uint64_t controls; /* U+0000 to U+001F except white space, and U+007F */
};

/*
 * A byte's classes are the bits that two table entries have in common: one is indexed by the byte's low four bits, the
 * other by its high four. A CPU that can look up seven bits at once uses one table of both. Letters are two rectangles
 * of the ASCII chart: rows 4 and 6, 5 and 7.
 */
enum {
    SCAN_LETTERS_4 = 1,
    SCAN_LETTERS_5 = 2,
    SCAN_DIGITS = 4,
    SCAN_NEWLINES = 8,
    SCAN_TABS = 16, /* white space other than newlines and the space */
    SCAN_SPACES = 32,
    SCAN_QUOTES = 64,
    SCAN_SLASHES = 128,
    SCAN_LETTERS = SCAN_LETTERS_4 | SCAN_LETTERS_5,
    SCAN_WHITE = SCAN_NEWLINES | SCAN_TABS | SCAN_SPACES
};

#define SCAN_LOW_0_A (SCAN_LETTERS_4 | SCAN_LETTERS_5 | SCAN_DIGITS)
#define SCAN_LOW                                                                                                       \
    SCAN_LETTERS_5 | SCAN_DIGITS | SCAN_SPACES, SCAN_LOW_0_A, SCAN_LOW_0_A, SCAN_LOW_0_A, SCAN_LOW_0_A, SCAN_LOW_0_A,  \
        SCAN_LOW_0_A, SCAN_LOW_0_A | SCAN_QUOTES, SCAN_LOW_0_A, SCAN_LOW_0_A | SCAN_TABS,                              \
        SCAN_LETTERS_4 | SCAN_LETTERS_5 | SCAN_NEWLINES, SCAN_LETTERS_4 | SCAN_TABS, SCAN_LETTERS_4 | SCAN_TABS,       \
        SCAN_LETTERS_4 | SCAN_NEWLINES, SCAN_LETTERS_4, SCAN_LETTERS_4 | SCAN_SLASHES
#define SCAN_HIGH                                                                                                      \
    SCAN_NEWLINES | SCAN_TABS, 0, SCAN_SPACES | SCAN_QUOTES | SCAN_SLASHES, SCAN_DIGITS, SCAN_LETTERS_4,               \
        SCAN_LETTERS_5, SCAN_LETTERS_4, SCAN_LETTERS_5, 0, 0, 0, 0, 0, 0, 0, 0

/* ---- Lists of positions ------------------------------------------------------------------------------------------ */

/* Writes base + i for each bit i, and a few numbers more: there must be room for 64. No branch up to eight bits. */
SCAN_INLINE void scan_positions_by_bits(uint32_t *ends, uint32_t base, uint64_t bits)
{
    unsigned count = (unsigned)__builtin_popcountll(bits);

    for (unsigned i = 0; i < count; i += 8) {
        for (unsigned k = 0; k < 8; k++) {
            /* a bit that is always set, so that there is a lowest one */
            ends[i + k] = base + (unsigned)__builtin_ctzll(bits | UINT64_C(1) << 63);
            bits &= bits - 1;
        }
    }
}

/* ---- The CPU's own functions ------------------------------------------------------------------------------------- */

#if defined(BYTES64_BY_WORDS)
#include "scan_bytes_words.h"
#elif defined(__AVX512BW__)
#include "scan_bytes_avx512.h"
#elif defined(__AVX2__)
#include "scan_bytes_avx2.h"
#else
#include "scan_bytes_neon.h"
#endif

#endif
