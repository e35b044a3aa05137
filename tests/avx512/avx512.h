/*
 * avx512.h: the instructions of AVX-512 that leat's kernels use, in plain C, so that these kernels can be tested on any
 * x86-64 CPU that has AVX2, and under the sanitizers (make check-avx512). It is included before all else, takes the
 * place of <immintrin.h>, and says that the CPU has AVX-512.
 *
 * It is stricter than the CPU: lanes that are masked out are not touched, aligned loads and stores are checked, and
 * what is undefined is filled with 0xa5. A kernel that uses another instruction needs another line here.
 */
#ifndef LEAT_TESTS_AVX512_H
#define LEAT_TESTS_AVX512_H

#define _IMMINTRIN_H_INCLUDED
#include <x86gprintrin.h>

#include <nmmintrin.h>

#include <avxintrin.h>

#include <avx2intrin.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define XXH_VECTOR 2 /* xxHash's code for AVX2; that for AVX-512 is its own */

typedef long long __m512i __attribute__((vector_size(64), may_alias));
typedef unsigned char __mmask8;
typedef unsigned short __mmask16;
typedef unsigned __mmask32;
typedef unsigned long long __mmask64;

union lanes {
    __m512i v;
    __m256i half[2];
    __m128i quarter[4];
    uint8_t u8[64];
    int8_t i8[64];
    uint16_t u16[32];
    uint32_t u32[16];
    int32_t i32[16];
    uint64_t u64[8];
    int64_t i64[8];
};

#define EMULATED static inline __attribute__((unused))

/* ---- Lane by lane ------------------------------------------------------------------------------------------------ */

/* NAME(a, b), with r the result and x, y the arguments as lanes */
#define LANES(NAME, TYPE, N, WHAT)                                                                                     \
    EMULATED __m512i _mm512_##NAME(__m512i a, __m512i b)                                                               \
    {                                                                                                                  \
        union lanes x = { a }, y = { b }, r;                                                                           \
        for (unsigned i = 0; i < (N); i++)                                                                             \
            r.TYPE[i] = (WHAT);                                                                                        \
        return r.v;                                                                                                    \
    }
LANES(add_epi8, u8, 64, (uint8_t)(x.u8[i] + y.u8[i]))
LANES(add_epi32, u32, 16, x.u32[i] + y.u32[i])
LANES(add_epi64, u64, 8, x.u64[i] + y.u64[i])
LANES(sub_epi32, u32, 16, x.u32[i] - y.u32[i])
LANES(sub_epi64, u64, 8, x.u64[i] - y.u64[i])
LANES(mullo_epi32, u32, 16, x.u32[i] * y.u32[i])
LANES(mullo_epi64, u64, 8, x.u64[i] * y.u64[i])
LANES(subs_epu8, u8, 64, x.u8[i] > y.u8[i] ? (uint8_t)(x.u8[i] - y.u8[i]) : 0)
LANES(mul_epu32, u64, 8, (x.u64[i] & UINT32_MAX) * (y.u64[i] & UINT32_MAX))
LANES(min_epu32, u32, 16, x.u32[i] < y.u32[i] ? x.u32[i] : y.u32[i])
LANES(min_epu64, u64, 8, x.u64[i] < y.u64[i] ? x.u64[i] : y.u64[i])
LANES(and_si512, u64, 8, x.u64[i] & y.u64[i])
LANES(or_si512, u64, 8, x.u64[i] | y.u64[i])
LANES(xor_si512, u64, 8, x.u64[i] ^ y.u64[i])
LANES(andnot_si512, u64, 8, ~x.u64[i] & y.u64[i])
LANES(srlv_epi32, u32, 16, y.u32[i] < 32 ? x.u32[i] >> y.u32[i] : 0)
LANES(srlv_epi64, u64, 8, y.u64[i] < 64 ? x.u64[i] >> y.u64[i] : 0)
LANES(sllv_epi32, u32, 16, y.u32[i] < 32 ? x.u32[i] << y.u32[i] : 0)
LANES(sllv_epi64, u64, 8, y.u64[i] < 64 ? x.u64[i] << y.u64[i] : 0)
LANES(shuffle_epi8, u8, 64, y.u8[i] & 0x80 ? 0 : x.u8[(i & 48) + (y.u8[i] & 15)])
LANES(permutexvar_epi8, u8, 64, y.u8[x.u8[i] & 63])
LANES(permutexvar_epi64, u64, 8, y.u64[x.u64[i] & 7])

