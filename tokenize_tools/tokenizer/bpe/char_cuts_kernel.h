/*
 * char_cuts_kernel.h: cuts pretokens where char_cuts.h allows it, for pretoken_kernel.c.
 *
 * Whether a place is safe depends only on the characters on both sides of it. So one pass over all the text of a batch
 * finds the safe places as bits, whatever pretokens it consists of; then the ends of pretokens, which are bits too, are
 * joined with them, and one list of begins comes out, with a mark for each stretch that is a part of a pretoken.
 */
#if !defined(__AVX2__) && !defined(LEVEL_NEON)
#define BYTES64_BY_WORDS 1
#endif
#include "base/bytes64.h"
#include "char_cuts.h"
#include "pretoken_batch.h"
#if defined(__AVX512F__)
#include "tokenizer/scan/bit_places_avx512.h"
#endif

/* Bits for those of 64 bytes that begin a character beyond ASCII. */
static inline uint64_t block_leads(const uint8_t *text)
{
    return bytes64_from(bytes64_load(text), 0xc0);
}

/* For words of four bytes: high bits at bytes that do not continue a character. */
static inline uint32_t word_starts(uint32_t word)
{
    return (~word | word << 1) & 0x80808080u;
}

/* Whether there may be a cut before text[at], which begins a character beyond ASCII. Four bytes can be read before it
 * and from it on. */
static inline uint64_t safe_at(const struct char_cuts *c, const uint8_t *text, size_t at)
{
    uint32_t before = bytes_load32(text + at - 4), after = bytes_load32(text + at);
    uint64_t next = (uint64_t)(word_starts(after) & ~(uint32_t)0xff) | (uint64_t)1 << 39;
    uint8_t last = (uint8_t)(before >> 24);

    before >>= (31 - __builtin_clz(word_starts(before) | 0x80)) - 7;
    after &= (uint32_t)(((uint64_t)1 << (__builtin_ctzll(next) - 7)) - 1);
    return char_cuts_safe(c, before, last, after);
}

#if defined(__AVX512F__)
/* The same as bits, of sixteen places. `before`, `after`: the four bytes before each and from it on. */
static inline __mmask16 safe_at_many(const struct char_cuts *c, __m512i before, __m512i after)
{
    const __m512i highs = _mm512_set1_epi32((int)0x80808080), ones = _mm512_set1_epi32(1);
    __m512i last = _mm512_srli_epi32(before, 24), first, next, hash, bits, word;

    /* word_starts(): the highest bit of the first, the lowest of the other but for its first byte */
    first = _mm512_and_si512(_mm512_ternarylogic_epi32(before, _mm512_slli_epi32(before, 1), before, 0xcf), highs);
    first = _mm512_lzcnt_epi32(_mm512_or_si512(first, _mm512_set1_epi32(0x80)));
    before = _mm512_srlv_epi32(before, _mm512_sub_epi32(_mm512_set1_epi32(24), first));
    next = _mm512_ternarylogic_epi32(after, _mm512_slli_epi32(after, 1), after, 0xcf);
    next = _mm512_and_si512(next, _mm512_set1_epi32((int)0x80808000));
    next = _mm512_and_si512(next, _mm512_sub_epi32(_mm512_setzero_si512(), next));
    after = _mm512_and_si512(after, _mm512_sub_epi32(_mm512_srli_epi32(next, 7), ones));

    hash = _mm512_add_epi32(_mm512_mullo_epi32(before, _mm512_set1_epi32((int)CHAR_CUTS_BEFORE)),
                            _mm512_mullo_epi32(after, _mm512_set1_epi32((int)CHAR_CUTS_AFTER)));
    hash = _mm512_srl_epi32(hash, _mm_cvtsi32_si128((int)c->shift));
    word = _mm512_i32gather_epi32(_mm512_srli_epi32(hash, 5), c->pairs, 4);
    bits = _mm512_srlv_epi32(word, _mm512_and_si512(hash, _mm512_set1_epi32(31)));
    if (c->has_partial) {
        last = _mm512_add_epi32(_mm512_add_epi32(last, last), _mm512_and_si512(_mm512_srli_epi32(after, 5), ones));
        word = _mm512_i32gather_epi32(last, c->partial, 4);
        word = _mm512_srlv_epi32(word, _mm512_and_si512(after, _mm512_set1_epi32(31)));
        bits = _mm512_or_si512(bits, word);
    }
    return _mm512_testn_epi32_mask(bits, ones);
}

