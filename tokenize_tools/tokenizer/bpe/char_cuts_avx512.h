/* char_cuts_avx512.h: the functions of char_cuts_kernel.h by vectors of AVX-512, with VBMI2 where the compilation
 * has it. It is a part of that header, which has struct cut_ends. */
#include "tokenizer/scan/bit_places_avx512.h"

/* ---- Safe places ------------------------------------------------------------------------------------------------- */

/* Does the work of mark_safe() for sixteen places, with a bit each. `before` and `after` are the four bytes before
 * and after each place. */
static inline __mmask16 safe_at_many(const struct char_cuts *c, __m512i before, __m512i after)
{
    const __m512i highs = _mm512_set1_epi32((int)0x80808080), ones = _mm512_set1_epi32(1);
    __m512i last = _mm512_srli_epi32(before, 24), first, next, hash, bit, bits, word;

    /* word_starts(): the highest bit of the first byte, and the lowest bits of the others */
    first = _mm512_and_si512(_mm512_ternarylogic_epi32(before, _mm512_slli_epi32(before, 1), before, 0xcf), highs);
    first = _mm512_lzcnt_epi32(_mm512_or_si512(first, _mm512_set1_epi32(0x80)));
    before = _mm512_srlv_epi32(before, _mm512_sub_epi32(_mm512_set1_epi32(24), first));
    next = _mm512_ternarylogic_epi32(after, _mm512_slli_epi32(after, 1), after, 0xcf);
    next = _mm512_and_si512(next, _mm512_set1_epi32((int)0x80808000));
    next = _mm512_and_si512(next, _mm512_sub_epi32(_mm512_setzero_si512(), next));
    after = _mm512_and_si512(after, _mm512_sub_epi32(_mm512_srli_epi32(next, 7), ones));

    /* char_cuts_last(), char_cuts_word(): a word of 64 bits is two */
    next =
        _mm512_andnot_si512(_mm512_set1_epi32(7), _mm512_sub_epi32(_mm512_set1_epi32(31), _mm512_lzcnt_epi32(after)));
    bit = _mm512_srlv_epi32(after, next);
    next = _mm512_andnot_si512(_mm512_sllv_epi32(_mm512_set1_epi32(63), next), after);
    hash = _mm512_add_epi32(_mm512_mullo_epi32(before, _mm512_set1_epi32((int)CHAR_CUTS_BEFORE)),
                            _mm512_mullo_epi32(next, _mm512_set1_epi32((int)CHAR_CUTS_AFTER)));
    hash = _mm512_srl_epi32(hash, _mm_cvtsi32_si128((int)c->shift));
    hash = _mm512_add_epi32(_mm512_add_epi32(hash, hash), _mm512_and_si512(_mm512_srli_epi32(bit, 5), ones));
    word = _mm512_i32gather_epi32(hash, c->pairs, 4);
    bits = _mm512_srlv_epi32(word, _mm512_and_si512(bit, _mm512_set1_epi32(31)));
    if (c->has_partial) {
        last = _mm512_add_epi32(_mm512_add_epi32(last, last), _mm512_and_si512(_mm512_srli_epi32(after, 5), ones));
        word = _mm512_i32gather_epi32(last, c->partial, 4);
        word = _mm512_srlv_epi32(word, _mm512_and_si512(after, _mm512_set1_epi32(31)));
        bits = _mm512_or_si512(bits, word);
    }
    return _mm512_testn_epi32_mask(bits, ones);
}

#if defined(__AVX512VBMI2__)
/* Returns bits for the safe ones among places `leads` of 64 bytes. The bytes around each place are picked out of
 * these. */
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
/* Returns bits for the safe ones among `leads`; the bytes around these places are gathered from memory. */
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

/* ---- Pretokens and cuts in their order --------------------------------------------------------------------------- */

/* Writes sixteen pretokens. Returns a mask of those that begin before `limit`. */
static inline __mmask16 put_sixteen(struct pretoken_batch *b, uint32_t count, const struct cut_ends *e, uint32_t limit)
{
    size_t left = (size_t)(e->last - e->next);
    __mmask16 there = left >= 16 ? 0xffff : (__mmask16)((1u << left) - 1), fixed;
    __m512i ends = _mm512_maskz_loadu_epi32(there, e->next);
    __m512i begins = _mm512_andnot_si512(_mm512_set1_epi32((int)MODEL_FIXED), ends);

    begins = _mm512_sub_epi32(begins, _mm512_set1_epi32((int)e->base));
    there = _mm512_mask_cmplt_epu32_mask(there, begins, _mm512_set1_epi32((int)limit));
    fixed = _mm512_mask_cmplt_epi32_mask(there, ends, _mm512_setzero_si512());
    if (fixed)
        note_fixed(b, count, fixed);
    _mm512_storeu_si512(b->begins + count, begins);
    _mm_storeu_si128((__m128i *)(b->parts + count), _mm_set1_epi8(1));
    return there;
}

/* Writes the pretokens that begin before `limit`, where no place is safe to cut. */
static inline uint32_t put_pretokens(struct pretoken_batch *b, uint32_t count, struct cut_ends *e, uint32_t limit)
{
    /* the last of sixteen ends decides for all, so no step waits for the step before */
    for (; e->last - e->next > 16 && (e->next[15] & ~MODEL_FIXED) - e->base < limit; e->next += 16, count += 16)
        put_sixteen(b, count, e, limit);
    for (unsigned taken = 16; taken == 16; e->next += taken, count += taken)
        taken = (unsigned)__builtin_popcount(put_sixteen(b, count, e, limit));
    return count;
}

/* Takes the ends that lie in 64 places from `at` on, up to `limit`, and returns a bit each. *fixed gets the bits of
 * fixed pretokens. */
static inline uint64_t take_ends(struct cut_ends *e, uint32_t at, uint32_t limit, uint64_t *fixed)
{
    uint64_t ends = 0;

    *fixed = 0;
    for (unsigned taken = 16; taken == 16; e->next += taken) {
        const __m512i ones = _mm512_set1_epi64(1), flag = _mm512_set1_epi32((int)MODEL_FIXED);
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
            *fixed |= (uint64_t)1 << ((e->next[__builtin_ctz(flags)] & ~MODEL_FIXED) - e->base - at);
        taken = (unsigned)__builtin_popcount(there);
    }
    return ends;
}

/* Writes pretokens that begin at the bits of `all`, from `at` on; those at the bits of `ends` begin where a pretoken
 * of the text begins. */
static inline uint32_t put_all(const struct char_cuts *c, struct pretoken_batch *b, uint32_t count, uint32_t at,
                               uint64_t all, uint64_t ends)
{
    (void)c;
    _mm512_storeu_si512(b->parts + count, _mm512_maskz_set1_epi8(_pext_u64(ends, all), 1));
    bit_places(all, at, b->begins + count);
    count += (uint32_t)__builtin_popcountll(all);
    return count;
}
