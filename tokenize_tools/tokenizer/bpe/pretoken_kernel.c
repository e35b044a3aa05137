/*
 * pretoken_kernel.c: looks for many pretokens in the cache, and writes their ids, for one CPU level; compiled once for
 * each. Headers of their own have what merges and what cuts.
 *
 * Loops have no branch on what a pretoken is, since a quarter of the branches would be guessed wrong for many
 * languages: all pretokens are looked for among the short ones; those that are not short have a key there that no
 * pretoken has, and these few are then looked for once more.
 */
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(LEVEL_NEON)
#include <arm_neon.h>
#endif

#include <string.h>

#include "base/cpu.h"
#include "pretoken_line_kernel.h"

#include "merge_lane_kernel.h"
#if defined(__AVX2__)
#include "merge_wide_kernel.h"
#endif
#include "char_cuts_kernel.h"
#include "pretoken_batch.h"

/* ---- Keys ---- */

#if defined(__AVX512F__)
/* Prefetches eight lines of the table. Lines are prefetched as soon as their numbers are known, since the CPU can fetch
 * only a few at a time, and makes the next keys while they arrive. */
static inline void fetch_eight(const struct pretoken_table *t, const uint32_t *lines)
{
    for (unsigned i = 0; i < 8; i++)
        __builtin_prefetch(t->lines + lines[i]);
}
#endif

#if defined(__AVX2__) && !defined(__AVX512F__)
/* Writes those of four numbers from i on whose bits are set, and perhaps others after them. Returns how many are
 * set. */
static inline uint32_t put_numbers(uint32_t *to, uint32_t i, unsigned bits)
{
    static const _Alignas(16)
        uint32_t places[16][4] = { { 0 },    { 0 },       { 1 },       { 0, 1 },      { 2 },    { 0, 2 },
                                   { 1, 2 }, { 0, 1, 2 }, { 3 },       { 0, 3 },      { 1, 3 }, { 0, 1, 3 },
                                   { 2, 3 }, { 0, 2, 3 }, { 1, 2, 3 }, { 0, 1, 2, 3 } };
    __m128i kept = _mm_load_si128((const __m128i *)places[bits]);

    _mm_storeu_si128((__m128i *)to, _mm_add_epi32(_mm_set1_epi32((int)i), kept));
    return (uint32_t)__builtin_popcount(bits);
}

/* Makes four keys of short pretokens, 0 for others, and returns the bits of the short ones. */
static inline unsigned four_short_keys(const struct pretoken_batch *b, uint32_t i, __m256i *key)
{
    const __m256i ones = _mm256_set1_epi64x(-1), eight = _mm256_set1_epi64x(8), seven = _mm256_set1_epi64x(7);
    const uint32_t *begins = b->begins + i;
    __m128i first = _mm_loadu_si128((const __m128i *)begins), last = _mm_loadu_si128((const __m128i *)(begins + 1));
    __m128i count = _mm_sub_epi32(last, first), kept = _mm_min_epu32(count, _mm_set1_epi32(8));
    __m256i bytes = _mm256_cvtepu32_epi64(count), spare, part, is_short;

    part = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128((int)bytes_load32(b->parts + i)));
    spare = _mm256_slli_epi64(_mm256_sub_epi64(eight, _mm256_cvtepu32_epi64(kept)), 3);
    *key =
        _mm256_set_epi64x((long long)bytes_load64(b->text + begins[3]), (long long)bytes_load64(b->text + begins[2]),
                          (long long)bytes_load64(b->text + begins[1]), (long long)bytes_load64(b->text + begins[0]));
    *key = _mm256_and_si256(*key, _mm256_srlv_epi64(ones, spare));
    *key = _mm256_or_si256(
        *key, _mm256_slli_epi64(_mm256_or_si256(_mm256_and_si256(bytes, seven), _mm256_slli_epi64(part, 3)), 56));
    /* short pretokens of 8 bytes are no parts, and their last byte cannot be taken for a length */
    is_short = _mm256_cmpgt_epi64(_mm256_srli_epi64(*key, 56),
                                  _mm256_add_epi64(_mm256_set1_epi64x(15), _mm256_slli_epi64(part, 8)));
    is_short =
        _mm256_or_si256(_mm256_cmpgt_epi64(eight, bytes), _mm256_and_si256(_mm256_cmpeq_epi64(eight, bytes), is_short));
    *key = _mm256_and_si256(*key, is_short);
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(is_short));
}
#endif