#if defined(__AVX512VBMI2__)
/* Bits for the safe ones among places `leads` of 64 bytes: what is around each is picked out of them. */
static inline uint64_t safe_leads(const struct char_cuts *c, const uint8_t *text, uint64_t leads)
{
    __m512i bytes = _mm512_loadu_si512(text - 4), more = _mm512_maskz_loadu_epi8(0xff, text + 60);
    __m512i places = bit_places_bytes(leads);
    unsigned count = (unsigned)__builtin_popcountll(leads);
    uint64_t safe = 0;

    for (unsigned i = 0; i < count; i += 16, places = _mm512_alignr_epi64(places, places, 2)) {
        __m512i before = bit_places_fours(places, 0x03020100), after = bit_places_fours(places, 0x07060504);

        safe |= (uint64_t)safe_at_many(c, _mm512_permutex2var_epi8(bytes, before, more),
                                       _mm512_permutex2var_epi8(bytes, after, more))
                << i;
    }
    return _pdep_u64(safe, leads);
}
#else
/* The same: what is around each is gathered. */
static inline uint64_t safe_leads(const struct char_cuts *c, const uint8_t *text, uint64_t leads)
{
    uint32_t places[64 + 16];
    unsigned count = (unsigned)__builtin_popcountll(leads);
    uint64_t safe = 0;

    bit_places(leads, 0, places);
    _mm512_storeu_si512(places + count, _mm512_setzero_si512());
    for (unsigned i = 0; i < count; i += 16) {
        __m512i at = _mm512_loadu_si512(places + i);

        safe |= (uint64_t)safe_at_many(c, _mm512_i32gather_epi32(at, text - 4, 1), _mm512_i32gather_epi32(at, text, 1))
                << i;
    }
    return _pdep_u64(safe, leads);
}
#endif
#endif

#if defined(__AVX2__) && !defined(__AVX512F__)
/* The place of the lowest of these bits, or 64, and that bit taken away. */
static inline size_t next_place(uint64_t *bits)
{
    size_t place = *bits ? (size_t)__builtin_ctzll(*bits) : 64;

    *bits &= *bits - 1;
    return place;
}

/* The eight bytes around each of four places: four before it, and four from it on. */
static inline __m256i around_four(const uint8_t *text, const size_t at[4])
{
    return _mm256_set_epi64x((long long)bytes_load64(text + at[3] - 4), (long long)bytes_load64(text + at[2] - 4),
                             (long long)bytes_load64(text + at[1] - 4), (long long)bytes_load64(text + at[0] - 4));
}

/* Numbers of `other` where those of `signs` are negative. */
static inline __m256i blend_signs(__m256i one, __m256i other, __m256i signs)
{
    return _mm256_castps_si256(
        _mm256_blendv_ps(_mm256_castsi256_ps(one), _mm256_castsi256_ps(other), _mm256_castsi256_ps(signs)));
}