/* by a number */
#define SHIFTS(NAME, TYPE, N, WIDTH, WHAT)                                                                             \
    EMULATED __m512i _mm512_##NAME(__m512i a, unsigned by)                                                             \
    {                                                                                                                  \
        union lanes x = { a }, r;                                                                                      \
        for (unsigned i = 0; i < (N); i++)                                                                             \
            r.TYPE[i] = by < (WIDTH) ? (WHAT) : 0;                                                                     \
        return r.v;                                                                                                    \
    }
SHIFTS(srli_epi16, u16, 32, 16, (uint16_t)(x.u16[i] >> by))
SHIFTS(srli_epi32, u32, 16, 32, x.u32[i] >> by)
SHIFTS(srli_epi64, u64, 8, 64, x.u64[i] >> by)
SHIFTS(slli_epi32, u32, 16, 32, x.u32[i] << by)
SHIFTS(slli_epi64, u64, 8, 64, x.u64[i] << by)

EMULATED __m512i _mm512_srl_epi32(__m512i a, __m128i by)
{
    uint64_t count = (uint64_t)_mm_cvtsi128_si64(by);

    return _mm512_srli_epi32(a, count < 32 ? (unsigned)count : 32);
}

EMULATED __m512i _mm512_srl_epi64(__m512i a, __m128i by)
{
    uint64_t count = (uint64_t)_mm_cvtsi128_si64(by);

    return _mm512_srli_epi64(a, count < 64 ? (unsigned)count : 64);
}

EMULATED __m512i _mm512_lzcnt_epi32(__m512i a)
{
    union lanes x = { a }, r;

    for (unsigned i = 0; i < 16; i++)
        r.u32[i] = x.u32[i] ? (uint32_t)__builtin_clz(x.u32[i]) : 32;
    return r.v;
}

EMULATED __m512i _mm512_ternarylogic_epi32(__m512i a, __m512i b, __m512i c, int table)
{
    union lanes x = { a }, y = { b }, z = { c }, r;

    for (unsigned i = 0; i < 16; i++) {
        r.u32[i] = 0;
        for (unsigned k = 0; k < 32; k++) {
            unsigned row = (x.u32[i] >> k & 1) << 2 | (y.u32[i] >> k & 1) << 1 | (z.u32[i] >> k & 1);

            r.u32[i] |= (uint32_t)((unsigned)table >> row & 1) << k;
        }
    }
    return r.v;
}

/* ---- The same, where a mask says so ------------------------------------------------------------------------------ */

#define BLEND(TYPE, N, MASK)                                                                                           \
    EMULATED __m512i blend_##TYPE(MASK k, __m512i a, __m512i b) /* a where 0 */                                        \
    {                                                                                                                  \
        union lanes x = { a }, y = { b }, r;                                                                           \
        for (unsigned i = 0; i < (N); i++)                                                                             \
            r.TYPE[i] = k >> i & 1 ? y.TYPE[i] : x.TYPE[i];                                                            \
        return r.v;                                                                                                    \
    }
BLEND(u8, 64, __mmask64)
BLEND(u32, 16, __mmask16)
BLEND(u64, 8, __mmask8)
#define ZEROS ((__m512i) { 0 })

EMULATED __m512i _mm512_mask_blend_epi8(__mmask64 k, __m512i a, __m512i b)
{
    return blend_u8(k, a, b);
}
EMULATED __m512i _mm512_mask_mov_epi32(__m512i from, __mmask16 k, __m512i a)
{
    return blend_u32(k, from, a);
}
EMULATED __m512i _mm512_maskz_mov_epi32(__mmask16 k, __m512i a)
{
    return blend_u32(k, ZEROS, a);
}
EMULATED __m512i _mm512_maskz_mov_epi64(__mmask8 k, __m512i a)
{
    return blend_u64(k, ZEROS, a);
}
EMULATED __m512i _mm512_maskz_srli_epi64(__mmask8 k, __m512i a, unsigned by)
{
    return blend_u64(k, ZEROS, _mm512_srli_epi64(a, by));
}
EMULATED __m512i _mm512_maskz_and_epi32(__mmask16 k, __m512i a, __m512i b)
{
    return blend_u32(k, ZEROS, a & b);
}
EMULATED __m512i _mm512_mask_and_epi32(__m512i from, __mmask16 k, __m512i a, __m512i b)
{
    return blend_u32(k, from, a & b);
}
EMULATED __m512i _mm512_mask_or_epi32(__m512i from, __mmask16 k, __m512i a, __m512i b)
{
    return blend_u32(k, from, a | b);
}
EMULATED __m512i _mm512_mask_or_epi64(__m512i from, __mmask8 k, __m512i a, __m512i b)
{
    return blend_u64(k, from, a | b);
}
EMULATED __m512i _mm512_mask_xor_epi32(__m512i from, __mmask16 k, __m512i a, __m512i b)
{
    return blend_u32(k, from, a ^ b);
}
EMULATED __m512i _mm512_mask_xor_epi64(__m512i from, __mmask8 k, __m512i a, __m512i b)
{
    return blend_u64(k, from, a ^ b);
}

