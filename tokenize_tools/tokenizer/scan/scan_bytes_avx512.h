/* scan_bytes_avx512.h: 64 bytes for AVX-512, with VBMI and VBMI2 where the compilation has them; part of scan_bytes.h.
 * */
#ifndef LEAT_TOKENIZER_SCAN_BYTES_AVX512_H
#define LEAT_TOKENIZER_SCAN_BYTES_AVX512_H

#include <immintrin.h>

#include "bit_places_avx512.h"

/* ---- Classes of ASCII ---- */

/* Returns the bits of SCAN_* at each byte; with VBMI, bytes from 0x80 on have those of ASCII. */
SCAN_INLINE scan_codes scan_bytes_codes(bytes64 b)
{
#if defined(__AVX512VBMI__)
    enum {
        L = SCAN_LETTERS,
        D = SCAN_DIGITS,
        E = SCAN_NEWLINES,
        T = SCAN_TABS,
        B = SCAN_SPACES,
        Q = SCAN_QUOTES,
        S = SCAN_SLASHES
    };
    /* clang-format off */
    static const uint8_t chart[128] = {
        0, 0, 0, 0, 0, 0, 0, 0, 0, T, E, T, T, E, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        B, 0, 0, 0, 0, 0, 0, Q, 0, 0, 0, 0, 0, 0, 0, S,
        D, D, D, D, D, D, D, D, D, D, 0, 0, 0, 0, 0, 0,
        0, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L,
        L, L, L, L, L, L, L, L, L, L, L, 0, 0, 0, 0, 0,
        0, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L,
        L, L, L, L, L, L, L, L, L, L, L, 0, 0, 0, 0, 0,
    };
    /* clang-format on */

    return _mm512_permutex2var_epi8(_mm512_loadu_si512(chart), b, _mm512_loadu_si512(chart + 64));
#else
    static const uint8_t scan_low[16] = { SCAN_LOW }, scan_high[16] = { SCAN_HIGH };
    __m512i low = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)scan_low)),
            high = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)scan_high));
    __m512i high_bits = _mm512_and_si512(_mm512_srli_epi16(b, 4), _mm512_set1_epi8(15));

    /* a byte from 0x80 on gives 0 in the first table */
    return _mm512_and_si512(_mm512_shuffle_epi8(low, b), _mm512_shuffle_epi8(high, high_bits));
#endif
}

SCAN_INLINE uint64_t scan_codes_with(scan_codes codes, int bits)
{
    return _mm512_test_epi8_mask(codes, _mm512_set1_epi8((char)bits));
}

SCAN_INLINE struct scan_ascii scan_bytes_ascii(bytes64 b)
{
    __m512i codes = scan_bytes_codes(b);
    struct scan_ascii a = {
        .letters = scan_codes_with(codes, SCAN_LETTERS),
        .digits = scan_codes_with(codes, SCAN_DIGITS),
        .white = scan_codes_with(codes, SCAN_WHITE),
        .newlines = scan_codes_with(codes, SCAN_NEWLINES),
        .spaces = scan_codes_with(codes, SCAN_SPACES),
        .quotes = bytes64_equal(b, '\''),
        .slashes = scan_codes_with(codes, SCAN_SLASHES),
    };

    a.controls = (_mm512_cmplt_epu8_mask(b, _mm512_set1_epi8(0x20)) & ~a.white) | bytes64_equal(b, 0x7f);
    return a;
}

/* ---- Lists of positions ---- */

SCAN_INLINE void scan_positions(uint32_t *ends, uint32_t base, uint64_t bits)
{
    bit_places(bits, base, ends);
}

#endif