/* As safe_at(), of eight places: a bit each. `before`, `after`: the four bytes before each and from it on. */
static inline unsigned safe_at_eight(const struct char_cuts *c, __m256i before, __m256i after)
{
    const __m256i ones = _mm256_set1_epi32(1), all = _mm256_set1_epi32(31);
    __m256i last = _mm256_srli_epi32(before, 24), starts, shift, next, hash, bits, word;

    /* word_starts(): the highest bit of the first, the lowest of the other but for its first byte */
    starts = _mm256_or_si256(_mm256_xor_si256(before, _mm256_set1_epi32(-1)), _mm256_slli_epi32(before, 1));
    shift = _mm256_and_si256(_mm256_srai_epi32(_mm256_slli_epi32(starts, 16), 31), _mm256_set1_epi32(8));
    shift = blend_signs(shift, _mm256_set1_epi32(16), _mm256_slli_epi32(starts, 8));
    shift = blend_signs(shift, _mm256_set1_epi32(24), starts);
    before = _mm256_srlv_epi32(before, shift);
    next = _mm256_or_si256(_mm256_xor_si256(after, _mm256_set1_epi32(-1)), _mm256_slli_epi32(after, 1));
    next = _mm256_and_si256(next, _mm256_set1_epi32((int)0x80808000));
    next = _mm256_and_si256(next, _mm256_sub_epi32(_mm256_setzero_si256(), next));
    after = _mm256_and_si256(after, _mm256_sub_epi32(_mm256_srli_epi32(next, 7), ones));

    hash = _mm256_add_epi32(_mm256_mullo_epi32(before, _mm256_set1_epi32((int)CHAR_CUTS_BEFORE)),
                            _mm256_mullo_epi32(after, _mm256_set1_epi32((int)CHAR_CUTS_AFTER)));
    hash = _mm256_srl_epi32(hash, _mm_cvtsi32_si128((int)c->shift));
    word = _mm256_i32gather_epi32((const int *)c->pairs, _mm256_srli_epi32(hash, 5), 4);
    bits = _mm256_srlv_epi32(word, _mm256_and_si256(hash, all));
    if (c->has_partial) {
        last = _mm256_add_epi32(_mm256_add_epi32(last, last), _mm256_and_si256(_mm256_srli_epi32(after, 5), ones));
        word = _mm256_i32gather_epi32((const int *)c->partial, last, 4);
        bits = _mm256_or_si256(bits, _mm256_srlv_epi32(word, _mm256_and_si256(after, all)));
    }
    return ~(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_slli_epi32(bits, 31))) & 0xff;
}

/* Bits for the safe ones among places `leads` of 64 bytes: what is around each is loaded by itself. */
static inline uint64_t safe_leads(const struct char_cuts *c, const uint8_t *text, uint64_t leads)
{
    uint64_t left = leads, safe = 0;

    while (leads) {
        size_t low[4], high[4];
        __m256 first, second;
        unsigned some;

        for (unsigned i = 0; i < 8; i++) /* so that a shuffle of halves leaves them in order */
            (i & 2 ? high : low)[(i & 1) | (i >> 1 & 2)] = next_place(&left);
        first = _mm256_castsi256_ps(around_four(text, low));
        second = _mm256_castsi256_ps(around_four(text, high));
        some = safe_at_eight(c, _mm256_castps_si256(_mm256_shuffle_ps(first, second, 0x88)),
                             _mm256_castps_si256(_mm256_shuffle_ps(first, second, 0xdd)));
        for (; leads != left; leads &= leads - 1, some >>= 1)
            safe |= (leads & -leads) & (0 - (uint64_t)(some & 1));
    }
    return safe;
}
#endif

/* So many places are gone through at once, if the CPU can. */
#define CUT_MANY 4

/* Bits for the safe ones among places `leads` of 64 bytes. Four more bytes can be read before and after them. */
static inline uint64_t block_safe(const struct char_cuts *c, const uint8_t *text, uint64_t leads)
{
    uint64_t safe = 0;

#if defined(__AVX2__)
    if (__builtin_popcountll(leads) >= CUT_MANY)
        return safe_leads(c, text, leads);
#endif
    for (; leads; leads &= leads - 1) {
        size_t i = (size_t)__builtin_ctzll(leads);

        safe |= safe_at(c, text, i) << i;
    }
    return safe;
}

/* What block_safe() reads of text[0..room), from text[at] on: near the ends from a copy. */
static inline const uint8_t *block_text(uint8_t copy[4 + 64 + 4], const uint8_t *text, size_t room, size_t at)
{
    size_t before = at < 4 ? at : 4, behind = room - at < 64 + 4 ? room - at : 64 + 4;

    if (before == 4 && behind == 64 + 4)
        return text + at;
    memset(copy, 0, 4 + 64 + 4);
    memcpy(copy + 4 - before, text + at - before, before + behind);
    return copy + 4;
}

/* ---- Pretokens and cuts in their order ---- */

/* The ends of pretokens that are left, and what they count from. */
struct cut_ends {
    const uint32_t *first, *next, *last;
    uint32_t base;
};

