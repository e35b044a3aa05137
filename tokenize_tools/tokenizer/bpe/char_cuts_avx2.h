/* char_cuts_avx2.h: the functions of char_cuts_kernel.h by vectors of AVX2. It is a part of that header, which has
 * struct cut_ends. */

/* ---- Safe places ------------------------------------------------------------------------------------------------- */

/* All places of a stretch are noted first, and then looked at eight at a time. */
#define CUT_BY_LIST 1

/* Notes the places in a block at which a cut may be safe. */
static inline void list_places(const struct char_cuts *c, struct cut_stretch *s, struct cut_block *b)
{
    uint16_t *to = s->places + s->place_count;

    b->first = s->place_count;
    for (unsigned i = 0; i < 64; i += 8) {
        unsigned bits = b->inside >> i & 0xff;
        __m128i places = _mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)c->bits[bits]));

        _mm_storeu_si128((__m128i *)to, _mm_add_epi16(places, _mm_set1_epi16((short)(b->at + i))));
        to += __builtin_popcount(bits);
    }
    s->place_count = (uint32_t)(to - s->places);
}

/* Returns the eight bytes around each of four places: four before it, and four from it on. */
static inline __m256i around_four(const uint8_t *text, const uint16_t *at)
{
    text -= 4;
    return _mm256_set_epi64x((long long)bytes_load64(text + at[5]), (long long)bytes_load64(text + at[4]),
                             (long long)bytes_load64(text + at[1]), (long long)bytes_load64(text + at[0]));
}

/* Returns `other` where `signs` is negative, else `one`. */
static inline __m256i blend_signs(__m256i one, __m256i other, __m256i signs)
{
    return _mm256_castps_si256(
        _mm256_blendv_ps(_mm256_castsi256_ps(one), _mm256_castsi256_ps(other), _mm256_castsi256_ps(signs)));
}

/* Does what safe_at() does, for eight places, with a bit each. `before` and `after` are the four bytes before and after
 * each place. */
static inline unsigned safe_at_eight(const struct char_cuts *c, __m256i before, __m256i after)
{
    const __m256i ones = _mm256_set1_epi32(1), all = _mm256_set1_epi32(31);
    /* the bits that a character leaves free, and the bits before its last byte, by the upper half of its first byte */
    const __m256i free_bits =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 16, 8, 0));
    const __m256i last_bits =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 16, 24));
    __m256i last = _mm256_srli_epi32(before, 24), starts, shift, kind, hash, bit, bits, word;

    /* word_starts(): the highest bit of each byte */
    starts = _mm256_or_si256(_mm256_xor_si256(before, _mm256_set1_epi32(-1)), _mm256_slli_epi32(before, 1));
    shift = _mm256_and_si256(_mm256_srai_epi32(_mm256_slli_epi32(starts, 16), 31), _mm256_set1_epi32(8));
    shift = blend_signs(shift, _mm256_set1_epi32(16), _mm256_slli_epi32(starts, 8));
    shift = blend_signs(shift, _mm256_set1_epi32(24), starts);
    before = _mm256_srlv_epi32(before, shift);
    kind = _mm256_and_si256(_mm256_srli_epi32(after, 4), _mm256_set1_epi32(15));
    shift = _mm256_shuffle_epi8(last_bits, kind);
    after = _mm256_and_si256(after, _mm256_srlv_epi32(_mm256_set1_epi32(-1), _mm256_shuffle_epi8(free_bits, kind)));

    /* The rest does what char_cuts_word() does; a word of 64 bits there is two words here. */
    bit = _mm256_srlv_epi32(after, shift);
    hash = _mm256_andnot_si256(_mm256_sllv_epi32(_mm256_set1_epi32(63), shift), after);
    hash = _mm256_add_epi32(_mm256_mullo_epi32(before, _mm256_set1_epi32((int)CHAR_CUTS_BEFORE)),
                            _mm256_mullo_epi32(hash, _mm256_set1_epi32((int)CHAR_CUTS_AFTER)));
    hash = _mm256_srl_epi32(hash, _mm_cvtsi32_si128((int)c->shift));
    hash = _mm256_add_epi32(_mm256_add_epi32(hash, hash), _mm256_and_si256(_mm256_srli_epi32(bit, 5), ones));
    word = _mm256_i32gather_epi32((const int *)c->pairs, hash, 4);
    bits = _mm256_srlv_epi32(word, _mm256_and_si256(bit, all));
    if (c->has_partial) {
        last = _mm256_add_epi32(_mm256_add_epi32(last, last), _mm256_and_si256(_mm256_srli_epi32(after, 5), ones));
        word = _mm256_i32gather_epi32((const int *)c->partial, last, 4);
        bits = _mm256_or_si256(bits, _mm256_srlv_epi32(word, _mm256_and_si256(after, all)));
    }
    return ~(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_slli_epi32(bits, 31))) & 0xff;
}

