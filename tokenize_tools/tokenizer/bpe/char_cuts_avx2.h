/*
 * char_cuts_avx2.h: what char_cuts_kernel.h does by vectors of AVX2; part of it, which has struct cut_ends.
 */

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