/* Makes the keys of short pretokens, and the places of their lines. The key of any other pretoken is 0, and its
 * number is noted. */
static void make_short_keys(const struct pretoken_table *t, struct pretoken_batch *b)
{
    uint32_t others = 0;
#if defined(__AVX512F__)
    const __m512i ones = _mm512_set1_epi64(-1), eight = _mm512_set1_epi64(8), seven = _mm512_set1_epi64(7);
    const __m512i factors = _mm512_set1_epi64((long long)((uint64_t)PRETOKEN_HIGH << 32 | PRETOKEN_LOW));
    const __m128i shift = _mm_cvtsi32_si128((int)t->shift);
    const __m256i steps = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i numbers = _mm256_add_epi32(_mm256_set1_epi32((int)b->from), steps);

    for (uint32_t i = b->from; i < b->to; i += 8, numbers = _mm256_add_epi32(numbers, _mm256_set1_epi32(8))) {
        __mmask8 there = b->to - i >= 8 ? 0xff : (__mmask8)((1u << (b->to - i)) - 1), is_short;
        __m256i begin = _mm256_loadu_si256((const __m256i *)(b->begins + i));
        __m256i end = _mm256_loadu_si256((const __m256i *)(b->begins + i + 1));
        __m512i bytes = _mm512_cvtepu32_epi64(_mm256_sub_epi32(end, begin));
        __m512i part = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(b->parts + i)));
        __m512i key = _mm512_mask_i32gather_epi64(_mm512_setzero_si512(), there, begin, b->text, 1);
        __m512i spare = _mm512_slli_epi64(_mm512_sub_epi64(eight, _mm512_min_epu64(bytes, eight)), 3), mark, lines;

        mark = _mm512_or_si512(_mm512_and_si512(bytes, seven), _mm512_slli_epi64(part, 3));
        key = _mm512_or_si512(_mm512_and_si512(key, _mm512_srlv_epi64(ones, spare)), _mm512_slli_epi64(mark, 56));
        is_short = _mm512_cmplt_epu64_mask(bytes, eight) |
                   (_mm512_mask_cmpeq_epu64_mask(_mm512_testn_epi64_mask(part, part), bytes, eight) &
                    _mm512_cmpge_epu64_mask(key, _mm512_set1_epi64((long long)16 << 56)));
        key = _mm512_maskz_mov_epi64(is_short & there, key);
        _mm512_storeu_si512(b->short_words + (i - b->from), key);
        lines = _mm512_mullo_epi32(key, factors);
        lines = _mm512_slli_epi64(_mm512_srl_epi64(_mm512_add_epi32(lines, _mm512_slli_epi64(lines, 32)), shift), 3);
        _mm256_storeu_si256((__m256i *)(b->short_lines + (i - b->from)), _mm512_cvtepi64_epi32(lines));
        fetch_eight(t, b->short_lines + (i - b->from));
        is_short = (__mmask8)(there & ~is_short);
        _mm256_storeu_si256((__m256i *)(b->others + others), _mm256_maskz_compress_epi32(is_short, numbers));
        others += (uint32_t)__builtin_popcount(is_short);
    }
#else
    uint32_t i = b->from;

#if defined(__AVX2__)
    const __m128i shift = _mm_cvtsi32_si128((int)t->shift);
    const __m256i evens = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    const __m256i factors = _mm256_set1_epi64x((long long)((uint64_t)PRETOKEN_HIGH << 32 | PRETOKEN_LOW));

    for (; i + 4 <= b->to; i += 4) {
        __m256i key, lines;
        unsigned is_short = four_short_keys(b, i, &key);

        _mm256_storeu_si256((__m256i *)(b->short_words + (i - b->from)), key);
        lines = _mm256_mullo_epi32(key, factors);
        lines = _mm256_slli_epi64(_mm256_srl_epi64(_mm256_add_epi32(lines, _mm256_slli_epi64(lines, 32)), shift), 3);
        _mm_storeu_si128((__m128i *)(b->short_lines + (i - b->from)),
                         _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(lines, evens)));
        for (uint32_t k = i; k < i + 4; k++)
            __builtin_prefetch(t->lines + b->short_lines[k - b->from]);
        others += put_numbers(b->others + others, i, ~is_short & 0xf);
    }
