/*
 * merge_lane_kernel.h: the body of merging in lanes (merge_lanes.h), for piece_kernel.h. Levels differ in how a line of
 * pairs is looked at, and in how the least of a piece's ranks is found.
 */
#include "merge_lanes.h"

/* ---- What the levels do in their own ways ---- */

static inline uint32_t lane_in_line(const uint64_t *line, uint64_t key)
{
#if defined(__AVX512F__)
    __m512i rest = _mm512_xor_si512(_mm512_load_si512(line), _mm512_set1_epi64((long long)key));
    __mmask8 same = _mm512_cmplt_epu64_mask(rest, _mm512_set1_epi64(1 << PAIR_KEY));
    __m512i found = _mm512_maskz_compress_epi64(same, rest);

    return (uint32_t)((uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(found)) >> 4);
#elif defined(__AVX2__)
    __m256i keys = _mm256_set1_epi64x((long long)key), zero = _mm256_setzero_si256();
    __m256i a = _mm256_xor_si256(_mm256_load_si256((const __m256i *)line), keys);
    __m256i b = _mm256_xor_si256(_mm256_load_si256((const __m256i *)(line + 4)), keys);
    __m256i found = _mm256_or_si256(_mm256_and_si256(a, _mm256_cmpeq_epi64(_mm256_srli_epi64(a, PAIR_KEY), zero)),
                                    _mm256_and_si256(b, _mm256_cmpeq_epi64(_mm256_srli_epi64(b, PAIR_KEY), zero)));
    __m128i half = _mm_or_si128(_mm256_castsi256_si128(found), _mm256_extracti128_si256(found, 1));

    return (uint32_t)_mm_cvtsi128_si32(_mm_or_si128(half, _mm_unpackhi_epi64(half, half))) >> 4;
#else
    return pair_in_line(line, key);
#endif
}

/* Puts down what has become of the ranks that were asked for, and returns the least of all. Words go in and out as whole
 * vectors: a load of what has just been stored in parts would wait. */
static inline uint32_t lane_least(struct lane *l, uint32_t left_rank, uint32_t right_rank)
{
#if defined(__AVX512F__)
    uint64_t left = (uint64_t)1 << l->left, right = (uint64_t)1 << l->right, gone = (uint64_t)1 << l->gone;
    __m512i least = _mm512_set1_epi32(-1);

    for (unsigned i = 0; i < l->width; i += 16) {
        __m512i ranks = _mm512_load_si512(l->ranks + i);

        ranks = _mm512_mask_set1_epi32(ranks, (__mmask16)(left >> i), (int)left_rank);
        ranks = _mm512_mask_set1_epi32(ranks, (__mmask16)(right >> i), (int)right_rank);
        ranks = _mm512_mask_set1_epi32(ranks, (__mmask16)(gone >> i), -1);
        _mm512_store_si512(l->ranks + i, ranks);
        least = _mm512_min_epu32(least, ranks);
    }
    return _mm512_reduce_min_epu32(least);
#elif defined(__AVX2__)
    __m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), least = _mm256_set1_epi32(-1);
    __m128i half;

    for (unsigned i = 0; i < l->width; i += 8, places = _mm256_add_epi32(places, _mm256_set1_epi32(8))) {
        __m256i ranks = _mm256_load_si256((const __m256i *)(l->ranks + i));

        ranks = _mm256_blendv_epi8(ranks, _mm256_set1_epi32((int)left_rank),
                                   _mm256_cmpeq_epi32(places, _mm256_set1_epi32((int)l->left)));
        ranks = _mm256_blendv_epi8(ranks, _mm256_set1_epi32((int)right_rank),
                                   _mm256_cmpeq_epi32(places, _mm256_set1_epi32((int)l->right)));
        ranks = _mm256_or_si256(ranks, _mm256_cmpeq_epi32(places, _mm256_set1_epi32((int)l->gone)));
        _mm256_store_si256((__m256i *)(l->ranks + i), ranks);
        least = _mm256_min_epu32(least, ranks);
    }
    half = _mm_min_epu32(_mm256_castsi256_si128(least), _mm256_extracti128_si256(least, 1));
    half = _mm_min_epu32(half, _mm_shuffle_epi32(half, 0x4e));
    return (uint32_t)_mm_cvtsi128_si32(_mm_min_epu32(half, _mm_shuffle_epi32(half, 0xb1)));
#else
    uint32_t least = UINT32_MAX;

    l->ranks[l->left] = left_rank;
    l->ranks[l->right] = right_rank;
    l->ranks[l->gone] = UINT32_MAX;
    for (unsigned i = 0; i < l->width; i++)
        least = l->ranks[i] < least ? l->ranks[i] : least;
    return least;
#endif
}

/* ---- A lane ---- */

static inline uint32_t lane_find(const struct pair_lines *t, size_t line, uint64_t key, unsigned place)
{
    uint32_t found = lane_in_line(t->lines + line, key);

    if (!found && (t->lines[line + PAIR_WORDS - 1] & 1))
        found = pair_in_next_lines(t, line, key);
    if (t->results)
        __builtin_prefetch(t->results + (found ? found - 1 : 0));
    return (found - 1) << 6 | place;
}

static inline void lane_ask(const struct pair_lines *t, struct lane *l, uint64_t left_key, uint64_t right_key)
{
    l->left_key = left_key;
    l->right_key = right_key;
    l->left_line = pair_line(t, left_key);
    l->right_line = pair_line(t, right_key);
    __builtin_prefetch(t->lines + l->left_line);
    __builtin_prefetch(t->lines + l->right_line);
}