/* Notes the pretokens that end where pretokens number `first` and so on begin, by bits: fixed ones. */
static inline void note_fixed(struct pretoken_batch *b, uint32_t first, uint32_t which)
{
    for (; which; which &= which - 1)
        b->fixed[b->fixed_count++] = first + (uint32_t)__builtin_ctz(which) - 1;
}

#if defined(__AVX512F__)
/* Puts sixteen pretokens down; returns which of them begin before `limit`. */
static inline __mmask16 put_sixteen(struct pretoken_batch *b, uint32_t count, const struct cut_ends *e, uint32_t limit)
{
    size_t left = (size_t)(e->last - e->next);
    __mmask16 there = left >= 16 ? 0xffff : (__mmask16)((1u << left) - 1), fixed;
    __m512i ends = _mm512_maskz_loadu_epi32(there, e->next);
    __m512i begins = _mm512_andnot_si512(_mm512_set1_epi32((int)BATCH_FIXED), ends);

    begins = _mm512_sub_epi32(begins, _mm512_set1_epi32((int)e->base));
    there = _mm512_mask_cmplt_epu32_mask(there, begins, _mm512_set1_epi32((int)limit));
    fixed = _mm512_mask_cmplt_epi32_mask(there, ends, _mm512_setzero_si512());
    if (fixed)
        note_fixed(b, count, fixed);
    _mm512_storeu_si512(b->begins + count, begins);
    _mm_storeu_si128((__m128i *)(b->parts + count), _mm_set1_epi8(1));
    return there;
}
#elif defined(__AVX2__)
/* Puts eight pretokens down. */
static inline void put_eight(struct pretoken_batch *b, uint32_t count, const struct cut_ends *e)
{
    __m256i ends = _mm256_loadu_si256((const __m256i *)e->next);
    __m256i begins = _mm256_andnot_si256(_mm256_set1_epi32((int)BATCH_FIXED), ends);
    uint32_t fixed = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(ends));

    _mm256_storeu_si256((__m256i *)(b->begins + count), _mm256_sub_epi32(begins, _mm256_set1_epi32((int)e->base)));
    memset(b->parts + count, 1, 8);
    if (fixed)
        note_fixed(b, count, fixed);
}
#elif defined(LEVEL_NEON)
/* Puts eight pretokens down. */
static inline void put_eight(struct pretoken_batch *b, uint32_t count, const struct cut_ends *e)
{
    const uint32x4_t fixed = vdupq_n_u32(BATCH_FIXED), base = vdupq_n_u32(e->base);
    uint32x4_t low = vld1q_u32(e->next), high = vld1q_u32(e->next + 4);

    vst1q_u32(b->begins + count, vsubq_u32(vbicq_u32(low, fixed), base));
    vst1q_u32(b->begins + count + 4, vsubq_u32(vbicq_u32(high, fixed), base));
    vst1_u8(b->parts + count, vdup_n_u8(1));
    if (vmaxvq_u32(vorrq_u32(low, high)) >= BATCH_FIXED)
        for (unsigned k = 0; k < 8; k++)
            note_fixed(b, count + k, e->next[k] >> 31);
}
#endif

/* Without a safe place: the pretokens that begin before `limit`. */
static inline uint32_t put_pretokens(struct pretoken_batch *b, uint32_t count, struct cut_ends *e, uint32_t limit)
{
#if defined(__AVX512F__)
    /* whether all sixteen do is foretold by the last of them: no step waits for the one before */
    for (; e->last - e->next > 16 && (e->next[15] & ~BATCH_FIXED) - e->base < limit; e->next += 16, count += 16)
        put_sixteen(b, count, e, limit);
    for (unsigned taken = 16; taken == 16; e->next += taken, count += taken)
        taken = (unsigned)__builtin_popcount(put_sixteen(b, count, e, limit));
#else
#if defined(__AVX2__) || defined(LEVEL_NEON)
    for (; e->last - e->next > 8 && (e->next[7] & ~BATCH_FIXED) - e->base < limit; e->next += 8, count += 8)
        put_eight(b, count, e);
#endif
    for (; e->next < e->last && (*e->next & ~BATCH_FIXED) - e->base < limit; count++) {
        if (*e->next & BATCH_FIXED)
            note_fixed(b, count, 1);
        b->begins[count] = (*e->next++ & ~BATCH_FIXED) - e->base;
        b->parts[count] = 1;
    }
#endif
    return count;
}

