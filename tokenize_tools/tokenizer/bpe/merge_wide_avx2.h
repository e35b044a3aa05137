/* merge_wide_avx2.h: the functions of merge_wide_kernel.h by vectors of AVX2. It is a part of that header, which has
 * struct wide. Words of the table are loaded one by one, since gathers are slow on many of these CPUs. */

/* ---- Pairs ---- */

/* Returns the words at four places. */
static inline __m256i wide_four(const uint64_t *words, const uint32_t *places)
{
    __m128i low = _mm_loadl_epi64((const __m128i *)(words + places[0]));
    __m128i high = _mm_loadl_epi64((const __m128i *)(words + places[2]));

    low = _mm_castps_si128(_mm_loadh_pi(_mm_castsi128_ps(low), (const __m64 *)(words + places[1])));
    high = _mm_castps_si128(_mm_loadh_pi(_mm_castsi128_ps(high), (const __m64 *)(words + places[3])));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

/* Asks for eight pairs. */
static inline void wide_ask(const struct pair_table *t, struct wide_pairs *p, __m256i left, __m256i right)
{
    const __m128i shift = _mm_cvtsi32_si128((int)t->shift), step = _mm_cvtsi32_si128((int)t->shift - 3);
    __m256i hash = _mm256_add_epi32(_mm256_mullo_epi32(left, _mm256_set1_epi32((int)PAIR_LEFT)),
                                    _mm256_mullo_epi32(right, _mm256_set1_epi32((int)PAIR_RIGHT)));
    __m256i first = _mm256_srl_epi32(hash, shift), steps;

    /* the second place of pair_place() */
    steps = _mm256_and_si256(_mm256_srl_epi32(hash, step), _mm256_set1_epi32(6));
    _mm256_store_si256((__m256i *)p->places[0], first);
    _mm256_store_si256((__m256i *)p->places[1], _mm256_xor_si256(first, _mm256_or_si256(steps, _mm256_set1_epi32(1))));
    p->left = left;
    p->right = right;
    p->hash = hash;
    for (unsigned i = 0; i < WIDE_LANES; i++)
        __builtin_prefetch(t->words + p->places[0][i]);
}

/* Returns a mask of those of four numbers of 64 bits whose key is 0. */
static inline __m256i wide_here(__m256i rests)
{
    return _mm256_cmpeq_epi64(_mm256_srli_epi64(rests, PAIR_KEY), _mm256_setzero_si256());
}

/* Returns the ranks of the pairs that were asked for, as pair_rank() does: UINT32_MAX if a pair has no merge. */
static inline __m256i wide_answer(const struct pair_table *t, const struct wide_pairs *p)
{
    __m256i keys[2], rests[2], here[2], moved[2];

    for (unsigned half = 0; half < 2; half++) {
        __m128i left = half ? _mm256_extracti128_si256(p->left, 1) : _mm256_castsi256_si128(p->left);
        __m128i right = half ? _mm256_extracti128_si256(p->right, 1) : _mm256_castsi256_si128(p->right);
        __m256i first = wide_four(t->words, p->places[0] + 4 * half);
        __m256i second = wide_four(t->words, p->places[1] + 4 * half);

        keys[half] = _mm256_or_si256(_mm256_slli_epi64(_mm256_cvtepu32_epi64(left), PAIR_KEY + PAIR_BITS),
                                     _mm256_slli_epi64(_mm256_cvtepu32_epi64(right), PAIR_KEY));
        first = _mm256_xor_si256(first, keys[half]);
        second = _mm256_xor_si256(second, keys[half]);
        rests[half] = _mm256_blendv_epi8(second, first, wide_here(first));
        here[half] = wide_here(rests[half]);
        moved[half] = _mm256_andnot_si256(here[half], _mm256_and_si256(second, _mm256_set1_epi64x(PAIR_MOVED(1))));
    }
    if (!_mm256_testz_si256(_mm256_or_si256(moved[0], moved[1]), _mm256_set1_epi64x(-1))) {
        _Alignas(32) uint32_t places[WIDE_LANES];

        _mm256_store_si256((__m256i *)places,
                           _mm256_srl_epi32(_mm256_mullo_epi32(p->hash, _mm256_set1_epi32((int)PAIR_THIRD)),
                                            _mm_cvtsi32_si128((int)t->shift)));
        for (unsigned half = 0; half < 2; half++) {
            __m256i third = _mm256_xor_si256(wide_four(t->words, places + 4 * half), keys[half]);
            __m256i which = _mm256_cmpeq_epi64(moved[half], _mm256_setzero_si256());

            rests[half] = _mm256_blendv_epi8(third, rests[half], which);
            here[half] = wide_here(rests[half]);
        }
    }
    for (unsigned half = 0; half < 2; half++)
        rests[half] = _mm256_and_si256(_mm256_srli_epi64(rests[half], 4), here[half]); /* rank + 1, or 0 */
    rests[0] =
        _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(rests[0]), _mm256_castsi256_ps(rests[1]), 0x88));
    return _mm256_sub_epi32(_mm256_permute4x64_epi64(rests[0], 0xd8), _mm256_set1_epi32(1));
}