/* ---- Comparisons: bits ------------------------------------------------------------------------------------------- */

#define COMPARES(NAME, TYPE, N, MASK, WHAT)                                                                            \
    EMULATED MASK _mm512_##NAME##_mask(__m512i a, __m512i b)                                                           \
    {                                                                                                                  \
        union lanes x = { a }, y = { b };                                                                              \
        MASK bits = 0;                                                                                                 \
        for (unsigned i = 0; i < (N); i++)                                                                             \
            bits |= (MASK)((MASK)((WHAT) ? 1 : 0) << i);                                                               \
        return bits;                                                                                                   \
    }                                                                                                                  \
    EMULATED MASK _mm512_mask_##NAME##_mask(MASK k, __m512i a, __m512i b)                                              \
    {                                                                                                                  \
        return (MASK)(k & _mm512_##NAME##_mask(a, b));                                                                 \
    }
COMPARES(cmpeq_epi8, u8, 64, __mmask64, x.u8[i] == y.u8[i])
COMPARES(cmpeq_epi32, u32, 16, __mmask16, x.u32[i] == y.u32[i])
COMPARES(cmpeq_epu64, u64, 8, __mmask8, x.u64[i] == y.u64[i])
COMPARES(cmplt_epu8, u8, 64, __mmask64, x.u8[i] < y.u8[i])
COMPARES(cmplt_epu32, u32, 16, __mmask16, x.u32[i] < y.u32[i])
COMPARES(cmplt_epi32, i32, 16, __mmask16, x.i32[i] < y.i32[i])
COMPARES(cmplt_epu64, u64, 8, __mmask8, x.u64[i] < y.u64[i])
COMPARES(cmpge_epu8, u8, 64, __mmask64, x.u8[i] >= y.u8[i])
COMPARES(cmpge_epi8, i8, 64, __mmask64, x.i8[i] >= y.i8[i])
COMPARES(cmpge_epu32, u32, 16, __mmask16, x.u32[i] >= y.u32[i])
COMPARES(cmpge_epu64, u64, 8, __mmask8, x.u64[i] >= y.u64[i])
COMPARES(test_epi8, u8, 64, __mmask64, x.u8[i] & y.u8[i])
COMPARES(test_epi32, u32, 16, __mmask16, x.u32[i] & y.u32[i])
COMPARES(test_epi64, u64, 8, __mmask8, x.u64[i] & y.u64[i])
COMPARES(testn_epi8, u8, 64, __mmask64, !(x.u8[i] & y.u8[i]))
COMPARES(testn_epi32, u32, 16, __mmask16, !(x.u32[i] & y.u32[i]))
COMPARES(testn_epi64, u64, 8, __mmask8, !(x.u64[i] & y.u64[i]))

EMULATED __mmask64 _mm512_movepi8_mask(__m512i a)
{
    return ~_mm512_cmpge_epi8_mask(a, ZEROS);
}

EMULATED __mmask8 _mm256_cmpeq_epi64_mask(__m256i a, __m256i b)
{
    return (__mmask8)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(a, b)));
}

/* ---- Making, taking apart ---------------------------------------------------------------------------------------- */

EMULATED __m512i _mm512_setzero_si512(void)
{
    return ZEROS;
}

#define SETS(NAME, TYPE, N, ARGUMENT)                                                                                  \
    EMULATED __m512i _mm512_##NAME(ARGUMENT a)                                                                         \
    {                                                                                                                  \
        union lanes r;                                                                                                 \
        for (unsigned i = 0; i < (N); i++)                                                                             \
            r.TYPE[i] = a;                                                                                             \
        return r.v;                                                                                                    \
    }
SETS(set1_epi8, i8, 64, char)
SETS(set1_epi32, i32, 16, int)
SETS(set1_epi64, i64, 8, long long)
SETS(broadcast_i32x4, quarter, 4, __m128i)

EMULATED __m512i _mm512_maskz_set1_epi8(__mmask64 k, char a)
{
    return blend_u8(k, ZEROS, _mm512_set1_epi8(a));
}

EMULATED __m512i set_lanes(const int lane[16])
{
    union lanes r;

    memcpy(r.i32, lane, sizeof r.i32);
    return r.v;
}
#define _mm512_setr_epi32(...) set_lanes((const int[16]) { __VA_ARGS__ })
#define _mm512_set_epi32(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)                                               \
    set_lanes((const int[16]) { p, o, n, m, l, k, j, i, h, g, f, e, d, c, b, a })
