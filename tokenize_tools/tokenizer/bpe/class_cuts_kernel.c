/*
 * class_cuts_kernel.c: finds cuts (class_cuts.h), for one CPU level; compiled once for each.
 *
 * A cut before text[i] is allowed if (before[text[i - 1]] & after[text[i]]) == 0. So for 64 places at once both tables
 * of 256 bytes are looked up, and the results compared with 0; the bits of that mask are the cuts. The levels differ
 * only in how 64 bytes are looked up: by permutations of VBMI, by sixteen shuffles, or by NEON's tables; without
 * vectors, byte by byte.
 */
#include <string.h>

#include "base/cpu.h"
#include "class_cuts.h"

#if defined(__AVX512VBMI__)
#include <immintrin.h>

#include "tokenizer/scan/bit_places_avx512.h"

struct tables {
    __m512i before[4], after[4];
};

static inline void load_tables(struct tables *t, const struct class_cuts *c)
{
    for (unsigned i = 0; i < 4; i++) {
        t->before[i] = _mm512_loadu_si512(c->before + 64 * i);
        t->after[i] = _mm512_loadu_si512(c->after + 64 * i);
    }
}

static inline __m512i look_up(const __m512i table[4], __m512i bytes)
{
    __m512i low = _mm512_permutex2var_epi8(table[0], bytes, table[1]);
    __m512i high = _mm512_permutex2var_epi8(table[2], bytes, table[3]);

    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), low, high);
}

/* Returns a bit for each of 64 places, of which the first is before text[0]; text[-1] to text[63] can be read. */
static inline uint64_t cuts_of(const struct tables *t, const uint8_t *text)
{
    __m512i before = look_up(t->before, _mm512_loadu_si512(text - 1));

    return _mm512_testn_epi8_mask(before, look_up(t->after, _mm512_loadu_si512(text)));
}

/* Returns the cuts of `count` places, less than 64, and reads no byte beyond them. */
static inline uint64_t cuts_of_rest(const struct tables *t, const uint8_t *text, size_t count)
{
    __mmask64 some = ((uint64_t)1 << count) - 1;
    __m512i before = look_up(t->before, _mm512_maskz_loadu_epi8(some, text - 1));

    return _mm512_mask_testn_epi8_mask(some, before, look_up(t->after, _mm512_maskz_loadu_epi8(some, text)));
}

#elif defined(__AVX2__)
#include <immintrin.h>

/* The tables, which have more rows than there are registers: each row is loaded once for two vectors. */
struct tables {
    const struct class_cuts *classes;
};

static inline void load_tables(struct tables *t, const struct class_cuts *c)
{
    t->classes = c;
}

/* Two vectors for 64 bytes, or for what was found for them. */
struct two {
    __m256i low, high;
};

static inline struct two load_two(const uint8_t *text)
{
    return (struct two) { _mm256_loadu_si256((const __m256i *)text), _mm256_loadu_si256((const __m256i *)(text + 32)) };
}

/* Looks up the lower four bits of bytes in a row; the entry is 0 if the highest bit is set. */
static inline struct two shuffle_row(const uint8_t *row, struct two bytes)
{
    __m256i r = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)row));

    return (struct two) { _mm256_shuffle_epi8(r, bytes.low), _mm256_shuffle_epi8(r, bytes.high) };
}

/* Takes `other` where a bit of the bytes is set, else `one`; `up` moves the bit to the place that blends read. */
static inline struct two choose(struct two one, struct two other, struct two bytes, int up)
{
    return (struct two) { _mm256_blendv_epi8(one.low, other.low, _mm256_slli_epi16(bytes.low, up)),
                          _mm256_blendv_epi8(one.high, other.high, _mm256_slli_epi16(bytes.high, up)) };
}

/* Looks up entries by the lower six bits of bytes. */
static inline struct two look_up_64(const uint8_t *table, struct two bytes)
{
    struct two one = choose(shuffle_row(table, bytes), shuffle_row(table + 16, bytes), bytes, 3);
    struct two other = choose(shuffle_row(table + 32, bytes), shuffle_row(table + 48, bytes), bytes, 3);

    return choose(one, other, bytes, 2);
}

/* Looks up entries by the lower seven bits of bytes; the entry is 0 if the highest bit is set. */
static inline struct two look_up(const uint8_t *table, struct two bytes)
{
    return choose(look_up_64(table, bytes), look_up_64(table + 64, bytes), bytes, 1);
}

/* Looks up entries of bytes beyond ASCII, in four rows of sixteen from `table` on. */
static inline struct two look_up_high(const uint8_t *table, struct two bytes, struct two found)
{
    const __m256i seven = _mm256_set1_epi8(0x7f);
    struct two low = { _mm256_and_si256(bytes.low, seven), _mm256_and_si256(bytes.high, seven) };

    return choose(found, look_up_64(table, low), bytes, 0);
}

/* Returns bits for the places where no class is among those that must not be cut off, and no character goes on. */
static inline uint32_t cuts_of_half(__m256i before, __m256i after, __m256i bytes)
{
    __m256i cut = _mm256_cmpeq_epi8(_mm256_and_si256(before, after), _mm256_setzero_si256());
    __m256i inside = _mm256_cmpgt_epi8(_mm256_set1_epi8(-64), bytes);

    return (uint32_t)_mm256_movemask_epi8(_mm256_andnot_si256(inside, cut));
}

