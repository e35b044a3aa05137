/* merge_wide_avx512.h: the functions of merge_wide_kernel.h by vectors of AVX-512. It is a part of that header,
 * which has struct wide. */
#include "tokenizer/scan/bit_places_avx512.h"

/* ---- Pairs ---- */

struct wide_pairs {
    __m512i keys[2], rest[2];
    __m512i hash;
    __mmask8 found[2];
};

static inline __m512i wide_words(const struct pair_table *t, __m512i places, unsigned half, __mmask8 which)
{
    __m256i mine = half ? _mm512_extracti64x4_epi64(places, 1) : _mm512_castsi512_si256(places);

    return _mm512_mask_i32gather_epi64(_mm512_setzero_si512(), which, mine, t->words, 8);
}

static inline void wide_look(const struct pair_table *t, struct wide_pairs *p, __m512i places, unsigned half,
                             __mmask8 which)
{
    __m512i words = wide_words(t, places, half, which);

    p->rest[half] = _mm512_mask_xor_epi64(p->rest[half], which, words, p->keys[half]);
    p->found[half] |= _mm512_mask_cmplt_epu64_mask(which, p->rest[half], _mm512_set1_epi64(1 << PAIR_KEY));
}

/* Returns a mask of the pairs whose word at this place says that the pair may lie further on. */
static inline __mmask8 wide_moved(const struct wide_pairs *p, unsigned half, __mmask8 which, unsigned place)
{
    return _mm512_mask_test_epi64_mask(which & (__mmask8)~p->found[half], p->rest[half],
                                       _mm512_set1_epi64(PAIR_MOVED(place)));
}

/* Computes pair_place() for all lanes. */
static inline __m512i wide_place(const struct pair_table *t, __m512i hash, unsigned number)
{
    const __m128i shift = _mm_cvtsi32_si128((int)t->shift), step = _mm_cvtsi32_si128((int)t->shift - 3);
    __m512i places = _mm512_srl_epi32(hash, shift), steps;

    if (number == 2)
        return _mm512_srl_epi32(_mm512_mullo_epi32(hash, _mm512_set1_epi32((int)PAIR_THIRD)), shift);
    if (number == 0)
        return places;
    steps = _mm512_and_si512(_mm512_srl_epi32(hash, step), _mm512_set1_epi32(6));
    return _mm512_xor_si512(places, _mm512_or_si512(steps, _mm512_set1_epi32(1)));
}

static inline void wide_ask(const struct pair_table *t, struct wide_pairs *p, __m512i left, __m512i right)
{
    p->hash = _mm512_add_epi32(_mm512_mullo_epi32(left, _mm512_set1_epi32((int)PAIR_LEFT)),
                               _mm512_mullo_epi32(right, _mm512_set1_epi32((int)PAIR_RIGHT)));
    for (unsigned half = 0; half < 2; half++) {
        __m256i l = half ? _mm512_extracti64x4_epi64(left, 1) : _mm512_castsi512_si256(left);
        __m256i r = half ? _mm512_extracti64x4_epi64(right, 1) : _mm512_castsi512_si256(right);

        p->keys[half] = _mm512_or_si512(_mm512_slli_epi64(_mm512_cvtepu32_epi64(l), PAIR_KEY + PAIR_BITS),
                                        _mm512_slli_epi64(_mm512_cvtepu32_epi64(r), PAIR_KEY));
        p->rest[half] = _mm512_setzero_si512();
        p->found[half] = 0;
        wide_look(t, p, wide_place(t, p->hash, 0), half, 0xff);
    }
}