static inline void lane_begin(const struct merge_rules *r, struct lane *l, const uint8_t *piece, uint32_t bytes,
                              unsigned part)
{
    uint64_t nobody = pair_key(PAIR_NOBODY, PAIR_NOBODY);

    l->bytes = bytes;
    l->width = (bytes + 16) / 16 * 16;
    l->alive = ~(uint64_t)0 >> (LANE_PLACES - 2 - bytes);
    l->left = l->right = l->gone = 0;
    l->symbols[0] = l->symbols[bytes + 1] = PAIR_NOBODY;
    l->ranks[0] = UINT32_MAX;
    for (uint32_t i = 0; i < bytes; i++)
        l->symbols[i + 1] = r->bytes[piece[i]];
    for (uint32_t i = 1; i < bytes; i++)
        l->ranks[i] = r->first[piece[i - 1] << 8 | piece[i]] << 6 | i;
    for (uint32_t i = bytes; i < l->width; i++)
        l->ranks[i] = UINT32_MAX;
    for (uint32_t i = 1; r->pairs->results && i < bytes; i++)
        if (l->ranks[i] < LANE_NONE)
            __builtin_prefetch(r->pairs->results + l->ranks[i] / LANE_PLACES);
    lane_ask(r->pairs, l, nobody, nobody);
    if (r->whole && !part)
        l->hash = vocabulary_map_hash(r->whole, piece, bytes);
}

/* One merge; false if there is none left. */
static inline bool lane_step(const struct pair_lines *t, struct lane *l)
{
    uint32_t left_rank = lane_find(t, l->left_line, l->left_key, l->left);
    uint32_t right_rank = lane_find(t, l->right_line, l->right_key, l->right);
    uint32_t least = lane_least(l, left_rank, right_rank), place = least % LANE_PLACES, symbol;
    uint64_t behind;

    if (least >= LANE_NONE)
        return false;
    symbol = pair_result(t, least / LANE_PLACES);
    behind = l->alive & ~(uint64_t)1 << place;
    l->gone = (unsigned)__builtin_ctzll(behind);
    behind &= behind - 1;
    l->right = place;
    l->left = 63 - (unsigned)__builtin_clzll(l->alive & (((uint64_t)1 << place) - 1));
    l->alive ^= (uint64_t)1 << l->gone;
    l->symbols[place] = symbol;
    lane_ask(t, l, pair_key(l->symbols[l->left], symbol), pair_key(symbol, l->symbols[__builtin_ctzll(behind)]));
    return true;
}

/* Its ids go into the batch and the cache. */
static inline void lane_end(const struct merge_rules *r, struct lane *l, struct piece_cache *c, struct piece_batch *b)
{
    uint32_t *ids = b->many + b->many_count, count = 0, token = SPEC_NONE;
    uint64_t alive = l->alive & ~((uint64_t)1 << (l->bytes + 1) | 1);

    for (; alive; alive &= alive - 1)
        ids[count++] = l->symbols[__builtin_ctzll(alive)];
    for (uint32_t i = 0; r->ids && i < count; i++)
        ids[i] = r->ids[ids[i]];
    if (r->whole && count > 1 && !b->parts[l->at])
        token = vocabulary_map_find_hashed(r->whole, l->hash, b->text + b->begins[l->at], l->bytes);
    if (token != SPEC_NONE) {
        ids[0] = r->ids ? r->ids[token] : token;
        count = 1;
    }
    if (l->bytes <= PIECE_MOST)
        piece_cache_add(c, &l->key, ids, count);
    b->values[l->at] = piece_value(ids, count, b->many_count);
    b->many_count += piece_fits(ids, count) ? 0 : count;
}

/* ---- All missed pieces ---- */

/* Begins with the next piece that must be merged; false if there is none. What has become known since is no longer
 * merged: new words come in bursts. */
static bool lane_next(const struct merge_rules *r, struct lane *l, struct piece_cache *c, struct piece_batch *b,
                      uint32_t *next, uint32_t *kept)
{
    while (*next < b->missed_count) {
        uint32_t at = b->missed[(*next)++], bytes = b->begins[at + 1] - b->begins[at];
        const uint8_t *piece = b->text + b->begins[at];
        size_t count = 0;

        if (bytes > LANE_SYMBOLS) {
            b->missed[(*kept)++] = at;
            continue;
        }
        if (bytes <= PIECE_MOST) {
            l->key = piece_key_ahead(piece, bytes, b->parts[at]);
            count = piece_cache_find(c, &l->key, b->many + b->many_count);
        }
        if (count == 0) {
            l->at = at;
            lane_begin(r, l, piece, bytes, b->parts[at]);
            return true;
        }
        b->values[at] = piece_value(b->many + b->many_count, count, b->many_count);
        b->many_count += count > 3 ? count : 0;
    }
    return false;
}

static void merge_missed(const struct merge_rules *r, struct piece_cache *c, struct piece_batch *b)
{
    struct lane lanes[LANES];
    struct lane *busy[LANES];
    uint32_t count = 0, next = 0, kept = 0;

    for (; count < LANES && lane_next(r, &lanes[count], c, b, &next, &kept); count++)
        busy[count] = &lanes[count];
    while (count > 0)
        for (uint32_t i = 0; i < count; i++) {
            struct lane *l = busy[i];

            if (lane_step(r->pairs, l))
                continue;
            lane_end(r, l, c, b);
            if (!lane_next(r, l, c, b, &next, &kept)) {
                busy[i] = busy[--count];
                i--;
            }
        }
    b->missed_count = kept;
}