#define _mm512_setr_epi64(...) ((__m512i) { __VA_ARGS__ })

EMULATED __m256i _mm512_castsi512_si256(__m512i a)
{
    return ((union lanes) { a }).half[0];
}
EMULATED __m128i _mm512_castsi512_si128(__m512i a)
{
    return ((union lanes) { a }).quarter[0];
}
EMULATED __m512i _mm512_castsi256_si512(__m256i a)
{
    union lanes r;

    memset(&r, 0xa5, sizeof r); /* undefined */
    r.half[0] = a;
    return r.v;
}
EMULATED __m256i _mm512_extracti64x4_epi64(__m512i a, int which)
{
    return ((union lanes) { a }).half[which & 1];
}
EMULATED __m128i _mm512_extracti32x4_epi32(__m512i a, int which)
{
    return ((union lanes) { a }).quarter[which & 3];
}
EMULATED __m512i _mm512_inserti64x4(__m512i a, __m256i b, int which)
{
    union lanes r = { a };

    r.half[which & 1] = b;
    return r.v;
}

#define WIDENS(NAME, FROM, VECTOR, TO, N)                                                                              \
    EMULATED __m512i _mm512_##NAME(VECTOR a)                                                                           \
    {                                                                                                                  \
        union lanes x = { ZEROS }, r;                                                                                  \
        memcpy(&x, &a, sizeof a);                                                                                      \
        for (unsigned i = 0; i < (N); i++)                                                                             \
            r.TO[i] = x.FROM[i];                                                                                       \
        return r.v;                                                                                                    \
    }
WIDENS(cvtepu8_epi32, u8, __m128i, u32, 16)
WIDENS(cvtepu8_epi64, u8, __m128i, u64, 8)
WIDENS(cvtepu32_epi64, u32, __m256i, u64, 8)

EMULATED __m256i _mm512_cvtepi64_epi32(__m512i a)
{
    union lanes x = { a }, r;

    for (unsigned i = 0; i < 8; i++)
        r.u32[i] = (uint32_t)x.u64[i];
    return r.half[0];
}

#define REDUCES(NAME, TYPE, N, RESULT, WHAT)                                                                           \
    EMULATED RESULT _mm512_##NAME(__m512i a)                                                                           \
    {                                                                                                                  \
        union lanes x = { a };                                                                                         \
        RESULT r = (RESULT)x.TYPE[0];                                                                                  \
        for (unsigned i = 0; i < (N); i++)                                                                             \
            r = (WHAT);                                                                                                \
        return r;                                                                                                      \
    }
REDUCES(reduce_or_epi64, i64, 8, long long, r | x.i64[i])
REDUCES(reduce_min_epu32, u32, 16, unsigned, x.u32[i] < r ? x.u32[i] : r)
REDUCES(reduce_max_epu32, u32, 16, unsigned, x.u32[i] > r ? x.u32[i] : r)

/* ---- Lanes that move --------------------------------------------------------------------------------------------- */

EMULATED __m512i _mm512_permutex2var_epi8(__m512i a, __m512i at, __m512i b)
{
    union lanes x = { a }, y = { b }, k = { at }, r;

    for (unsigned i = 0; i < 64; i++)
        r.u8[i] = k.u8[i] & 64 ? y.u8[k.u8[i] & 63] : x.u8[k.u8[i] & 63];
    return r.v;
}

/* the lanes of b, then those of a, from number `by` on */
#define ALIGNS(NAME, TYPE, N)                                                                                          \
    EMULATED __m512i _mm512_##NAME(__m512i a, __m512i b, int by)                                                       \
    {                                                                                                                  \
        union lanes x = { a }, y = { b }, r;                                                                           \
        unsigned first = (unsigned)by & ((N)-1);                                                                       \
        for (unsigned i = 0; i < (N); i++)                                                                             \
            r.TYPE[i] = i + first < (N) ? y.TYPE[i + first] : x.TYPE[i + first - (N)];                                 \
        return r.v;                                                                                                    \
    }
ALIGNS(alignr_epi32, u32, 16)
ALIGNS(alignr_epi64, u64, 8)

#define COMPRESSES(NAME, TYPE, N, MASK)                                                                                \
    EMULATED __m512i _mm512_maskz_compress_##NAME(MASK k, __m512i a)                                                   \
    {                                                                                                                  \
        union lanes x = { a }, r = { ZEROS };                                                                          \
        unsigned count = 0;                                                                                            \
        for (unsigned i = 0; i < (N); i++)                                                                             \
            if (k >> i & 1)                                                                                            \
                r.TYPE[count++] = x.TYPE[i];                                                                           \
        return r.v;                                                                                                    \
    }
