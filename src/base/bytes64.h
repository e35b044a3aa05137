/*
 * bytes64.h: 64 bytes in registers of the CPU that is compiled for: comparisons give masks, bit i for byte i. With
 * BYTES64_BY_WORDS in 64-bit words, on any machine.
 *
 *     bytes64_load(p)      the bytes at p
 *     bytes64_equal(b, c)  which are c
 *     bytes64_from(b, c)   which are c or more
 *     bytes64_high(b)      which are 0x80 or more
 */
#ifndef LEAT_BASE_BYTES64_H
#define LEAT_BASE_BYTES64_H

#include "bytes.h"

#define BYTES_INLINE static inline __attribute__((always_inline))

#if defined(__aarch64__) && defined(__ARM_NEON) && !BYTES_BIG_ENDIAN
#define BYTES64_HAVE_NEON 1
#else
#define BYTES64_HAVE_NEON 0
#endif

#define BYTES_EACH(b) ((b)*UINT64_C(0x0101010101010101))

/* ---- Bits ---- */

/* The number of the lowest bit that is set; x is not 0. */
BYTES_INLINE unsigned bits_lowest(uint64_t x)
{
    return (unsigned)__builtin_ctzll(x);
}

/* The number of the highest bit that is set; x is not 0. */
BYTES_INLINE unsigned bits_highest(uint64_t x)
{
    return 63u - (unsigned)__builtin_clzll(x);
}

/* All bits from the lowest of x on. */
BYTES_INLINE uint64_t bits_from(uint64_t x)
{
    return x | (0 - x);
}

/* ---- Bytes ---- */

#if defined(BYTES64_BY_WORDS)

typedef struct {
    uint64_t words[8];
} bytes64;

/* The top bits of eight bytes, the first one lowest. */
BYTES_INLINE uint64_t bytes64_word_mask(uint64_t top)
{
    return (top >> 7 & BYTES_EACH(1)) * UINT64_C(0x0102040810204080) >> 56;
}

/* The top bit of each byte that is `c` or more. The low seven bits are compared, and decide where the top bits are
 * equal. */
BYTES_INLINE uint64_t bytes64_word_from(uint64_t x, uint8_t c)
{
    uint64_t low = (x & BYTES_EACH(0x7f)) + BYTES_EACH(0x80u - (c & 0x7fu));

    return c < 0x80 ? low | x : low & x;
}

BYTES_INLINE bytes64 bytes64_load(const uint8_t *p)
{
    bytes64 b;

    for (unsigned i = 0; i < 8; i++)
        b.words[i] = bytes_load64(p + 8 * i);
    return b;
}

BYTES_INLINE uint64_t bytes64_equal(bytes64 b, uint8_t c)
{
    uint64_t mask = 0;

    for (unsigned i = 0; i < 8; i++)
        mask |= bytes64_word_mask(~bytes64_word_from(b.words[i] ^ BYTES_EACH(c), 1)) << 8 * i;
    return mask;
}

BYTES_INLINE uint64_t bytes64_from(bytes64 b, uint8_t c)
{
    uint64_t mask = 0;

    for (unsigned i = 0; i < 8; i++)
        mask |= bytes64_word_mask(bytes64_word_from(b.words[i], c)) << 8 * i;
    return mask;
}

BYTES_INLINE uint64_t bytes64_high(bytes64 b)
{
    uint64_t mask = 0;

    for (unsigned i = 0; i < 8; i++)
        mask |= bytes64_word_mask(b.words[i]) << 8 * i;
    return mask;
}

#elif defined(__AVX512BW__)
#include <immintrin.h>

typedef __m512i bytes64;

BYTES_INLINE bytes64 bytes64_load(const uint8_t *p)
{
    return _mm512_loadu_si512(p);
}

BYTES_INLINE uint64_t bytes64_equal(bytes64 b, uint8_t c)
{
    return _mm512_cmpeq_epi8_mask(b, _mm512_set1_epi8((char)c));
}

BYTES_INLINE uint64_t bytes64_from(bytes64 b, uint8_t c)
{
    return _mm512_cmpge_epu8_mask(b, _mm512_set1_epi8((char)c));
}

BYTES_INLINE uint64_t bytes64_high(bytes64 b)
{
    return _mm512_movepi8_mask(b);
}

#elif defined(__AVX2__)
#include <immintrin.h>

typedef struct {
    __m256i low, high;
} bytes64;

BYTES_INLINE uint64_t bytes64_mask(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

BYTES_INLINE bytes64 bytes64_load(const uint8_t *p)
{
    return (bytes64) { _mm256_loadu_si256((const __m256i *)(const void *)p),
                       _mm256_loadu_si256((const __m256i *)(const void *)(p + 32)) };
}

BYTES_INLINE uint64_t bytes64_equal(bytes64 b, uint8_t c)
{
    __m256i all = _mm256_set1_epi8((char)c);

    return bytes64_mask(_mm256_cmpeq_epi8(b.low, all), _mm256_cmpeq_epi8(b.high, all));
}

BYTES_INLINE uint64_t bytes64_from(bytes64 b, uint8_t c)
{
    __m256i all = _mm256_set1_epi8((char)c);

    return bytes64_mask(_mm256_cmpeq_epi8(_mm256_max_epu8(b.low, all), b.low),
                        _mm256_cmpeq_epi8(_mm256_max_epu8(b.high, all), b.high));
}

BYTES_INLINE uint64_t bytes64_high(bytes64 b)
{
    return bytes64_mask(b.low, b.high);
}

#elif BYTES64_HAVE_NEON
#include <arm_neon.h>

typedef uint8x16x4_t bytes64; /* every fourth byte in one vector, so that a mask takes few steps */

/* One bit of each byte of a comparison: those of four neighbours come together in the upper half of a byte, and then
 * those halves do. Two thirds of the instructions of adding neighbours, which vectors of consecutive bytes need. */
BYTES_INLINE uint64_t bytes64_mask(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d)
{
    uint8x16_t four = vsriq_n_u8(vsriq_n_u8(d, c, 1), vsriq_n_u8(b, a, 1), 2);

    four = vsriq_n_u8(four, four, 4);
    return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(four), 4)), 0);
}

BYTES_INLINE bytes64 bytes64_load(const uint8_t *p)
{
    return vld4q_u8(p);
}

BYTES_INLINE uint64_t bytes64_equal(bytes64 b, uint8_t c)
{
    uint8x16_t all = vdupq_n_u8(c);

    return bytes64_mask(vceqq_u8(b.val[0], all), vceqq_u8(b.val[1], all), vceqq_u8(b.val[2], all),
                        vceqq_u8(b.val[3], all));
}

BYTES_INLINE uint64_t bytes64_from(bytes64 b, uint8_t c)
{
    uint8x16_t all = vdupq_n_u8(c);

    return bytes64_mask(vcgeq_u8(b.val[0], all), vcgeq_u8(b.val[1], all), vcgeq_u8(b.val[2], all),
                        vcgeq_u8(b.val[3], all));
}

BYTES_INLINE uint64_t bytes64_high(bytes64 b)
{
    return bytes64_from(b, 0x80);
}

#endif

#endif
