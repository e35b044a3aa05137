/*
 * piece_cut_kernel.h: cutting pieces where byte_cuts.h allows, for piece_kernel.h: which places of the text are safe
 * depends on the characters at both sides alone, so that all of a batch's text is gone through once, whatever the
 * pieces in it; then pieces and cuts are put in order together.
 */
#include "byte_cuts.h"
#include "piece_batch.h"

/* Bits for those of 64 bytes that begin a character beyond ASCII. */
static inline uint64_t block_leads(const uint8_t *text)
{
#if defined(__AVX512BW__)
    return _mm512_cmpge_epu8_mask(_mm512_loadu_si512(text), _mm512_set1_epi8((char)0xc0));
#elif defined(__AVX2__)
    __m256i most = _mm256_set1_epi8((char)0xbf), zero = _mm256_setzero_si256();
    __m256i a = _mm256_subs_epu8(_mm256_loadu_si256((const __m256i *)text), most);
    __m256i b = _mm256_subs_epu8(_mm256_loadu_si256((const __m256i *)(text + 32)), most);

    return ~((uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, zero)) |
             (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, zero)) << 32);
#else
    uint64_t leads = 0;

    for (unsigned i = 0; i < 64; i += 8) {
        uint64_t word = bytes_load64(text + i), high = word & word << 1 & 0x8080808080808080u;

        leads |= ((high >> 7) * 0x0102040810204080u >> 56) << i;
    }
    return leads;
#endif
}

/* Of words of four bytes, high bits at those that do not go on with a character. */
static inline uint32_t word_starts(uint32_t word)
{
    return (~word | word << 1) & 0x80808080u;
}

/* Whether there may be a cut before text[at], which begins a character beyond ASCII. Four bytes can be read before it
 * and from it on. */
static inline uint64_t safe_at(const struct byte_cuts *c, const uint8_t *text, size_t at)
{
    uint32_t before = bytes_load32(text + at - 4), after = bytes_load32(text + at);
    uint64_t next = (uint64_t)(word_starts(after) & ~(uint32_t)0xff) | (uint64_t)1 << 39;
    uint8_t last = (uint8_t)(before >> 24);

    before >>= (31 - __builtin_clz(word_starts(before) | 0x80)) - 7;
    after &= (uint32_t)(((uint64_t)1 << (__builtin_ctzll(next) - 7)) - 1);
    return byte_cuts_safe(c, before, last, after);
}

/* The same near the beginning of what can be read. */
static uint64_t safe_near_begin(const struct byte_cuts *c, const uint8_t *text, size_t at)
{
    uint8_t copy[8];

    for (size_t i = 0; i < 4; i++) {
        copy[4 + i] = text[at + i];
        copy[3 - i] = i < at ? text[at - 1 - i] : 0;
    }
    return safe_at(c, copy, 4);
}