/* ---- A step ---- */

static inline __m256i wide_row(const uint32_t *row)
{
    return _mm256_load_si256((const __m256i *)row);
}

/* Returns the least rank of each pretoken, with the ranks that the last step has left. */
static inline __m256i wide_min(struct wide *w)
{
    const __m256i none = _mm256_set1_epi32(-1), one = _mm256_set1_epi32(1);
    __m256i min = none, row = _mm256_setzero_si256();
    __m256i left = w->left, left_ranks = w->left_ranks, place = w->place, place_ranks = w->place_ranks, gone = w->gone;

    for (uint32_t i = 1; i < w->width; i++) {
        __m256i ranks = wide_row(w->ranks[i]);

        row = _mm256_add_epi32(row, one);
        ranks = _mm256_blendv_epi8(ranks, left_ranks, _mm256_cmpeq_epi32(row, left));
        ranks = _mm256_blendv_epi8(ranks, place_ranks, _mm256_cmpeq_epi32(row, place));
        ranks = _mm256_or_si256(ranks, _mm256_cmpeq_epi32(row, gone));
        _mm256_store_si256((__m256i *)w->ranks[i], ranks);
        min = _mm256_min_epu32(min, ranks);
    }
    return min;
}

/* Gets the symbols at two places of each pretoken, and writes the symbols of a third place. */
static inline void wide_exchange(struct wide *w, __m256i left, __m256i right, __m256i place, __m256i result,
                                 __m256i *left_symbols, __m256i *right_symbols)
{
    const __m256i nobody = _mm256_set1_epi32((int)PAIR_NOBODY), one = _mm256_set1_epi32(1);
    __m256i row = _mm256_setzero_si256(), lefts = nobody, rights = nobody;

    for (uint32_t i = 1; i <= w->width; i++) {
        __m256i symbols = wide_row(w->symbols[i]);

        row = _mm256_add_epi32(row, one);
        lefts = _mm256_blendv_epi8(lefts, symbols, _mm256_cmpeq_epi32(row, left));
        rights = _mm256_blendv_epi8(rights, symbols, _mm256_cmpeq_epi32(row, right));
        _mm256_store_si256((__m256i *)w->symbols[i],
                           _mm256_blendv_epi8(symbols, result, _mm256_cmpeq_epi32(row, place)));
    }
    *left_symbols = lefts;
    *right_symbols = rights;
}

/* Returns the number of the highest set bit of each word; bit 31 counts only if no other is set. */
static inline __m256i wide_top(__m256i bits)
{
    /* drop the bit below the highest one, so that the float is not rounded up to the next power of two */
    __m256i top = _mm256_andnot_si256(_mm256_srli_epi32(bits, 1), bits);
    __m256i exponent = _mm256_srli_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(top)), 23);

    return _mm256_sub_epi32(_mm256_and_si256(exponent, _mm256_set1_epi32(0xff)), _mm256_set1_epi32(127));
}

static inline __m256i wide_lowest(__m256i bits)
{
    return _mm256_and_si256(bits, _mm256_sub_epi32(_mm256_setzero_si256(), bits));
}