/* Takes the ends out that lie in 64 places from `at` on, up to `limit`: bits; *fixed: those of fixed pretokens. */
static inline uint64_t take_ends(struct cut_ends *e, uint32_t at, uint32_t limit, uint64_t *fixed)
{
    uint64_t ends = 0;

    *fixed = 0;
#if defined(__AVX512F__)
    for (unsigned taken = 16; taken == 16; e->next += taken) {
        const __m512i ones = _mm512_set1_epi64(1), flag = _mm512_set1_epi32((int)BATCH_FIXED);
        size_t left = (size_t)(e->last - e->next);
        __mmask16 there = left >= 16 ? 0xffff : (__mmask16)((1u << left) - 1), flags;
        __m512i raw = _mm512_maskz_loadu_epi32(there, e->next), bits[2];
        __m512i places = _mm512_sub_epi32(_mm512_andnot_si512(flag, raw), _mm512_set1_epi32((int)(e->base + at)));

        there = _mm512_mask_cmplt_epu32_mask(there, places, _mm512_set1_epi32((int)(limit - at)));
        flags = _mm512_mask_test_epi32_mask(there, raw, flag);
        bits[0] = _mm512_sllv_epi64(ones, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(places)));
        bits[1] = _mm512_sllv_epi64(ones, _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(places, 1)));
        ends |= (uint64_t)_mm512_reduce_or_epi64(
            _mm512_mask_or_epi64(_mm512_maskz_mov_epi64((__mmask8)there, bits[0]), (__mmask8)(there >> 8),
                                 _mm512_maskz_mov_epi64((__mmask8)there, bits[0]), bits[1]));
        for (; flags; flags &= (__mmask16)(flags - 1))
            *fixed |= (uint64_t)1 << ((e->next[__builtin_ctz(flags)] & ~BATCH_FIXED) - e->base - at);
        taken = (unsigned)__builtin_popcount(there);
    }
#else
    for (; e->next < e->last && (*e->next & ~BATCH_FIXED) - e->base < limit; e->next++) {
        uint64_t bit = (uint64_t)1 << ((*e->next & ~BATCH_FIXED) - e->base - at);

        ends |= bit;
        *fixed |= *e->next & BATCH_FIXED ? bit : 0;
    }
#endif
    return ends;
}

/* The places after the last of these. */
static inline uint64_t behind_last(uint64_t bits)
{
    return bits ? ~(((uint64_t)2 << (63 - __builtin_clzll(bits))) - 1) : ~(uint64_t)0;
}

/* The places inside of fixed pretokens: those that end here, and one that goes on. */
static inline uint64_t inside_fixed(const struct cut_ends *e, uint64_t ends, uint64_t fixed)
{
    uint64_t inside = e->next < e->last && *e->next & BATCH_FIXED ? behind_last(ends) : 0;

    for (; fixed; fixed &= fixed - 1) {
        uint64_t before = (fixed & -fixed) - 1;

        inside |= before & behind_last(ends & before);
    }
    return inside;
}

/* The places in pretokens of more than CHAR_CUTS_MIN bytes, of pretokens that begin at `ends`, and `before` bytes
 * before the first place; the last one ends `behind` bytes after the first place. */
static inline uint64_t inside_long(uint64_t ends, uint32_t before, uint32_t behind)
{
    uint64_t first = ends & -ends, last = behind_last(ends), none = ~ends & ~last & ~(first - 1);

    if (!ends)
        return before + behind > CHAR_CUTS_MIN ? ~(uint64_t)0 : 0;
    none &= none >> 1; /* two places without an end, then four, eight, fifteen */
    none &= none >> 2;
    none &= none >> 4;
    none &= none >> 7;
    none |= none << 1;
    none |= none << 2;
    none |= none << 4;
    none |= none << 7;
    if (before + (uint32_t)__builtin_ctzll(ends) > CHAR_CUTS_MIN)
        none |= first - 1;
    return behind - (63 - (uint32_t)__builtin_clzll(ends)) > CHAR_CUTS_MIN ? none | last : none;
}