#endif
    for (; i < b->to; i++) {
        uint64_t bytes = b->begins[i + 1] - b->begins[i], part = b->parts[i];
        uint64_t key = bytes_load64(b->text + b->begins[i]) & pretoken_bytes_mask(bytes < 8 ? bytes : 8);
        bool is_short;

        key |= ((bytes & 7) | part << 3) << 56;
        is_short = bytes <= 8 && key >> 56 >= (bytes & 8) * (2 + 32 * part);
        key = is_short ? key : 0;
        b->short_words[i - b->from] = key;
        b->short_lines[i - b->from] = (uint32_t)pretoken_line(t, pretoken_hash_short(key));
        __builtin_prefetch(t->lines + b->short_lines[i - b->from]);
        b->others[others] = i;
        others += !is_short;
    }
    for (i -= b->from; i % 4 != 0; i++)
        b->short_words[i] = b->short_lines[i] = 0;
#endif
    b->other_count = others;
}

/* Makes the keys and lines of the noted pretokens of middle length. */
static void make_middle_keys(const struct pretoken_table *t, struct pretoken_batch *b)
{
    uint32_t middles = 0, longs = 0;

    for (uint32_t k = 0; k < b->other_count; k++) {
        uint32_t i = b->others[k];
        const uint8_t *pretoken = b->text + b->begins[i];
        uint64_t bytes = b->begins[i + 1] - b->begins[i];
        uint64_t *words = &b->middle_words[2 * middles];

        b->long_at[longs] = b->middle_at[middles] = i;
        words[0] = bytes_load64(pretoken);
        words[1] = (bytes_load64(pretoken + 7) & pretoken_bytes_mask(bytes < 16 ? bytes - 7 : 1)) >> 8;
        words[1] |= (bytes | (uint64_t)b->parts[i] << 4) << 56;
        words[1] |= 0 - (uint64_t)(words[0] == 0); /* a key that is never there: see pretoken_key_whole() */
        b->middle_lines[middles] = (uint32_t)(pretoken_hash_middle(words[0], words[1]) >> t->shift);
        __builtin_prefetch(t->lines + (size_t)b->middle_lines[middles] * PRETOKEN_LINE);
        middles += bytes < 16;
        longs += bytes >= 16;
    }
    b->middle_count = middles;
    b->long_count = longs;
}

/* Makes the lines of long pretokens. A pretoken that the cache does not keep has any line. */
static void make_long_lines(const struct pretoken_table *t, struct pretoken_batch *b)
{
    for (uint32_t i = 0; i < b->long_count; i++) {
        uint32_t at = b->long_at[i], bytes = b->begins[at + 1] - b->begins[at];
        uint64_t words[4];

        pretoken_words_long(b->text + b->begins[at], bytes < PRETOKEN_MAX ? bytes : PRETOKEN_MAX, b->parts[at], words);
        b->long_lines[i] = (uint32_t)(pretoken_hash_long(words) >> t->shift);
        __builtin_prefetch(t->lines + (size_t)b->long_lines[i] * PRETOKEN_LINE);
        __builtin_prefetch(t->lines + ((size_t)b->long_lines[i] ^ 1) * PRETOKEN_LINE);
    }
}

/* ---- Finding ---- */

/* Looks short pretokens up four at a time, up to three more than there are. */
static void find_short(const struct pretoken_table *t, struct pretoken_batch *b)
{
    uint64_t *values = b->values + b->from;

    for (uint32_t i = 0; i < b->to - b->from; i += 4)
        lines_short(t->lines, b->short_lines + i, b->short_words + i, values + i);
}

static void find_middle(const struct pretoken_table *t, struct pretoken_batch *b)
{
    for (uint32_t i = 0; i < b->middle_count; i++) {
        uint64_t value[2];

        line_middle(t->lines + (size_t)b->middle_lines[i] * PRETOKEN_LINE, &b->middle_words[2 * i], value);
        b->values[b->middle_at[i]] = put_middle(b, value);
    }
}

/* Returns the value of these four words if the line has them, and puts its ids into `many`; else 0. */
static uint64_t line_long(struct pretoken_batch *b, const uint64_t *line, const uint64_t words[4])
{
    uint64_t other = (pretoken_word(line) ^ words[0]) | (pretoken_word(line + 1) ^ words[1]) |
                     (pretoken_word(line + 2) ^ words[2]) | (pretoken_word(line + 3) ^ words[3]);
    uint64_t value = pretoken_word(line + 4), count = value >> PRETOKEN_COUNT_SHIFT;

    if (other)
        return 0;
    if (count <= 3 || value >= PRETOKEN_SPILLED)
        return value;
    for (unsigned k = 0; k < count; k++) {
        uint64_t word = pretoken_word(line + 4 + k / 3);

        if (word == 0) /* another thread has not written it yet */
            return 0;
        b->many[b->many_count + k] = (uint32_t)(word >> PRETOKEN_ID_BITS * (k % 3) & PRETOKEN_ID_MASK);
    }
    b->many_count += count;
    return PRETOKEN_MANY | count << 32 | (b->many_count - count);
}