/* Makes the least merge of each pretoken that has one, and asks for its pairs. Returns the pretokens that have none. */
static inline uint32_t wide_merge(const struct pair_table *t, struct wide *w)
{
    const __m256i ones = _mm256_set1_epi32(1), most = _mm256_set1_epi32((int)(LANE_NONE - 1));
    __m256i min = wide_min(w), alive = wide_row(w->alive), busy, place, result, one, behind, gone, left, right;
    __m256i before, after;

    busy = _mm256_cmpeq_epi32(_mm256_min_epu32(min, most), min);
    place = _mm256_and_si256(_mm256_and_si256(min, _mm256_set1_epi32(LANE_PLACES - 1)), busy);
    result = _mm256_srli_epi32(min, 6);
    if (t->results)
        result = _mm256_mask_i32gather_epi32(result, (const int *)t->results, result, busy, 4);
    one = _mm256_sllv_epi32(ones, place);
    behind = _mm256_andnot_si256(_mm256_sub_epi32(_mm256_add_epi32(one, one), ones), alive);
    gone = wide_lowest(behind);
    alive = _mm256_xor_si256(alive, _mm256_and_si256(gone, busy));
    _mm256_store_si256((__m256i *)w->alive, alive);
    right = wide_top(wide_lowest(_mm256_xor_si256(behind, gone)));
    left = wide_top(_mm256_and_si256(alive, _mm256_sub_epi32(one, ones)));
    wide_exchange(w, left, right, place, result, &before, &after);
    wide_ask(t, &w->pairs[0], before, result);
    wide_ask(t, &w->pairs[1], result, after);
    w->place = place;
    w->left = _mm256_and_si256(left, busy);
    w->gone = _mm256_and_si256(wide_top(gone), busy);
    return w->busy & ~(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(busy));
}

/* Fetches the products of merges of these ranks, unless the rank itself is the product. UINT32_MAX is no merge. */
static inline void wide_fetch(const struct pair_table *t, __m256i ranks)
{
    _Alignas(32) uint32_t after[WIDE_LANES]; /* places in this line, or the next one */

    if (!t->results)
        return;
    _mm256_store_si256((__m256i *)after, _mm256_add_epi32(ranks, _mm256_set1_epi32(1)));
    for (unsigned i = 0; i < WIDE_LANES; i++)
        __builtin_prefetch(t->results + after[i]);
}

/* Gets the ranks of the pairs that were asked for, for the next step. */
static inline void wide_renew(const struct pair_table *t, struct wide *w)
{
    __m256i left_ranks = wide_answer(t, &w->pairs[0]), place_ranks = wide_answer(t, &w->pairs[1]);

    wide_fetch(t, left_ranks);
    wide_fetch(t, place_ranks);
    w->left_ranks = _mm256_or_si256(_mm256_slli_epi32(left_ranks, 6), w->left);
    w->place_ranks = _mm256_or_si256(_mm256_slli_epi32(place_ranks, 6), w->place);
}

static inline uint32_t wide_widest(const struct wide *w)
{
    __m256i counts = wide_row(w->counts);
    __m128i most = _mm_max_epu32(_mm256_castsi256_si128(counts), _mm256_extracti128_si256(counts, 1));

    most = _mm_max_epu32(most, _mm_shuffle_epi32(most, 0x4e));
    return (uint32_t)_mm_cvtsi128_si32(_mm_max_epu32(most, _mm_shuffle_epi32(most, 0xb1)));
}

/* ---- A pretoken ---- */

/* Writes the symbols of bytes. */
static inline void wide_put_bytes(const struct merge_rules *r, struct wide *w, unsigned lane, const uint8_t *pretoken,
                                  uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        w->symbols[i + 1][lane] = r->bytes[pretoken[i]];
    for (uint32_t i = 1; i < count; i++) {
        uint32_t rank = r->first[pretoken[i - 1] << 8 | pretoken[i]];

        if (r->pairs->results)
            __builtin_prefetch(r->pairs->results + (uint32_t)(rank + 1));
        w->ranks[i][lane] = rank << 6 | i;
    }
}

/* Writes symbols, with PAIR_NOBODY in the eight places after them. */
static inline void wide_put_list(const struct pair_table *t, struct wide *w, unsigned lane, const uint32_t *symbols,
                                 uint32_t count)
{
    struct wide_pairs pairs;

    for (uint32_t at = 0; at < count; at += WIDE_LANES) {
        _Alignas(32) uint32_t ranks[WIDE_LANES];

        wide_ask(t, &pairs, _mm256_loadu_si256((const __m256i *)(symbols + at)),
                 _mm256_loadu_si256((const __m256i *)(symbols + at + 1)));
        _mm256_store_si256((__m256i *)ranks, wide_answer(t, &pairs));
        for (uint32_t i = at; i < at + WIDE_LANES && i < count; i++) {
            w->symbols[i + 1][lane] = symbols[i];
            w->ranks[i + 1][lane] = ranks[i - at] << 6 | (i + 1);
        }
    }
}