#if defined(__AVX512F__)
/* The same as bits, of sixteen places. */
static inline __mmask16 safe_at_many(const struct byte_cuts *c, const uint8_t *text, __m512i places)
{
    const __m512i highs = _mm512_set1_epi32((int)0x80808080), ones = _mm512_set1_epi32(1);
    __m512i before = _mm512_i32gather_epi32(places, text - 4, 1), after = _mm512_i32gather_epi32(places, text, 1);
    __m512i last = _mm512_srli_epi32(before, 24), first, next, hash, bits, word;

    /* word_starts(): the highest bit of the first, the lowest of the other but for its first byte */
    first = _mm512_and_si512(_mm512_ternarylogic_epi32(before, _mm512_slli_epi32(before, 1), before, 0xcf), highs);
    first = _mm512_lzcnt_epi32(_mm512_or_si512(first, _mm512_set1_epi32(0x80)));
    before = _mm512_srlv_epi32(before, _mm512_sub_epi32(_mm512_set1_epi32(24), first));
    next = _mm512_ternarylogic_epi32(after, _mm512_slli_epi32(after, 1), after, 0xcf);
    next = _mm512_and_si512(next, _mm512_set1_epi32((int)0x80808000));
    next = _mm512_and_si512(next, _mm512_sub_epi32(_mm512_setzero_si512(), next));
    after = _mm512_and_si512(after, _mm512_sub_epi32(_mm512_srli_epi32(next, 7), ones));

    hash = _mm512_add_epi32(_mm512_mullo_epi32(before, _mm512_set1_epi32((int)BYTE_CUTS_BEFORE)),
                            _mm512_mullo_epi32(after, _mm512_set1_epi32((int)BYTE_CUTS_AFTER)));
    hash = _mm512_srl_epi32(hash, _mm_cvtsi32_si128((int)c->shift));
    word = _mm512_i32gather_epi32(_mm512_srli_epi32(hash, 5), c->pairs, 4);
    bits = _mm512_srlv_epi32(word, _mm512_and_si512(hash, _mm512_set1_epi32(31)));
    last = _mm512_add_epi32(_mm512_add_epi32(last, last), _mm512_and_si512(_mm512_srli_epi32(after, 5), ones));
    word = _mm512_i32gather_epi32(last, c->partial, 4);
    word = _mm512_srlv_epi32(word, _mm512_and_si512(after, _mm512_set1_epi32(31)));
    return _mm512_testn_epi32_mask(_mm512_or_si512(bits, word), ones);
}

/* Bits for the safe ones among places `leads` of 64 bytes, none of which is near the beginning. */
static inline uint64_t safe_leads(const struct byte_cuts *c, const uint8_t *text, uint64_t leads)
{
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    uint8_t places[64 + 64];
    uint64_t safe = 0;
    uint32_t count = 0;

    for (unsigned i = 0; i < 64; i += 16) {
        __mmask16 here = (__mmask16)(leads >> i);

        _mm_storeu_si128((__m128i *)(places + count), _mm512_cvtepi32_epi8(_mm512_maskz_compress_epi32(
                                                          here, _mm512_add_epi32(lanes, _mm512_set1_epi32((int)i)))));
        count += (uint32_t)__builtin_popcount(here);
    }
    _mm_storeu_si128((__m128i *)(places + count), _mm_set1_epi8((char)places[0]));
    for (uint32_t i = 0; i < count; i += 16)
        safe |= (uint64_t)safe_at_many(c, text, _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(places + i))))
                << i;
    return _pdep_u64(safe, leads);
}
#endif

/* So many places are gone through at once, if the CPU can. */
#define CUT_MANY 4

/* Bits for the safe places among 64 bytes from `begin` on. */
static inline uint64_t block_safe(const struct byte_cuts *c, const uint8_t *text, size_t begin)
{
    uint64_t safe = 0, leads = block_leads(text + begin);

    for (; begin < 4 && leads & 0xf; leads &= leads - 1)
        safe |= safe_near_begin(c, text, (size_t)__builtin_ctzll(leads)) << __builtin_ctzll(leads);
#if defined(__AVX512F__)
    if (__builtin_popcountll(leads) >= CUT_MANY)
        return safe | safe_leads(c, text + begin, leads);
#endif
    for (; leads; leads &= leads - 1) {
        size_t i = (size_t)__builtin_ctzll(leads);

        safe |= safe_at(c, text, begin + i) << i;
    }
    return safe;
}

/* The same where not so much can be read; from a copy. */
static uint64_t last_block_safe(const struct byte_cuts *c, const uint8_t *text, size_t begin, size_t bytes)
{
    uint8_t copy[4 + 64 + 4] = { 0 };
    size_t before = begin < 4 ? begin : 4, behind = bytes - begin < 64 + 4 ? bytes - begin : 64 + 4;

    memcpy(copy + 4 - before, text + begin - before, before + behind);
    return block_safe(c, copy, 4);
}

/* ---- Pieces and cuts in their order ---- */

/* The ends of pieces that are left, and what they count from. */
struct cut_ends {
    const uint32_t *next, *last;
    uint32_t base;
};