static void find_long(const struct pretoken_table *t, struct pretoken_batch *b)
{
    for (uint32_t i = 0; i < b->long_count; i++) {
        uint32_t at = b->long_at[i], bytes = b->begins[at + 1] - b->begins[at];
        size_t line = b->long_lines[i];
        struct pretoken_key key = { .table = PRETOKEN_LONG };
        uint64_t value = 0;

        if (bytes <= PRETOKEN_MAX)
            pretoken_words_long(b->text + b->begins[at], bytes, b->parts[at], key.words);
        if (bytes <= PRETOKEN_MAX && pretoken_key_whole(&key)) {
            value = line_long(b, t->lines + line * PRETOKEN_LINE, key.words);
            if (value == 0)
                value = line_long(b, t->lines + (line ^ 1) * PRETOKEN_LINE, key.words);
        }
        b->values[at] = value;
    }
}

/* Notes the pretokens whose values do not hold their ids: those without a value, and those whose ids are spilled. */
static void note_missed(struct pretoken_batch *b)
{
    uint32_t missed = b->missed_count, spilled = 0;
#if defined(__AVX512F__)
    const __m512i known = _mm512_set1_epi64((long long)1 << PRETOKEN_COUNT_SHIFT);
    const __m512i last = _mm512_set1_epi64(14);
    const __m256i steps = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i numbers = _mm256_add_epi32(_mm256_set1_epi32((int)b->from), steps);

    for (uint32_t i = b->from; i < b->to; i += 8, numbers = _mm256_add_epi32(numbers, _mm256_set1_epi32(8))) {
        __mmask8 there = b->to - i >= 8 ? 0xff : (__mmask8)((1u << (b->to - i)) - 1);
        __m512i values = _mm512_loadu_si512(b->values + i);
        __mmask8 unknown = _mm512_mask_cmplt_epu64_mask(there, values, known);
        __mmask8 elsewhere = _mm512_mask_cmpeq_epu64_mask(there, _mm512_srli_epi64(values, PRETOKEN_COUNT_SHIFT), last);

        _mm256_storeu_si256((__m256i *)(b->missed + missed), _mm256_maskz_compress_epi32(unknown, numbers));
        missed += (uint32_t)__builtin_popcount(unknown);
        _mm256_storeu_si256((__m256i *)(b->others + spilled), _mm256_maskz_compress_epi32(elsewhere, numbers));
        spilled += (uint32_t)__builtin_popcount(elsewhere);
    }
#else
    const uint64_t elsewhere = PRETOKEN_SPILLED >> PRETOKEN_COUNT_SHIFT;
    uint32_t i = b->from, noted = 0;

#if defined(__AVX2__)
    for (; i + 4 <= b->to; i += 4) {
        __m256i values = _mm256_loadu_si256((const __m256i *)(b->values + i));
        __m256i counts = _mm256_srli_epi64(values, PRETOKEN_COUNT_SHIFT);
        __m256i is_noted = _mm256_or_si256(_mm256_cmpeq_epi64(counts, _mm256_setzero_si256()),
                                           _mm256_cmpeq_epi64(counts, _mm256_set1_epi64x((long long)elsewhere)));

        noted += put_numbers(b->others + noted, i, (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(is_noted)));
    }
#endif
    for (; i < b->to; i++) {
        uint64_t count = b->values[i] >> PRETOKEN_COUNT_SHIFT;

        b->others[noted] = i;
        noted += count == 0 || count == elsewhere;
    }
    for (uint32_t k = 0; k < noted; k++) { /* the first loop noted both kinds together, since they are few; this one
                                              tells them apart */
        uint32_t at = b->others[k];
        bool unknown = b->values[at] >> PRETOKEN_COUNT_SHIFT == 0;

        b->missed[missed] = b->others[spilled] = at;
        missed += unknown;
        spilled += !unknown;
    }
#endif
    b->missed_count = missed;
    b->other_count = spilled;
}