/* Puts down the pretokens that begin at `ends` and at safe places, from `at` on. `parts` says which is which. */
static inline uint32_t put_both(struct pretoken_batch *b, uint32_t count, uint32_t at, uint64_t ends, uint64_t fixed,
                                uint64_t safe)
{
    uint64_t all = ends | safe;

    for (; fixed; fixed &= fixed - 1)
        note_fixed(b, count + (uint32_t)__builtin_popcountll(all & ((fixed & -fixed) - 1)), 1);
#if defined(__AVX512F__)
    _mm512_storeu_si512(b->parts + count, _mm512_maskz_set1_epi8(_pext_u64(ends, all), 1));
    bit_places(all, at, b->begins + count);
    count += (uint32_t)__builtin_popcountll(all);
#else
    for (; all; all &= all - 1) {
        unsigned i = (unsigned)__builtin_ctzll(all);

        b->begins[count] = at + i;
        b->parts[count++] = ends >> i & 1;
    }
#endif
    return count;
}

/* What was noted is which pretokens begin where one of the text does: all that do, and end where one does, are
 * whole. */
static void tell_kinds(const struct orphans *orphans, struct pretoken_batch *b)
{
    if (!orphans) {
        memset(b->parts, 0, b->count);
        return;
    }
    for (uint32_t i = 0; i < b->count; i++)
        b->parts[i] = !(b->parts[i] & b->parts[i + 1]) &&
                      orphan_maybe(orphans, b->text + b->begins[i], b->begins[i + 1] - b->begins[i]);
}

/* The pretokens that begin in 64 places from `at` on, up to `limit`, where characters beyond ASCII do at `leads`. */
static inline uint32_t put_block(const struct char_cuts *c, const uint8_t *text, uint64_t leads, struct cut_ends *e,
                                 uint32_t at, uint32_t limit, uint32_t bytes, struct pretoken_batch *b, uint32_t count)
{
    uint32_t begin = e->next > e->first ? (e->next[-1] & ~BATCH_FIXED) - e->base : 0; /* of the pretoken that goes on */
    uint64_t fixed, ends = take_ends(e, at, limit, &fixed);

    leads &= ~(ends | inside_fixed(e, ends, fixed));
    if (c->long_only && leads) {
        uint32_t next = e->next < e->last ? (*e->next & ~BATCH_FIXED) - e->base : bytes;

        leads &= inside_long(ends, at - begin, next - at);
    }
    return put_both(b, count, at, ends, fixed, leads ? block_safe(c, text, leads) : 0);
}

static uint32_t put_blocks(const struct char_cuts *c, const uint8_t *text, uint32_t bytes, size_t room,
                           struct cut_ends *e, struct pretoken_batch *b)
{
    uint32_t count = 1;

    for (uint32_t at = 0; at < bytes; at += 64) {
        uint32_t limit = bytes - at < 64 ? bytes : at + 64;
        uint8_t copy[4 + 64 + 4];
        const uint8_t *block = block_text(copy, text, room, at);
        uint64_t leads = block_leads(block) & ~(uint64_t)0 >> (64 - (limit - at));

        if (at == 0)
            leads &= ~(uint64_t)1;
        if (!leads)
            continue;
        count = put_pretokens(b, count, e, at);
        count = put_block(c, block, leads, e, at, limit, bytes, b, count);
    }
    return put_pretokens(b, count, e, bytes);
}

static const uint32_t *cut(const struct char_cuts *c, const struct orphans *orphans, const uint8_t *text,
                           uint32_t bytes, size_t room, const uint32_t *ends, const uint32_t *last, uint32_t base,
                           struct pretoken_batch *b)
{
    struct cut_ends e = { ends, ends, last, base };
    uint32_t count;

    b->begins[0] = b->fixed_count = 0;
    b->parts[0] = 1;
    count = c ? put_blocks(c, text, bytes, room, &e, b) : put_pretokens(b, 1, &e, bytes);
    if (e.next < last && *e.next == ((bytes + base) | BATCH_FIXED))
        note_fixed(b, count, 1);
    b->begins[count] = bytes;
    b->parts[count] = 1;
    b->count = count;
    tell_kinds(c ? orphans : NULL, b);
    return e.next;
}
