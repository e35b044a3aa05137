/*
 * piece_kernel.h: the body of piece_kernels_*.c, compiled once for each CPU level. Where the levels differ is the look at
 * a line; the rest is the same C, in loops that have no branch on what a piece is, since a quarter of those of many
 * languages would be guessed wrong.
 */
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "merge_lane_kernel.h"
#include "piece_batch.h"

/* ---- A line ---- */

/* The value of the one entry of a line of short pieces with this key; 0 if there is none. */
static inline uint64_t line_short(const uint64_t *line, uint64_t key)
{
#if defined(__AVX2__)
    __m256i equal = _mm256_cmpeq_epi64(_mm256_load_si256((const __m256i *)line), _mm256_set1_epi64x((long long)key));
    __m256i value = _mm256_and_si256(equal, _mm256_load_si256((const __m256i *)(line + 4)));
    __m128i half = _mm_or_si128(_mm256_castsi256_si128(value), _mm256_extracti128_si256(value, 1));

    return (uint64_t)_mm_cvtsi128_si64(_mm_or_si128(half, _mm_unpackhi_epi64(half, half)));
#else
    uint64_t value = 0;

    for (unsigned i = 0; i < 4; i++)
        value |= line[i] == key ? line[4 + i] : 0;
    return value;
#endif
}

/* The same of a line of middle pieces: two words. */
static inline void line_middle(const uint64_t *line, const uint64_t *key, uint64_t *value)
{
#if defined(__AVX2__)
    __m256i keys = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)key));
    __m256i equal = _mm256_cmpeq_epi64(_mm256_load_si256((const __m256i *)line), keys);
    __m256i both = _mm256_and_si256(equal, _mm256_shuffle_epi32(equal, 0x4e));
    __m256i found = _mm256_and_si256(both, _mm256_load_si256((const __m256i *)(line + 4)));

    _mm_storeu_si128((__m128i *)value, _mm_or_si128(_mm256_castsi256_si128(found), _mm256_extracti128_si256(found, 1)));
#else
    uint64_t first = line[0] == key[0] && line[1] == key[1] ? ~(uint64_t)0 : 0;
    uint64_t second = line[2] == key[0] && line[3] == key[1] ? ~(uint64_t)0 : 0;

    value[0] = (line[4] & first) | (line[6] & second);
    value[1] = (line[5] & first) | (line[7] & second);
#endif
}

/* ---- Finding ---- */

/* Sorts the pieces by the table that they belong to, and makes the keys of the two that most belong to. */
static void make_keys(struct piece_batch *b)
{
    uint32_t shorts = 0, middles = 0, longs = 0;

    for (uint32_t i = 0; i < b->count; i++) {
        const uint8_t *piece = b->text + b->begins[i];
        size_t bytes = b->begins[i + 1] - b->begins[i];
        size_t low = bytes < 8 ? bytes : 8, high = bytes < 8 ? 1 : bytes < 16 ? bytes - 7 : 8;
        uint64_t first = bytes_load64(piece) & piece_bytes_mask(low);
        uint64_t second = bytes_load64(piece + 7) & piece_bytes_mask(high);
        uint64_t part = b->parts[i], key = first | ((bytes & 7) | part << 3) << 56;
        bool is_short = bytes <= 8 && key >> 56 >= (bytes & 8) * (2 + 32 * part), is_long = bytes > 15;

        b->short_words[shorts] = key;
        b->short_at[shorts] = i;
        shorts += is_short;
        b->middle_words[2 * middles] = first;
        b->middle_words[2 * middles + 1] = second >> 8 | (bytes | part << 4) << 56;
        b->middle_at[middles] = i;
        middles += !is_short & !is_long;
        b->long_at[longs] = i;
        longs += is_long;
    }
    b->short_count = shorts;
    b->middle_count = middles;
    b->long_count = longs;
}

static inline const uint64_t *short_line(const struct piece_cache *c, const struct piece_batch *b, uint32_t i)
{
    const struct piece_table *t = &c->tables[PIECE_SHORT];

    return t->lines + piece_line(t, piece_hash_short(b->short_words[i]));
}