/* Notes which of a stretch's places are safe. */
static inline void mark_safe(const struct char_cuts *c, struct cut_stretch *s, const uint8_t *text)
{
    memset(s->places + s->place_count, 0, 8 * sizeof *s->places);
    for (uint32_t i = 0; i < s->place_count; i += 8) {
        __m256 first = _mm256_castsi256_ps(around_four(text, s->places + i));
        __m256 second = _mm256_castsi256_ps(around_four(text, s->places + i + 2));

        s->safe[i / 8] = (uint8_t)safe_at_eight(c, _mm256_castps_si256(_mm256_shuffle_ps(first, second, 0x88)),
                                                _mm256_castps_si256(_mm256_shuffle_ps(first, second, 0xdd)));
    }
}

/* Returns the safe places of a block. */
static inline uint64_t marked_safe(const struct cut_stretch *s, const struct cut_block *b)
{
    return _pdep_u64(bytes_load64(s->safe + b->first / 8) >> b->first % 8, b->inside);
}

/* ---- Pretokens and cuts in their order --------------------------------------------------------------------------- */

/* Writes eight pretokens. */
static inline void put_eight(struct pretoken_batch *b, uint32_t count, const struct cut_ends *e)
{
    __m256i ends = _mm256_loadu_si256((const __m256i *)e->next);
    __m256i begins = _mm256_andnot_si256(_mm256_set1_epi32((int)MODEL_FIXED), ends);
    uint32_t fixed = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(ends));

    _mm256_storeu_si256((__m256i *)(b->begins + count), _mm256_sub_epi32(begins, _mm256_set1_epi32((int)e->base)));
    memset(b->parts + count, 1, 8);
    if (fixed)
        note_fixed(b, count, fixed);
}

/* Returns a bit for each of four ends, counted from `at`, without those after 64 places. */
static inline __m256i bits_of_four(const uint32_t *ends, __m128i at)
{
    __m128i places = _mm_sub_epi32(_mm_loadu_si128((const __m128i *)ends), at);

    return _mm256_sllv_epi64(_mm256_set1_epi64x(1), _mm256_cvtepu32_epi64(places));
}

/* Returns true if one of sixteen ends is that of a fixed pretoken. */
static inline bool any_fixed(const uint32_t *ends)
{
    const __m256i *at = (const __m256i *)ends;

    return _mm256_movemask_ps(
               _mm256_castsi256_ps(_mm256_or_si256(_mm256_loadu_si256(at), _mm256_loadu_si256(at + 1)))) != 0;
}

/* Does the work of take_ends(), if there are sixteen more ends that include all that lie there, and none is fixed;
 * otherwise returns false. */
static inline bool take_sixteen(struct cut_ends *e, uint32_t at, uint32_t limit, uint64_t *ends)
{
    const __m128i from = _mm_set1_epi32((int)(e->base + at));
    __m256i bits;
    __m128i half;

    if (e->last - e->next < 16 || e->next[15] - e->base - at < 64 || any_fixed(e->next))
        return false;
    bits = _mm256_or_si256(bits_of_four(e->next, from), bits_of_four(e->next + 4, from));
    bits = _mm256_or_si256(bits, bits_of_four(e->next + 8, from));
    bits = _mm256_or_si256(bits, bits_of_four(e->next + 12, from));
    half = _mm_or_si128(_mm256_castsi256_si128(bits), _mm256_extracti128_si256(bits, 1));
    *ends = (uint64_t)_mm_cvtsi128_si64(_mm_or_si128(half, _mm_unpackhi_epi64(half, half))) &
            ~(uint64_t)0 >> (64 - (limit - at));
    e->next += __builtin_popcountll(*ends);
    return true;
}

/* Returns bytes that are 1 for bits that are set. */
static inline __m256i bytes_of_bits(uint32_t bits)
{
    const __m256i which = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i each = _mm256_set1_epi64x((long long)0x8040201008040201);
    __m256i all = _mm256_shuffle_epi8(_mm256_set1_epi32((int)bits), which);

    return _mm256_and_si256(_mm256_cmpeq_epi8(_mm256_and_si256(all, each), each), _mm256_set1_epi8(1));
}

/* Writes pretokens that begin at the bits of `all`, from `at` on; those at the bits of `ends` begin where a pretoken
 * of the text begins. Takes eight places at a time, whether there are any or not, which the CPU can foresee. */
static inline uint32_t put_all(const struct char_cuts *c, struct pretoken_batch *b, uint32_t count, uint32_t at,
                               uint64_t all, uint64_t ends)
{
    uint8_t whole[64];

    _mm256_storeu_si256((__m256i *)whole, bytes_of_bits((uint32_t)ends));
    _mm256_storeu_si256((__m256i *)(whole + 32), bytes_of_bits((uint32_t)(ends >> 32)));
    for (unsigned i = 0; i < 64; i += 8) {
        unsigned bits = all >> i & 0xff;
        __m128i places = _mm_loadl_epi64((const __m128i *)c->bits[bits]);
        __m128i parts = _mm_shuffle_epi8(_mm_loadl_epi64((const __m128i *)(whole + i)), places);

        _mm256_storeu_si256((__m256i *)(b->begins + count),
                            _mm256_add_epi32(_mm256_cvtepu8_epi32(places), _mm256_set1_epi32((int)(at + i))));
        _mm_storel_epi64((__m128i *)(b->parts + count), parts);
        count += (uint32_t)__builtin_popcount(bits);
    }
    return count;
}
