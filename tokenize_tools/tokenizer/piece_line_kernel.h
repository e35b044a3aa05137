/*
 * piece_line_kernel.h: a line of short pieces of the cache (piece_cache.h), looked at and changed as a whole, for
 * piece_kernel.h.
 */
#include "piece_cache.h"

/* The value of the one entry of a line of short pieces with this key; 0 if there is none. */
static inline uint64_t line_short(const uint64_t *line, uint64_t key)
{
#if defined(__AVX512F__)
    __mmask8 same =
        _mm256_cmpeq_epi64_mask(_mm256_load_si256((const __m256i *)line), _mm256_set1_epi64x((long long)key));
    __m256i value = _mm256_maskz_compress_epi64(same, _mm256_load_si256((const __m256i *)(line + 4)));

    return (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(value));
#elif defined(__AVX2__)
    __m256i equal = _mm256_cmpeq_epi64(_mm256_load_si256((const __m256i *)line), _mm256_set1_epi64x((long long)key));
    __m256i value = _mm256_and_si256(equal, _mm256_load_si256((const __m256i *)(line + 4)));
    __m128i half = _mm_or_si128(_mm256_castsi256_si128(value), _mm256_extracti128_si256(value, 1));

    return (uint64_t)_mm_cvtsi128_si64(_mm_or_si128(half, _mm_unpackhi_epi64(half, half)));
#else
    uint64_t value = 0;

    for (unsigned i = 0; i < 4; i++)
        value |= line[i] == key ? line[4 + i] : 0;
    return value;
#endif
}

/* Puts an entry in front of the others, of which the last is lost; or in place of the one with this key. */
static inline void line_put_short(uint64_t *line, uint64_t key, uint64_t value)
{
#if defined(__AVX2__)
    __m256i keys = _mm256_load_si256((__m256i *)line), values = _mm256_load_si256((__m256i *)(line + 4));
    __m256i new_key = _mm256_set1_epi64x((long long)key), new_value = _mm256_set1_epi64x((long long)value);
    __m256i same = _mm256_cmpeq_epi64(keys, new_key);

    if (_mm256_testz_si256(same, same)) {
        keys = _mm256_blend_epi32(_mm256_permute4x64_epi64(keys, 0x90), new_key, 3);
        _mm256_store_si256((__m256i *)line, keys);
        values = _mm256_blend_epi32(_mm256_permute4x64_epi64(values, 0x90), new_value, 3);
    } else {
        values = _mm256_blendv_epi8(values, new_value, same);
    }
    _mm256_store_si256((__m256i *)(line + 4), values);
#else
    unsigned at = 0;

    while (at < 3 && line[at] != key)
        at++;
    for (; at > 0 && line[at] != key; at--) {
        line[at] = line[at - 1];
        line[4 + at] = line[3 + at];
    }
    line[at] = key;
    line[4 + at] = value;
#endif
}
