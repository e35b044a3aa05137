/*
 * bit_places_avx512.h: the places of the bits of a word as a list, for kernels that are compiled for AVX-512, with
 * VBMI2 or without.
 */
#ifndef LEAT_TOKENIZER_BIT_PLACES_AVX512_H
#define LEAT_TOKENIZER_BIT_PLACES_AVX512_H

#include <immintrin.h>
#include <stdint.h>

#if defined(__AVX512VBMI2__)
/* Writes the places as bytes, followed by zeros. */
static inline __m512i bit_places_bytes(uint64_t bits)
{
    static const uint8_t numbers[64] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
    };

    return _mm512_maskz_compress_epi8(bits, _mm512_loadu_si512(numbers));
}

/* Returns the first sixteen of such bytes four times each, with 0 to 3 added and `add`: the indices that pick words
 * of four bytes out of 64. */
static inline __m512i bit_places_fours(__m512i places, int add)
{
    const __m512i fours =
        _mm512_set_epi32(0x0f0f0f0f, 0x0e0e0e0e, 0x0d0d0d0d, 0x0c0c0c0c, 0x0b0b0b0b, 0x0a0a0a0a, 0x09090909, 0x08080808,
                         0x07070707, 0x06060606, 0x05050505, 0x04040404, 0x03030303, 0x02020202, 0x01010101, 0);

    return _mm512_add_epi8(_mm512_permutexvar_epi8(fours, places), _mm512_set1_epi32(add));
}
#endif

/* Writes the places of the bits, counted from `base`, in order. Up to 64 numbers are written, however few bits there
 * are. */
static inline void bit_places(uint64_t bits, uint32_t base, uint32_t *places)
{
#if defined(__AVX512VBMI2__)
    __m512i at = bit_places_bytes(bits), all = _mm512_set1_epi32((int)base);

    _mm512_storeu_si512(places, _mm512_add_epi32(all, _mm512_cvtepu8_epi32(_mm512_castsi512_si128(at))));
    _mm512_storeu_si512(places + 16, _mm512_add_epi32(all, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(at, 1))));
    if (_mm_popcnt_u64(bits) <= 32)
        return;
    _mm512_storeu_si512(places + 32, _mm512_add_epi32(all, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(at, 2))));
    _mm512_storeu_si512(places + 48, _mm512_add_epi32(all, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(at, 3))));
#else
    __m512i at = _mm512_add_epi32(_mm512_set1_epi32((int)base),
                                  _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));

    for (unsigned i = 0; i < 4; i++) {
        _mm512_storeu_si512(places, _mm512_maskz_compress_epi32((__mmask16)bits, at));
        places += _mm_popcnt_u32((uint16_t)bits);
        at = _mm512_add_epi32(at, _mm512_set1_epi32(16));
        bits >>= 16;
    }
#endif
}

#endif