static inline uint64_t cuts_of(const struct tables *t, const uint8_t *text)
{
    struct two last = load_two(text - 1), first = load_two(text);
    struct two before = look_up(t->classes->before, last), after = look_up(t->classes->after, first);
    __m256i any = _mm256_or_si256(_mm256_or_si256(last.low, last.high), first.high);

    if (_mm256_movemask_epi8(any)) {
        before = look_up_high(t->classes->before + 128, last, before);
        after = look_up_high(t->classes->after + 192, first, after);
    }
    return cuts_of_half(before.low, after.low, first.low) | (uint64_t)cuts_of_half(before.high, after.high, first.high)
                                                                << 32;
}

#elif defined(LEVEL_NEON)
#include "base/bytes64.h"

struct tables {
    uint8x16x4_t before[4], after[4];
};

static inline void load_tables(struct tables *t, const struct class_cuts *c)
{
    for (unsigned i = 0; i < 4; i++)
        for (unsigned k = 0; k < 4; k++) {
            t->before[i].val[k] = vld1q_u8(c->before + 64 * i + 16 * k);
            t->after[i].val[k] = vld1q_u8(c->after + 64 * i + 16 * k);
        }
}

/* Looks up 64 bytes in a table of NEON. A byte beyond the table gives 0. */
static inline uint8x16_t look_up(const uint8x16x4_t table[4], uint8x16_t bytes)
{
    uint8x16_t found = vqtbl4q_u8(table[0], bytes);

    for (unsigned i = 1; i < 4; i++)
        found = vorrq_u8(found, vqtbl4q_u8(table[i], vsubq_u8(bytes, vdupq_n_u8((uint8_t)(64 * i)))));
    return found;
}

static inline uint64_t cuts_of(const struct tables *t, const uint8_t *text)
{
    bytes64 before = bytes64_load(text - 1), after = bytes64_load(text), cut;

    for (unsigned i = 0; i < 4; i++)
        cut.val[i] = vceqzq_u8(vandq_u8(look_up(t->before, before.val[i]), look_up(t->after, after.val[i])));
    return bytes64_mask(cut.val[0], cut.val[1], cut.val[2], cut.val[3]);
}

#else

struct tables {
    const struct class_cuts *classes;
};

static inline void load_tables(struct tables *t, const struct class_cuts *c)
{
    t->classes = c;
}

static inline uint64_t cuts_of(const struct tables *t, const uint8_t *text)
{
    const struct class_cuts *c = t->classes;
    uint64_t cuts = 0;

    for (unsigned i = 0; i < 64; i++)
        cuts |= (uint64_t)((c->before[text[(int)i - 1]] & c->after[text[i]]) == 0) << i;
    return cuts;
}

#endif

#if !defined(__AVX512VBMI__)
/* Returns the cuts of less than 64 places, read from a copy. */
static uint64_t cuts_of_rest(const struct tables *t, const uint8_t *text, size_t count)
{
    uint8_t copy[65] = { 0 };

    memcpy(copy, text - 1, count + 1);
    return cuts_of(t, copy + 1) & (((uint64_t)1 << count) - 1);
}
#endif

/* Writes the places of the bits, counted from `base`; may write CUT_SLACK more. It takes eight at a time, without a
 * branch: a step for each bit was half of this kernel's time. */
static inline void put_places(const struct class_cuts *c, uint64_t bits, uint32_t base, uint32_t *cuts)
{
    (void)c;
#if defined(__AVX512VBMI2__)
    bit_places(bits, base, cuts);
#elif defined(__AVX2__)
    for (unsigned i = 0; i < 64; i += 8) {
        unsigned some = bits >> i & 0xff;
        __m256i places = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)c->bits[some]));

        _mm256_storeu_si256((__m256i *)cuts, _mm256_add_epi32(places, _mm256_set1_epi32((int)(base + i))));
        cuts += __builtin_popcount(some);
    }
#else
    unsigned count = (unsigned)__builtin_popcountll(bits);

    for (unsigned i = 0; i < count; i += 8)
        for (unsigned k = 0; k < 8; k++) {
            /* a bit that is always set, so that there is a lowest one */
            cuts[i + k] = base + (uint32_t)__builtin_ctzll(bits | (uint64_t)1 << 63);
            bits &= bits - 1;
        }
#endif
}

static size_t find_class_cuts(const struct class_cuts *c, const uint8_t *text, size_t bytes, size_t from, size_t to,
                              uint32_t *cuts, size_t enough, size_t *reached)
{
    struct tables tables;
    size_t count = 0, at = from;

    load_tables(&tables, c);
    for (; at < to && count < enough; at += 64) {
        uint64_t bits = bytes - at >= 64 ? cuts_of(&tables, text + at) : cuts_of_rest(&tables, text + at, to - at);

        if (to - at < 64)
            bits &= ((uint64_t)1 << (to - at)) - 1;
        put_places(c, bits, (uint32_t)at, cuts + count);
        count += (size_t)__builtin_popcountll(bits);
    }
    *reached = at < to ? at : to;
    return count;
}

const struct class_cuts_kernels LEVEL_NAME(class_cuts_kernels) = { LEVEL_TEXT, find_class_cuts };
