/*
 * byte_block.h: the widest block of bytes that the compiler's target can compare at once.
 *
 * A block is loaded and compared with a byte or a limit; the result is a mask of BLOCK_BITS bits per byte, the first
 * byte lowest. Only the lowest set bit of a mask is certain, so a search continues from there. There are blocks for
 * AVX-512, AVX2, SSE2, NEON, and words of eight bytes, all with the same functions, so that the kernels over JSON
 * strings are written once. NEON is left to a row of its own: so a test can compare it with words on one machine.
 */
#ifndef LEAT_TOKENIZE_TOOLS_BYTE_BLOCK_H
#define LEAT_TOKENIZE_TOOLS_BYTE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"

/* ---- Eight bytes in a word: on any CPU, and for stretches shorter than a block ----------------------------------- */

#define WORD_BYTES 8u
#define WORD_EACH  UINT64_C(0x0101010101010101)
#define WORD_TOP   UINT64_C(0x8080808080808080)

/* Returns the top bit of each byte that is below `limit` (at most 128). Only the lowest bit is certain. */
static inline uint64_t word_below(uint64_t word, uint8_t limit)
{
    return (word - WORD_EACH * limit) & ~word & WORD_TOP;
}

static inline uint64_t word_equal(uint64_t word, uint8_t byte)
{
    return word_below(word ^ WORD_EACH * byte, 1);
}

/* Finds quotes, backslashes and control characters. */
static inline uint64_t word_special(uint64_t word)
{
    return word_equal(word, '"') | word_equal(word, '\\') | word_below(word, 0x20);
}

static inline size_t word_first(uint64_t mask)
{
    return (size_t)__builtin_ctzll(mask) / 8;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

#if defined(__AVX512BW__)
#include <immintrin.h>

#define BLOCK_BYTES 64u
#define BLOCK_BITS  1u

typedef __m512i byte_block;

static inline byte_block block_load(const char *p)
{
    return _mm512_loadu_si512(p);
}

static inline void block_store(char *p, byte_block b)
{
    _mm512_storeu_si512(p, b);
}

static inline uint64_t block_equal(byte_block b, char byte)
{
    return _mm512_cmpeq_epi8_mask(b, _mm512_set1_epi8(byte));
}

static inline uint64_t block_special(byte_block b)
{
    return block_equal(b, '"') | block_equal(b, '\\') | _mm512_cmplt_epu8_mask(b, _mm512_set1_epi8(0x20));
}

#elif defined(__AVX2__)
#include <immintrin.h>

#define BLOCK_BYTES 32u
#define BLOCK_BITS  1u

typedef __m256i byte_block;

static inline byte_block block_load(const char *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

static inline void block_store(char *p, byte_block b)
{
    _mm256_storeu_si256((__m256i *)(void *)p, b);
}

static inline uint64_t block_equal(byte_block b, char byte)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, _mm256_set1_epi8(byte)));
}

static inline uint64_t block_special(byte_block b)
{
    __m256i low = _mm256_cmpeq_epi8(_mm256_min_epu8(b, _mm256_set1_epi8(0x1f)), b);
    __m256i quote = _mm256_cmpeq_epi8(b, _mm256_set1_epi8('"')), slash = _mm256_cmpeq_epi8(b, _mm256_set1_epi8('\\'));

    return (uint32_t)_mm256_movemask_epi8(_mm256_or_si256(low, _mm256_or_si256(quote, slash)));
}

#elif defined(__SSE2__)
#include <emmintrin.h>

#define BLOCK_BYTES 16u
#define BLOCK_BITS  1u

typedef __m128i byte_block;

static inline byte_block block_load(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline void block_store(char *p, byte_block b)
{
    _mm_storeu_si128((__m128i *)(void *)p, b);
}

static inline uint64_t block_equal(byte_block b, char byte)
{
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(b, _mm_set1_epi8(byte)));
}

static inline uint64_t block_special(byte_block b)
{
    __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(b, _mm_set1_epi8(0x1f)), b);
    __m128i quote = _mm_cmpeq_epi8(b, _mm_set1_epi8('"')), slash = _mm_cmpeq_epi8(b, _mm_set1_epi8('\\'));

    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(low, _mm_or_si128(quote, slash)));
}

#elif defined(LEVEL_NEON)
#include <arm_neon.h>

#define BLOCK_BYTES 16u
#define BLOCK_BITS  4u

typedef uint8x16_t byte_block;

static inline byte_block block_load(const char *p)
{
    return vld1q_u8((const uint8_t *)p);
}

static inline void block_store(char *p, byte_block b)
{
    vst1q_u8((uint8_t *)p, b);
}

/* Returns four bits for each byte of a comparison. */
static inline uint64_t block_mask(uint8x16_t same)
{
    return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(same), 4)), 0);
}

static inline uint64_t block_equal(byte_block b, char byte)
{
    return block_mask(vceqq_u8(b, vdupq_n_u8((uint8_t)byte)));
}

static inline uint8x16_t block_special_bytes(byte_block b)
{
    uint8x16_t either = vorrq_u8(vceqq_u8(b, vdupq_n_u8('"')), vceqq_u8(b, vdupq_n_u8('\\')));

    return vorrq_u8(either, vcltq_u8(b, vdupq_n_u8(0x20)));
}

static inline uint64_t block_special(byte_block b)
{
    return block_mask(block_special_bytes(b));
}

#else

#define BLOCK_BYTES WORD_BYTES
#define BLOCK_BITS  8u

typedef uint64_t byte_block;

static inline byte_block block_load(const char *p)
{
    return bytes_load64(p);
}

static inline void block_store(char *p, byte_block b)
{
    bytes_store64(p, b);
}

static inline uint64_t block_equal(byte_block b, char byte)
{
    return word_equal(b, (uint8_t)byte);
}

static inline uint64_t block_special(byte_block b)
{
    return word_special(b);
}

#endif

/* Returns the number of the first byte of a mask, which is not 0. */
static inline size_t block_first(uint64_t mask)
{
    return (size_t)__builtin_ctzll(mask) / BLOCK_BITS;
}

/* ---- Parts of blocks --------------------------------------------------------------------------------------------- */

/* Copies `count` bytes, fewer than BLOCK_BYTES, to memory that may overlap them: loads both ends before it stores one,
 * and writes nothing else. */
static inline void block_move(char *to, const char *from, size_t count)
{
    char a[32], b[32];

#define BLOCK_MOVE_ENDS(size)                                                                                          \
    if (count >= (size)) {                                                                                             \
        memcpy(a, from, size);                                                                                         \
        memcpy(b, from + count - (size), size);                                                                        \
        memcpy(to, a, size);                                                                                           \
        memcpy(to + count - (size), b, size);                                                                          \
        return;                                                                                                        \
    }
    if (BLOCK_BYTES > 32)
        BLOCK_MOVE_ENDS(32)
    if (BLOCK_BYTES > 16)
        BLOCK_MOVE_ENDS(16)
    BLOCK_MOVE_ENDS(8)
    BLOCK_MOVE_ENDS(4)
#undef BLOCK_MOVE_ENDS
    if (count > 0) { /* one to three */
        a[0] = from[0], a[1] = from[count / 2], a[2] = from[count - 1];
        to[0] = a[0], to[count / 2] = a[1], to[count - 1] = a[2];
    }
}

#endif