/* Gets the ranks of all pairs of one or two that were asked for; UINT32_MAX is no merge. */
static inline void wide_answer(const struct pair_table *t, struct wide_pairs *p, unsigned count, __m512i *ranks)
{
    __mmask8 moved[4] = { 0 };

    for (unsigned i = 0; i < 2 * count; i++)
        moved[i] = wide_moved(&p[i / 2], i % 2, 0xff, 0);
    for (unsigned k = 1; k < PAIR_PLACES && (moved[0] | moved[1] | moved[2] | moved[3]); k++)
        for (unsigned i = 0; i < 2 * count; i++) {
            struct wide_pairs *q = &p[i / 2];

            wide_look(t, q, wide_place(t, q->hash, k), i % 2, moved[i]);
            moved[i] = wide_moved(q, i % 2, moved[i], k);
        }
    for (unsigned i = 0; i < count; i++) {
        __m256i low = _mm512_cvtepi64_epi32(_mm512_maskz_srli_epi64(p[i].found[0], p[i].rest[0], 4));
        __m256i high = _mm512_cvtepi64_epi32(_mm512_maskz_srli_epi64(p[i].found[1], p[i].rest[1], 4));

        ranks[i] = _mm512_sub_epi32(_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1), _mm512_set1_epi32(1));
    }
}

/* ---- A step ---- */

/* Returns the least rank of each pretoken, with the ranks that the last step has left. Rows are loaded and stored as
 * a whole: parts that a scatter has stored could not be loaded before they have reached the CPU's cache. */
static inline __m512i wide_min(struct wide *w)
{
    const __m512i none = _mm512_set1_epi32(-1);
    __m512i min = none, row = _mm512_setzero_si512();

    for (uint32_t i = 1; i < w->width; i++) {
        __m512i ranks = _mm512_load_si512(w->ranks[i]);

        row = _mm512_add_epi32(row, _mm512_set1_epi32(1));
        ranks = _mm512_mask_mov_epi32(ranks, _mm512_cmpeq_epi32_mask(row, w->left), w->left_ranks);
        ranks = _mm512_mask_mov_epi32(ranks, _mm512_cmpeq_epi32_mask(row, w->place), w->place_ranks);
        ranks = _mm512_mask_mov_epi32(ranks, _mm512_cmpeq_epi32_mask(row, w->gone), none);
        _mm512_store_si512(w->ranks[i], ranks);
        min = _mm512_min_epu32(min, ranks);
    }
    return min;
}

/* Gets the symbols at two places of each pretoken, and writes the symbols of a third place. */
static inline void wide_exchange(struct wide *w, __m512i left, __m512i right, __m512i place, __m512i result,
                                 __m512i *left_symbols, __m512i *right_symbols)
{
    const __m512i nobody = _mm512_set1_epi32((int)PAIR_NOBODY);
    __m512i row = _mm512_setzero_si512(), lefts = nobody, rights = nobody;

    for (uint32_t i = 1; i <= w->width; i++) { /* the places of PAIR_NOBODY are in no row */
        __m512i symbols = _mm512_load_si512(w->symbols[i]);

        row = _mm512_add_epi32(row, _mm512_set1_epi32(1));
        lefts = _mm512_mask_mov_epi32(lefts, _mm512_cmpeq_epi32_mask(row, left), symbols);
        rights = _mm512_mask_mov_epi32(rights, _mm512_cmpeq_epi32_mask(row, right), symbols);
        _mm512_store_si512(w->symbols[i], _mm512_mask_mov_epi32(symbols, _mm512_cmpeq_epi32_mask(row, place), result));
    }
    *left_symbols = lefts;
    *right_symbols = rights;
}

/* Returns the highest set bit of each word. */
static inline __m512i wide_top(__m512i bits)
{
    return _mm512_sub_epi32(_mm512_set1_epi32(31), _mm512_lzcnt_epi32(bits));
}

static inline __m512i wide_lowest(__m512i bits)
{
    return _mm512_and_si512(bits, _mm512_sub_epi32(_mm512_setzero_si512(), bits));
}