COMPRESSES(epi8, u8, 64, __mmask64)
COMPRESSES(epi32, u32, 16, __mmask16)
COMPRESSES(epi64, u64, 8, __mmask8)

EMULATED __m256i _mm256_maskz_compress_epi32(__mmask8 k, __m256i a)
{
    return _mm512_castsi512_si256(_mm512_maskz_compress_epi32(k, _mm512_castsi256_si512(a)));
}
EMULATED __m256i _mm256_maskz_compress_epi64(__mmask8 k, __m256i a)
{
    return _mm512_castsi512_si256(_mm512_maskz_compress_epi64(k & 15, _mm512_castsi256_si512(a)));
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

EMULATED const void *aligned(const void *p)
{
    if ((uintptr_t)p % 64)
        abort();
    return p;
}

EMULATED __m512i _mm512_loadu_si512(const void *p)
{
    union lanes r;

    memcpy(&r, p, sizeof r);
    return r.v;
}
EMULATED void _mm512_storeu_si512(void *p, __m512i a)
{
    memcpy(p, &a, sizeof a);
}
EMULATED __m512i _mm512_load_si512(const void *p)
{
    return _mm512_loadu_si512(aligned(p));
}
EMULATED void _mm512_store_si512(void *p, __m512i a)
{
    memcpy((void *)(uintptr_t)aligned(p), &a, sizeof a);
}

#define LOADS(NAME, TYPE, N, MASK)                                                                                     \
    EMULATED __m512i _mm512_maskz_##NAME(MASK k, const void *p)                                                        \
    {                                                                                                                  \
        union lanes r = { ZEROS };                                                                                     \
        for (unsigned i = 0; i < (N); i++)                                                                             \
            if (k >> i & 1)                                                                                            \
                memcpy(&r.TYPE[i], (const char *)p + i * sizeof r.TYPE[i], sizeof r.TYPE[i]);                          \
        return r.v;                                                                                                    \
    }
LOADS(loadu_epi8, u8, 64, __mmask64)
LOADS(loadu_epi32, u32, 16, __mmask16)

EMULATED __m512i _mm512_maskz_load_epi32(__mmask16 k, const void *p)
{
    return _mm512_maskz_loadu_epi32(k, aligned(p));
}
EMULATED __m128i _mm_maskz_loadu_epi8(__mmask16 k, const void *p)
{
    return _mm512_castsi512_si128(_mm512_maskz_loadu_epi8(k, p));
}

EMULATED __m512i _mm512_mask_i32gather_epi32(__m512i from, __mmask16 k, __m512i at, const void *base, int scale)
{
    union lanes x = { at }, r = { from };

    for (unsigned i = 0; i < 16; i++)
        if (k >> i & 1)
            memcpy(&r.u32[i], (const char *)base + (int64_t)x.i32[i] * scale, 4);
    return r.v;
}
EMULATED __m512i _mm512_i32gather_epi32(__m512i at, const void *base, int scale)
{
    return _mm512_mask_i32gather_epi32(ZEROS, 0xffff, at, base, scale);
}
EMULATED __m512i _mm512_mask_i32gather_epi64(__m512i from, __mmask8 k, __m256i at, const void *base, int scale)
{
    union lanes x = { _mm512_castsi256_si512(at) }, r = { from };

    for (unsigned i = 0; i < 8; i++)
        if (k >> i & 1)
            memcpy(&r.u64[i], (const char *)base + (int64_t)x.i32[i] * scale, 8);
    return r.v;
}
EMULATED void _mm512_mask_i32scatter_epi32(void *base, __mmask16 k, __m512i at, __m512i a, int scale)
{
    union lanes x = { at }, y = { a };

    for (unsigned i = 0; i < 16; i++)
        if (k >> i & 1)
            memcpy((char *)base + (int64_t)x.i32[i] * scale, &y.u32[i], 4);
}

#undef LANES
#undef SHIFTS
#undef BLEND
#undef COMPARES
#undef SETS
#undef WIDENS
#undef REDUCES
#undef ALIGNS
#undef COMPRESSES
#undef LOADS

#define __AVX512F__  1
#define __AVX512BW__ 1
#define __AVX512VL__ 1
#define __AVX512DQ__ 1
#define __AVX512CD__ 1
#if defined(EMULATE_VBMI)
#define __AVX512VBMI__  1
#define __AVX512VBMI2__ 1
#endif

#endif
