/*
 * bytes64.h: 64 bytes in registers of the CPU that is compiled for: comparisons give masks, bit i for byte i. With
 * BYTES64_BY_WORDS in 64-bit words, on any machine.
 *
 *     bytes64_load(p)      the bytes at p
 *     bytes64_equal(b, c)  which are c
 *     bytes64_from(b, c)   which are c or more
 *     bytes64_high(b)      which are 0x80 or more
 *
 * Where there are vectors (BYTES64_VECTORS), also byte by byte:
 *
 *     bytes64_high_half(b), bytes64_low_half(b)   four bits of each
 *     bytes64_lookup(table, b)                    the entries of 16, of bytes below that
 *     bytes64_and(a, b), bytes64_or(a, b), bytes64_xor(a, b)
 *     bytes64_minus(b, c)                         c less, but not below 0
 *     bytes64_any(b)                              whether a byte is not 0
 *     bytes64_all(c)                              64 times c
 */
#ifndef LEAT_BASE_BYTES64_H
#define LEAT_BASE_BYTES64_H

#include <stdbool.h>

#include "bytes.h"

#define BYTES_INLINE static inline __attribute__((always_inline))

#if defined(__aarch64__) && defined(__ARM_NEON) && !BYTES_BIG_ENDIAN
#define BYTES64_HAVE_NEON 1
#else
#define BYTES64_HAVE_NEON 0
#endif

#define BYTES_EACH(b) ((b)*UINT64_C(0x0101010101010101))

/* ---- Bits ---- */

/* Returns the number of the lowest bit that is set; x is not 0. */
BYTES_INLINE unsigned bits_lowest(uint64_t x)
{
    return (unsigned)__builtin_ctzll(x);
}

/* Returns the number of the highest bit that is set; x is not 0. */
BYTES_INLINE unsigned bits_highest(uint64_t x)
{
    return 63u - (unsigned)__builtin_clzll(x);
}

/* Returns a word with all bits set from the lowest bit of x on. */
BYTES_INLINE uint64_t bits_from(uint64_t x)
{
    return x | (0 - x);
}

/* ---- Bytes ---- */

#if defined(BYTES64_BY_WORDS)

#define BYTES64_VECTORS 0

typedef struct {
    uint64_t words[8];
} bytes64;

/* Returns the top bits of eight bytes, the first one lowest. */
BYTES_INLINE uint64_t bytes64_word_mask(uint64_t top)
{
    return (top >> 7 & BYTES_EACH(1)) * UINT64_C(0x0102040810204080) >> 56;
}

/* Returns the top bit of each byte that is `c` or more. The low seven bits are compared, and decide where the top
 * bits are equal. */
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

#define BYTES64_VECTORS 1

BYTES_INLINE bytes64 bytes64_high_half(bytes64 b)
{
    return _mm512_and_si512(_mm512_srli_epi16(b, 4), _mm512_set1_epi8(15));
}

BYTES_INLINE bytes64 bytes64_low_half(bytes64 b)
{
    return _mm512_and_si512(b, _mm512_set1_epi8(15));
}

BYTES_INLINE bytes64 bytes64_lookup(const uint8_t *table, bytes64 b)
{
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)table)), b);
}

BYTES_INLINE bytes64 bytes64_and(bytes64 a, bytes64 b)
{
    return _mm512_and_si512(a, b);
}

BYTES_INLINE bytes64 bytes64_or(bytes64 a, bytes64 b)
{
    return _mm512_or_si512(a, b);
}

BYTES_INLINE bytes64 bytes64_xor(bytes64 a, bytes64 b)
{
    return _mm512_xor_si512(a, b);
}

BYTES_INLINE bytes64 bytes64_minus(bytes64 b, uint8_t c)
{
    return _mm512_subs_epu8(b, _mm512_set1_epi8((char)c));
}

BYTES_INLINE bool bytes64_any(bytes64 b)
{
    return _mm512_test_epi8_mask(b, b) != 0;
}