/* Makes the least merge of each pretoken that has one. Returns the pretokens that have none. */
static inline uint32_t wide_merge(const struct pair_table *t, struct wide *w)
{
    const __m512i ones = _mm512_set1_epi32(1);
    __m512i min = wide_min(w), alive = _mm512_load_si512(w->alive), place, result, one, behind, gone, left, right;
    __mmask16 busy = _mm512_mask_cmplt_epu32_mask((__mmask16)w->busy, min, _mm512_set1_epi32((int)LANE_NONE));
    __m512i ranks[2], before, after;
    struct wide_pairs pairs[2];

    w->left = w->place = w->gone = _mm512_setzero_si512();
    if (!busy)
        return w->busy;
    place = _mm512_maskz_and_epi32(busy, min, _mm512_set1_epi32(LANE_PLACES - 1));
    result = _mm512_srli_epi32(min, 6);
    if (t->results)
        result = _mm512_mask_i32gather_epi32(result, busy, result, t->results, 4);
    one = _mm512_sllv_epi32(ones, place);
    behind = _mm512_andnot_si512(_mm512_sub_epi32(_mm512_add_epi32(one, one), ones), alive);
    gone = wide_lowest(behind);
    alive = _mm512_mask_xor_epi32(alive, busy, alive, gone);
    _mm512_store_si512(w->alive, alive);
    right = wide_top(wide_lowest(_mm512_xor_si512(behind, gone)));
    left = wide_top(_mm512_and_si512(alive, _mm512_sub_epi32(one, ones)));

    wide_exchange(w, left, right, place, result, &before, &after);
    wide_ask(t, &pairs[0], before, result);
    wide_ask(t, &pairs[1], result, after);
    wide_answer(t, pairs, 2, ranks);
    w->place = place;
    w->left = _mm512_maskz_mov_epi32(busy, left);
    w->gone = _mm512_maskz_mov_epi32(busy, wide_top(gone));
    w->left_ranks = _mm512_or_si512(_mm512_slli_epi32(ranks[0], 6), left);
    w->place_ranks = _mm512_or_si512(_mm512_slli_epi32(ranks[1], 6), place);
    return w->busy & ~(uint32_t)busy;
}

/* Does nothing: the pairs were looked up at once. */
static inline void wide_renew(const struct pair_table *t, struct wide *w)
{
    (void)t;
    (void)w;
}

static inline uint32_t wide_widest(const struct wide *w)
{
    return _mm512_reduce_max_epu32(_mm512_load_si512(w->counts));
}

/* ---- A pretoken ---- */

/* Returns the indices of `lane` at place `place` and the fifteen places after it. */
static inline __m512i wide_places(unsigned place, unsigned lane)
{
    const __m512i steps = _mm512_setr_epi32(0, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240);

    return _mm512_add_epi32(steps, _mm512_set1_epi32((int)(place * WIDE_LANES + lane)));
}

/* Returns a mask of the first `count` of sixteen lanes. */
static inline __mmask16 wide_mask(uint32_t count)
{
    return count >= 16 ? 0xffff : (__mmask16)((1u << count) - 1);
}

/* Writes the symbols of bytes, sixteen at a time. */
static inline void wide_put_bytes(const struct merge_rules *r, struct wide *w, unsigned lane, const uint8_t *pretoken,
                                  uint32_t count)
{
    for (uint32_t at = 0; at < count; at += 16) {
        __mmask16 there = wide_mask(count - at), paired = wide_mask(count - 1 - at);
        __m512i byte = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(there, pretoken + at));
        __m512i next = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(paired, pretoken + at + 1));
        __m512i places = wide_places(at + 1, lane), both = _mm512_or_si512(_mm512_slli_epi32(byte, 8), next);
        __m512i ranks = _mm512_mask_i32gather_epi32(byte, paired, both, r->first, 4);

        _mm512_mask_i32scatter_epi32(w->symbols, there, places,
                                     _mm512_mask_i32gather_epi32(byte, there, byte, r->bytes, 4), 4);
        ranks = _mm512_or_si512(_mm512_slli_epi32(ranks, 6), _mm512_srli_epi32(places, 4));
        _mm512_mask_i32scatter_epi32(w->ranks, paired, places, ranks, 4);
    }
}