static void find_spilled(const struct pretoken_cache *c, struct pretoken_batch *b)
{
    for (uint32_t i = 0; i < b->other_count; i++)
        __builtin_prefetch(c->ring + (b->values[b->others[i]] & c->ring_mask));
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* the values of a shared cache were written after these ids */
    for (uint32_t i = 0; i < b->other_count; i++) {
        uint64_t *value = &b->values[b->others[i]];
        const uint32_t *ids = pretoken_spilled(c, *value);
        size_t count = pretoken_spilled_count(*value);

        *value = 0;
        if (ids) {
            *value = PRETOKEN_MANY | (uint64_t)count << 32 | b->many_count;
            pretoken_take_ids(b->many + b->many_count, ids, count);
            b->many_count += count;
        } else {
            b->missed[b->missed_count++] = b->others[i];
        }
    }
}

static void find_some(const struct pretoken_cache *c, struct pretoken_batch *b)
{
    const struct pretoken_table *shorts = &c->tables[PRETOKEN_SHORT], *middles = &c->tables[PRETOKEN_MIDDLE];

    make_short_keys(shorts, b);
    make_middle_keys(middles, b);
    make_long_lines(&c->tables[PRETOKEN_LONG], b);
    find_short(shorts, b);
    find_middle(middles, b);
    find_long(&c->tables[PRETOKEN_LONG], b);
    note_missed(b);
    find_spilled(c, b);
}

static void find_pretokens(const struct pretoken_cache *c, struct pretoken_batch *b)
{
    c = c->common ? c->common : c;
    b->missed_count = 0;
    for (b->from = 0; b->from < b->count; b->from = b->to) {
        b->to = b->count - b->from < BATCH_FIND ? b->count : b->from + BATCH_FIND;
        find_some(c, b);
    }
}

/* ---- Writing ---- */

/* Writes ids that lie elsewhere, sixteen at a time. */
static inline uint32_t *write_many(const struct pretoken_batch *b, uint64_t value, uint32_t *at)
{
    const uint32_t *many = b->many + (uint32_t)value;
    uint64_t count = value << 4 >> 36;

    for (uint64_t k = 0; k < count; k += 16)
        memcpy(at + k, many + k, 16 * sizeof *at);
    return at + count;
}

static inline uint32_t *write_one(const struct pretoken_batch *b, uint64_t value, uint32_t *at)
{
    uint64_t count = value >> PRETOKEN_COUNT_SHIFT;

    if (count > 3)
        return write_many(b, value, at);
    at[0] = (uint32_t)(value & PRETOKEN_ID_MASK);
    at[1] = (uint32_t)(value >> PRETOKEN_ID_BITS & PRETOKEN_ID_MASK);
    at[2] = (uint32_t)(value >> 2 * PRETOKEN_ID_BITS & PRETOKEN_ID_MASK);
    return at + count;
}

#if defined(__AVX512F__)
/* Returns the first two ids of each of eight words, each in its own lane. */
static inline __m512i two_ids(__m512i values)
{
    const __m512i low = _mm512_set1_epi64(PRETOKEN_ID_MASK),
                  high = _mm512_set1_epi64((long long)PRETOKEN_ID_MASK << 32);

    return _mm512_or_si512(_mm512_and_si512(values, low),
                           _mm512_and_si512(_mm512_slli_epi64(values, 32 - PRETOKEN_ID_BITS), high));
}

/* Returns a mask of the pretokens among eight that have at least `count` ids. */
static inline __mmask8 with_ids(__m512i values, unsigned count)
{
    return _mm512_cmpge_epu64_mask(values, _mm512_set1_epi64((long long)((uint64_t)count << PRETOKEN_COUNT_SHIFT)));
}

/* Writes eight pretokens with one or two ids each. The empty lanes of missing second ids are left out. */
static inline uint32_t *write_twos(__m512i values, uint32_t *at)
{
    __mmask8 two = with_ids(values, 2);

    _mm512_storeu_si512(at, _mm512_maskz_compress_epi32((__mmask16)(_pdep_u32(two, 0xaaaa) | 0x5555), two_ids(values)));
    return at + 8 + __builtin_popcount(two);
}

/* Writes four of eight pretokens, from number `first` on, with up to three ids each, in four lanes each. */
static inline uint32_t *write_threes(__m512i values, unsigned first, uint32_t *at)
{
    const __m512i twice = _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3),
                  shifts = _mm512_setr_epi64(0, 40, 0, 40, 0, 40, 0, 40);
    unsigned two = (unsigned)with_ids(values, 2) >> first & 0xf, three = (unsigned)with_ids(values, 3) >> first & 0xf;
    __m512i four = _mm512_permutexvar_epi64(_mm512_add_epi64(twice, _mm512_set1_epi64(first)), values);
    unsigned kept = 0x1111 | _pdep_u32(two, 0x2222) | _pdep_u32(three, 0x4444);

    _mm512_storeu_si512(at, _mm512_maskz_compress_epi32((__mmask16)kept, two_ids(_mm512_srlv_epi64(four, shifts))));
    return at + 4 + __builtin_popcount(two) + __builtin_popcount(three);
}
#endif