BYTES_INLINE bytes64 bytes64_all(uint8_t c)
{
    return _mm512_set1_epi8((char)c);
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

#define BYTES64_VECTORS 1

BYTES_INLINE bytes64 bytes64_and(bytes64 a, bytes64 b)
{
    return (bytes64) { _mm256_and_si256(a.low, b.low), _mm256_and_si256(a.high, b.high) };
}

BYTES_INLINE bytes64 bytes64_or(bytes64 a, bytes64 b)
{
    return (bytes64) { _mm256_or_si256(a.low, b.low), _mm256_or_si256(a.high, b.high) };
}

BYTES_INLINE bytes64 bytes64_xor(bytes64 a, bytes64 b)
{
    return (bytes64) { _mm256_xor_si256(a.low, b.low), _mm256_xor_si256(a.high, b.high) };
}

BYTES_INLINE bytes64 bytes64_low_half(bytes64 b)
{
    const __m256i low = _mm256_set1_epi8(15);

    return (bytes64) { _mm256_and_si256(b.low, low), _mm256_and_si256(b.high, low) };
}

BYTES_INLINE bytes64 bytes64_high_half(bytes64 b)
{
    return bytes64_low_half((bytes64) { _mm256_srli_epi16(b.low, 4), _mm256_srli_epi16(b.high, 4) });
}

BYTES_INLINE bytes64 bytes64_lookup(const uint8_t *table, bytes64 b)
{
    __m256i row = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)table));

    return (bytes64) { _mm256_shuffle_epi8(row, b.low), _mm256_shuffle_epi8(row, b.high) };
}

BYTES_INLINE bytes64 bytes64_minus(bytes64 b, uint8_t c)
{
    __m256i all = _mm256_set1_epi8((char)c);

    return (bytes64) { _mm256_subs_epu8(b.low, all), _mm256_subs_epu8(b.high, all) };
}

BYTES_INLINE bool bytes64_any(bytes64 b)
{
    __m256i all = _mm256_or_si256(b.low, b.high);

    return !_mm256_testz_si256(all, all);
}

BYTES_INLINE bytes64 bytes64_all(uint8_t c)
{
    return (bytes64) { _mm256_set1_epi8((char)c), _mm256_set1_epi8((char)c) };
}

#elif BYTES64_HAVE_NEON
#include <arm_neon.h>

typedef uint8x16x4_t bytes64; /* every fourth byte in one vector, so that a mask takes few steps */

/*
 * Returns one bit for each byte of a comparison. The bits of four neighbours come together in the upper half of a
 * byte, and then those halves do. This takes two thirds of the instructions of adding neighbours, which vectors of
 * consecutive bytes would need.
 */
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

#define BYTES64_VECTORS 1

BYTES_INLINE bytes64 bytes64_high_half(bytes64 b)
{
    for (unsigned k = 0; k < 4; k++)
        b.val[k] = vshrq_n_u8(b.val[k], 4);
    return b;
}

BYTES_INLINE bytes64 bytes64_low_half(bytes64 b)
{
    for (unsigned k = 0; k < 4; k++)
        b.val[k] = vandq_u8(b.val[k], vdupq_n_u8(15));
    return b;
}

BYTES_INLINE bytes64 bytes64_lookup(const uint8_t *table, bytes64 b)
{
    for (unsigned k = 0; k < 4; k++)
        b.val[k] = vqtbl1q_u8(vld1q_u8(table), b.val[k]);
    return b;
}

BYTES_INLINE bytes64 bytes64_and(bytes64 a, bytes64 b)
{
    for (unsigned k = 0; k < 4; k++)
        a.val[k] = vandq_u8(a.val[k], b.val[k]);
    return a;
}

BYTES_INLINE bytes64 bytes64_or(bytes64 a, bytes64 b)
{
    for (unsigned k = 0; k < 4; k++)
        a.val[k] = vorrq_u8(a.val[k], b.val[k]);
    return a;
}

BYTES_INLINE bytes64 bytes64_xor(bytes64 a, bytes64 b)
{
    for (unsigned k = 0; k < 4; k++)
        a.val[k] = veorq_u8(a.val[k], b.val[k]);
    return a;
}

BYTES_INLINE bytes64 bytes64_minus(bytes64 b, uint8_t c)
{
    for (unsigned k = 0; k < 4; k++)
        b.val[k] = vqsubq_u8(b.val[k], vdupq_n_u8(c));
    return b;
}

BYTES_INLINE bool bytes64_any(bytes64 b)
{
    return vmaxvq_u8(vorrq_u8(vorrq_u8(b.val[0], b.val[1]), vorrq_u8(b.val[2], b.val[3]))) != 0;
}

BYTES_INLINE bytes64 bytes64_all(uint8_t c)
{
    return (bytes64) { { vdupq_n_u8(c), vdupq_n_u8(c), vdupq_n_u8(c), vdupq_n_u8(c) } };
}

#else

#define BYTES64_VECTORS 0

#endif

#endif