/* Writes up to sixteen symbols, from number `at` of `count` on, and asks for the pairs with the symbols after them. */
static inline void wide_put_symbols(const struct pair_table *t, struct wide *w, unsigned lane, uint32_t at,
                                    uint32_t count, __m512i mine, __m512i next)
{
    __m512i places = wide_places(at + 1, lane), ranks;
    __mmask16 there = wide_mask(count - at);
    struct wide_pairs pairs;

    wide_ask(t, &pairs, mine, next);
    wide_answer(t, &pairs, 1, &ranks);
    ranks = _mm512_or_si512(_mm512_slli_epi32(ranks, 6), _mm512_srli_epi32(places, 4));
    _mm512_mask_i32scatter_epi32(w->symbols, there, places, mine, 4);
    _mm512_mask_i32scatter_epi32(w->ranks, there, places, ranks, 4);
}

/* Writes symbols, with PAIR_NOBODY in the sixteen places after them. */
static inline void wide_put_list(const struct pair_table *t, struct wide *w, unsigned lane, const uint32_t *symbols,
                                 uint32_t count)
{
    for (uint32_t at = 0; at < count; at += 16)
        wide_put_symbols(t, w, lane, at, count, _mm512_loadu_si512(symbols + at), _mm512_loadu_si512(symbols + at + 1));
}

#if defined(__AVX512VBMI2__)
/* Returns the symbols of sixteen characters, of up to three bytes each, that begin at these places of 64 bytes. */
static inline __m512i wide_letters(const struct merge_rules *r, __m512i text, __m512i places, __mmask16 there)
{
    const __m512i low = _mm512_set1_epi32(0x3f), nobody = _mm512_set1_epi32((int)PAIR_NOBODY);
    __m512i four = _mm512_permutexvar_epi8(bit_places_fours(places, 0x03020100), text);
    __m512i first = _mm512_and_si512(four, _mm512_set1_epi32(0xff));
    __m512i second = _mm512_and_si512(_mm512_srli_epi32(four, 8), low);
    __m512i third = _mm512_and_si512(_mm512_srli_epi32(four, 16), low);
    __mmask16 two = _mm512_cmpge_epu32_mask(first, _mm512_set1_epi32(0xc0));
    __mmask16 three = _mm512_cmpge_epu32_mask(first, _mm512_set1_epi32(0xe0));
    __m512i code =
        _mm512_mask_and_epi32(first, two, first, _mm512_set1_epi32(0x1f)); /* right for three bytes, too, one bit of
                                                                              which is 0 */

    code = _mm512_mask_or_epi32(code, two, _mm512_slli_epi32(code, 6), second);
    code = _mm512_mask_or_epi32(code, three, _mm512_slli_epi32(code, 6), third);
    return _mm512_mask_i32gather_epi32(nobody, there, code, r->letters, 4);
}

/* Writes the symbols of characters, many at a time. Returns how many there are, or 0 if some characters are of
 * another kind. */
static inline uint32_t wide_put_many(const struct merge_rules *r, struct wide *w, unsigned lane,
                                     const uint8_t *pretoken, uint32_t bytes)
{
    const __m512i nobody = _mm512_set1_epi32((int)PAIR_NOBODY), none = _mm512_set1_epi32((int)LANE_NO_LETTER);
    __mmask64 all = ((uint64_t)1 << bytes) - 1;
    __m512i text = _mm512_maskz_loadu_epi8(all, pretoken), places, first, second = nobody;
    uint64_t leads = _mm512_mask_cmpge_epi8_mask(all, text, _mm512_set1_epi8(-64));
    uint32_t count = (uint32_t)__builtin_popcountll(leads);

    if (count > WIDE_SYMBOLS || _mm512_cmpge_epu8_mask(text, _mm512_set1_epi8((char)0xf0)))
        return 0;
    places = bit_places_bytes(leads);
    first = wide_letters(r, text, places, wide_mask(count));
    if (count > 16)
        second = wide_letters(r, text, _mm512_alignr_epi64(places, places, 2), wide_mask(count - 16));
    if (_mm512_cmpeq_epi32_mask(first, none) | _mm512_cmpeq_epi32_mask(second, none))
        return 0;
    wide_put_symbols(r->pairs, w, lane, 0, count, first, _mm512_alignr_epi32(second, first, 1));
    if (count > 16)
        wide_put_symbols(r->pairs, w, lane, 16, count, second, _mm512_alignr_epi32(nobody, second, 1));
    return count;
}
#endif