#if defined(__AVX2__) && !defined(__AVX512F__)
/* A batch has few ids that lie elsewhere if fewer than one pretoken in this many has such ids. */
#define FEW 32

/* Permutations that move the ids of four pretokens, one or two in two places each, to the front; by a mask of those
 * that have two. */
static const _Alignas(32) uint32_t fronts[16][8] = {
    { 0, 2, 4, 6 },       { 0, 1, 2, 4, 6 },       { 0, 2, 3, 4, 6 },       { 0, 1, 2, 3, 4, 6 },
    { 0, 2, 4, 5, 6 },    { 0, 1, 2, 4, 5, 6 },    { 0, 2, 3, 4, 5, 6 },    { 0, 1, 2, 3, 4, 5, 6 },
    { 0, 2, 4, 6, 7 },    { 0, 1, 2, 4, 6, 7 },    { 0, 2, 3, 4, 6, 7 },    { 0, 1, 2, 3, 4, 6, 7 },
    { 0, 2, 4, 5, 6, 7 }, { 0, 1, 2, 4, 5, 6, 7 }, { 0, 2, 3, 4, 5, 6, 7 }, { 0, 1, 2, 3, 4, 5, 6, 7 },
};

/* Writes four pretokens that have one or two ids each. Returns NULL if some have more. */
static inline uint32_t *write_short(const uint64_t *values, uint32_t *at)
{
    const __m256i low = _mm256_set1_epi64x(PRETOKEN_ID_MASK), high = _mm256_slli_epi64(low, 32);
    __m256i four = _mm256_loadu_si256((const __m256i *)values), ids;
    __m256i counts = _mm256_srli_epi64(four, PRETOKEN_COUNT_SHIFT);
    unsigned two = (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_slli_epi64(four, 2)));

    if (_mm256_movemask_epi8(_mm256_cmpgt_epi32(counts, _mm256_set1_epi64x(2))))
        return NULL;
    ids = _mm256_or_si256(_mm256_and_si256(four, low),
                          _mm256_and_si256(_mm256_slli_epi64(four, 32 - PRETOKEN_ID_BITS), high));
    _mm256_storeu_si256((__m256i *)at,
                        _mm256_permutevar8x32_epi32(ids, _mm256_load_si256((const __m256i *)fronts[two])));
    return at + 4 + __builtin_popcount(two);
}
#endif

static size_t write_ids(const struct pretoken_batch *b, uint32_t from, uint32_t to, uint32_t *ids)
{
    uint32_t *at = ids, i = from;

#if defined(__AVX2__) && !defined(__AVX512F__)
    /* if many pretokens have more ids, the CPU would often guess wrong whether one of four has */
    for (; i + 4 <= to && b->many_count < b->count / FEW; i += 4) {
        uint32_t *next = write_short(b->values + i, at);

        for (unsigned k = 0; !next && k < 4; k++)
            at = write_one(b, b->values[i + k], at);
        at = next ? next : at;
    }
#endif
#if defined(__AVX512F__)
    for (; i + 8 <= to; i += 8) {
        __m512i values = _mm512_loadu_si512(b->values + i);
        unsigned many = with_ids(values, 4);

        if (with_ids(values, 3) == 0) {
            at = write_twos(values, at);
            continue;
        }
        for (unsigned first = 0; first < 8; first += 4, many >>= 4) {
            if (!(many & 0xf))
                at = write_threes(values, first, at);
            for (unsigned k = 0; many & 0xf && k < 4; k++)
                at = write_one(b, b->values[i + first + k], at);
        }
    }
#endif
    for (; i < to; i++)
        at = write_one(b, b->values[i], at);
    return (size_t)(at - ids);
}

static void merge(const struct merge_rules *rules, struct pretoken_cache *c, struct pretoken_batch *b)
{
#if defined(__AVX2__)
    merge_wide(rules, c, b);
#endif
    merge_missed(rules, c, b);
}

const struct pretoken_kernels LEVEL_NAME(pretoken_kernels) = { LEVEL_TEXT, cut, find_pretokens, merge, write_ids };