static inline const uint64_t *middle_line(const struct piece_cache *c, const struct piece_batch *b, uint32_t i)
{
    const struct piece_table *t = &c->tables[PIECE_MIDDLE];

    return t->lines + piece_line(t, piece_hash_middle(b->middle_words[2 * i], b->middle_words[2 * i + 1]));
}

static inline void note(struct piece_batch *b, uint32_t at, uint64_t value)
{
    b->values[at] = value;
    b->missed[b->missed_count] = at;
    b->missed_count += value >> PIECE_COUNT_SHIFT == 0;
}

static void find_short(const struct piece_cache *c, struct piece_batch *b)
{
    for (uint32_t i = 0; i < b->short_count; i++)
        note(b, b->short_at[i], line_short(short_line(c, b, i), b->short_words[i]));
}

/* Puts six ids down, of which `count` are meant. */
static inline uint64_t put_many(struct piece_batch *b, const uint64_t value[2], size_t count)
{
    uint32_t *many = b->many + b->many_count;
    uint64_t place = PIECE_MANY | (uint64_t)count << 32 | b->many_count;

    for (unsigned k = 0; k < 6; k++)
        many[k] = (uint32_t)(value[k / 3] >> PIECE_ID_BITS * (k % 3) & PIECE_ID_MASK);
    b->many_count += count;
    return place;
}

static void find_middle(const struct piece_cache *c, struct piece_batch *b)
{
    for (uint32_t i = 0; i < b->middle_count; i++) {
        uint64_t value[2];
        size_t count;

        line_middle(middle_line(c, b, i), &b->middle_words[2 * i], value);
        count = (size_t)(value[0] >> PIECE_COUNT_SHIFT);
        note(b, b->middle_at[i], count > 3 ? put_many(b, value, count) : value[0]);
    }
}

static void find_long(const struct piece_cache *c, struct piece_batch *b)
{
    for (uint32_t i = 0; i < b->long_count; i++) {
        uint32_t at = b->long_at[i], bytes = b->begins[at + 1] - b->begins[at];
        uint32_t ids[12];
        size_t count = 0;

        if (bytes <= PIECE_MOST) {
            struct piece_key key = piece_key_make(b->text + b->begins[at], bytes, b->parts[at]);

            count = piece_cache_find(c, &key, ids);
        }
        for (size_t k = 0; count > 3 && k < count; k++)
            b->many[b->many_count + k] = ids[k];
        note(b, at, count > 3 ? PIECE_MANY | (uint64_t)count << 32 | b->many_count : piece_pack(ids, count));
        b->many_count += count > 3 ? count : 0;
    }
}

static void find(const struct piece_cache *c, struct piece_batch *b)
{
    make_keys(b);
    for (uint32_t i = 0; i < b->short_count; i++)
        __builtin_prefetch(short_line(c, b, i));
    for (uint32_t i = 0; i < b->middle_count; i++)
        __builtin_prefetch(middle_line(c, b, i));
    b->missed_count = 0;
    find_short(c, b);
    find_middle(c, b);
    find_long(c, b);
}

/* ---- Writing ---- */

static size_t write_ids(const struct piece_batch *b, uint32_t *ids)
{
    uint32_t *at = ids;

    for (uint32_t i = 0; i < b->count; i++) {
        uint64_t value = b->values[i], count = value >> PIECE_COUNT_SHIFT;

        if (count > 3) {
            const uint32_t *many = b->many + (uint32_t)value;

            count = value << 4 >> 36;
            for (uint64_t k = 0; k < count; k++)
                at[k] = many[k];
        } else {
            at[0] = (uint32_t)(value & PIECE_ID_MASK);
            at[1] = (uint32_t)(value >> PIECE_ID_BITS & PIECE_ID_MASK);
            at[2] = (uint32_t)(value >> 2 * PIECE_ID_BITS & PIECE_ID_MASK);
        }
        at += count;
    }
    return (size_t)(at - ids);
}

const struct piece_kernels PIECE_ROW = { PIECE_NAME, find, merge_missed, write_ids };
