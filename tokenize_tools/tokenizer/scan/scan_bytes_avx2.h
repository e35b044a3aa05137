/* scan_bytes_avx2.h: 64 bytes for AVX2; part of scan_bytes.h. */
#ifndef LEAT_TOKENIZER_SCAN_BYTES_AVX2_H
#define LEAT_TOKENIZER_SCAN_BYTES_AVX2_H

#include <immintrin.h>

static const uint8_t scan_low[16] = { SCAN_LOW }, scan_high[16] = { SCAN_HIGH };

SCAN_INLINE __m256i scan_half_codes(__m256i b)
{
    __m256i low = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)scan_low)),
            high = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)scan_high));
    __m256i high_bits = _mm256_and_si256(_mm256_srli_epi16(b, 4), _mm256_set1_epi8(15));

    return _mm256_and_si256(_mm256_shuffle_epi8(low, b), _mm256_shuffle_epi8(high, high_bits));
}

SCAN_INLINE uint64_t scan_codes_with(scan_codes codes, int bits)
{
    __m256i all = _mm256_set1_epi8((char)bits), zero = _mm256_setzero_si256();

    return ~bytes64_mask(_mm256_cmpeq_epi8(_mm256_and_si256(codes.low, all), zero),
                         _mm256_cmpeq_epi8(_mm256_and_si256(codes.high, all), zero));
}

/* Gets one bit of each byte, by moving it to the top of its byte. */
#define SCAN_CODES_BIT(codes, by) bytes64_mask(_mm256_slli_epi16((codes).low, by), _mm256_slli_epi16((codes).high, by))

SCAN_INLINE struct scan_ascii scan_bytes_ascii(bytes64 b)
{
    scan_codes codes = { scan_half_codes(b.low), scan_half_codes(b.high) };
    __m256i top = _mm256_set1_epi8(0x1f);
    struct scan_ascii a = {
        .letters = scan_codes_with(codes, SCAN_LETTERS),
        .digits = SCAN_CODES_BIT(codes, 5),
        .white = scan_codes_with(codes, SCAN_WHITE),
        .newlines = SCAN_CODES_BIT(codes, 4),
        .spaces = SCAN_CODES_BIT(codes, 2),
        .quotes = SCAN_CODES_BIT(codes, 1),
        .slashes = SCAN_CODES_BIT(codes, 0),
    };

    a.controls = (bytes64_mask(_mm256_cmpeq_epi8(_mm256_min_epu8(b.low, top), b.low),
                               _mm256_cmpeq_epi8(_mm256_min_epu8(b.high, top), b.high)) &
                  ~a.white) |
                 bytes64_equal(b, 0x7f);
    return a;
}

/* ---- Lists of positions ---- */

SCAN_INLINE void scan_positions(uint32_t *ends, uint32_t base, uint64_t bits)
{
    scan_positions_by_bits(ends, base, bits);
}

#endif