/* Where there are no cuts: the pieces that begin before `limit`. */
static inline uint32_t put_pieces(struct piece_batch *b, uint32_t count, struct cut_ends *e, uint32_t limit)
{
#if defined(__AVX512F__)
    for (;;) {
        size_t left = (size_t)(e->last - e->next);
        __mmask16 there = left >= 16 ? 0xffff : (__mmask16)((1u << left) - 1);
        __m512i begins = _mm512_sub_epi32(_mm512_maskz_loadu_epi32(there, e->next), _mm512_set1_epi32((int)e->base));
        uint32_t taken =
            (uint32_t)__builtin_popcount(_mm512_mask_cmplt_epu32_mask(there, begins, _mm512_set1_epi32((int)limit)));

        _mm512_storeu_si512(b->begins + count, begins);
        _mm_storeu_si128((__m128i *)(b->parts + count), _mm_set1_epi8(1));
        count += taken;
        e->next += taken;
        if (taken < 16)
            return count;
    }
#else
    for (; e->next < e->last && *e->next - e->base < limit; count++) {
        b->begins[count] = *e->next++ - e->base;
        b->parts[count] = 1;
    }
    return count;
#endif
}

/* Where there are: both those and the safe places. `parts` tells which is which. */
static inline uint32_t put_both(struct piece_batch *b, uint32_t count, struct cut_ends *e, uint32_t at, uint32_t limit,
                                uint64_t safe)
{
    uint64_t starts = 0, all;

    for (; e->next < e->last && *e->next - e->base < limit; e->next++)
        starts |= (uint64_t)1 << (*e->next - e->base - at);
    all = safe | starts;
#if defined(__AVX512F__)
    _mm512_storeu_si512(b->parts + count, _mm512_maskz_set1_epi8(_pext_u64(starts, all), 1));
    for (unsigned i = 0; i < 64; i += 16) {
        const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        __mmask16 here = (__mmask16)(all >> i);

        _mm512_storeu_si512(b->begins + count, _mm512_maskz_compress_epi32(
                                                   here, _mm512_add_epi32(lanes, _mm512_set1_epi32((int)(at + i)))));
        count += (uint32_t)__builtin_popcount(here);
    }
#else
    for (; all; all &= all - 1) {
        unsigned i = (unsigned)__builtin_ctzll(all);

        b->begins[count] = at + i;
        b->parts[count++] = starts >> i & 1;
    }
#endif
    return count;
}

/* What was noted is which pieces begin where one of the text does: all that do, and end where one does, are whole. */
static void tell_kinds(const struct orphans *orphans, struct piece_batch *b)
{
    if (!orphans) {
        memset(b->parts, 0, b->count);
        return;
    }
    for (uint32_t i = 0; i < b->count; i++)
        b->parts[i] = !(b->parts[i] & b->parts[i + 1]) &&
                      orphan_maybe(orphans, b->text + b->begins[i], b->begins[i + 1] - b->begins[i]);
}

static void cut(const struct byte_cuts *c, const struct orphans *orphans, const uint8_t *text, uint32_t bytes,
                size_t room, const uint32_t *ends, const uint32_t *last, uint32_t base, struct piece_batch *b)
{
    struct cut_ends e = { ends, last, base };
    uint32_t count = 1;

    b->begins[0] = 0;
    b->parts[0] = 1;
    for (uint32_t at = 0; at < bytes; at += 64) {
        uint32_t limit = bytes - at < 64 ? bytes : at + 64;
        uint64_t safe = room - at < 64 + 4 ? last_block_safe(c, text, at, bytes) : block_safe(c, text, at);

        safe &= ~(uint64_t)0 >> (64 - (limit - at));
        if (at == 0)
            safe &= ~(uint64_t)1;
        count = safe ? put_both(b, count, &e, at, limit, safe) : put_pieces(b, count, &e, limit);
    }
    b->begins[count] = bytes;
    b->parts[count] = 1;
    b->count = count;
    tell_kinds(orphans, b);
}
