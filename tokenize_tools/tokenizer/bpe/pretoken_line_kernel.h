/* pretoken_line_kernel.h: looks at, and changes, a line of short or middle pretokens of the cache (pretoken_batch.h)
 * as a whole, for pretoken_kernel.c. */
#include "pretoken_batch.h"

/*
 * Words of a shared cache may be written meanwhile. Each is read whole, in vectors too, and nothing depends on their
 * order (pretoken_batch.h). ThreadSanitizer knows no vectors of such words, and gets plain C.
 */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LINE_BY_WORDS 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define LINE_BY_WORDS 1
#endif

/* ---- Short ---- */

/* Returns the value of the one entry of a line of short pretokens with this key; 0 if there is none. */
static inline uint64_t line_short(const uint64_t *line, uint64_t key)
{
#if defined(LINE_BY_WORDS)
    uint64_t value = 0;

    for (unsigned i = 0; i < 4; i++)
        value |= pretoken_word(line + i) == key ? pretoken_word(line + 4 + i) : 0;
    return value;
#elif defined(__AVX512F__)
    __mmask8 same =
        _mm256_cmpeq_epi64_mask(_mm256_load_si256((const __m256i *)line), _mm256_set1_epi64x((long long)key));
    __m256i value = _mm256_maskz_compress_epi64(same, _mm256_load_si256((const __m256i *)(line + 4)));

    return (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(value));
#elif defined(__AVX2__)
    __m256i equal = _mm256_cmpeq_epi64(_mm256_load_si256((const __m256i *)line), _mm256_set1_epi64x((long long)key));
    __m256i value = _mm256_and_si256(equal, _mm256_load_si256((const __m256i *)(line + 4)));
    __m128i half = _mm_or_si128(_mm256_castsi256_si128(value), _mm256_extracti128_si256(value, 1));

    return (uint64_t)_mm_cvtsi128_si64(_mm_or_si128(half, _mm_unpackhi_epi64(half, half)));
#elif defined(LEVEL_NEON)
    uint64x2_t keys = vdupq_n_u64(key);
    uint64x2_t low = vandq_u64(vceqq_u64(vld1q_u64(line), keys), vld1q_u64(line + 4));
    uint64x2_t high = vandq_u64(vceqq_u64(vld1q_u64(line + 2), keys), vld1q_u64(line + 6));

    return vaddvq_u64(vorrq_u64(low, high)); /* at most one entry is not 0, so the sum is that entry */
#else
    uint64_t value = 0;

    for (unsigned i = 0; i < 4; i++)
        value |= line[i] == key ? line[4 + i] : 0;
    return value;
#endif
}

/* Sets the values of four pretokens. */
static inline void lines_short(const uint64_t *lines, const uint32_t at[4], const uint64_t keys[4], uint64_t values[4])
{
#if defined(__AVX2__) && !defined(__AVX512F__) && !defined(LINE_BY_WORDS)
    __m256i found[4], low, high;

    for (unsigned i = 0; i < 4; i++) { /* all but one of the words of each line are 0 */
        const __m256i *line = (const __m256i *)(lines + at[i]);
        __m256i same = _mm256_cmpeq_epi64(_mm256_load_si256(line), _mm256_set1_epi64x((long long)keys[i]));

        found[i] = _mm256_and_si256(same, _mm256_load_si256(line + 1));
    }
    low = _mm256_or_si256(_mm256_unpacklo_epi64(found[0], found[1]), _mm256_unpackhi_epi64(found[0], found[1]));
    high = _mm256_or_si256(_mm256_unpacklo_epi64(found[2], found[3]), _mm256_unpackhi_epi64(found[2], found[3]));
    _mm256_storeu_si256((__m256i *)values, _mm256_or_si256(_mm256_permute2x128_si256(low, high, 0x20),
                                                           _mm256_permute2x128_si256(low, high, 0x31)));
#else
    for (unsigned i = 0; i < 4; i++)
        values[i] = line_short(lines + at[i], keys[i]);
#endif
}

/* Puts an entry in front of the other ones, the last of which is lost; or in place of the entry with this key. */
static inline void line_put_short(uint64_t *line, uint64_t key, uint64_t value)
{
#if defined(__AVX2__)
    __m256i keys = _mm256_load_si256((__m256i *)line), values = _mm256_load_si256((__m256i *)(line + 4));
    __m256i new_key = _mm256_set1_epi64x((long long)key), new_value = _mm256_set1_epi64x((long long)value);
    __m256i same = _mm256_cmpeq_epi64(keys, new_key);

    if (_mm256_testz_si256(same, same)) {
        keys = _mm256_blend_epi32(_mm256_permute4x64_epi64(keys, 0x90), new_key, 3);
        _mm256_store_si256((__m256i *)line, keys);
        values = _mm256_blend_epi32(_mm256_permute4x64_epi64(values, 0x90), new_value, 3);
    } else {
        values = _mm256_blendv_epi8(values, new_value, same);
    }
    _mm256_store_si256((__m256i *)(line + 4), values);
#else
    unsigned at = 0;

    while (at < 3 && line[at] != key)
        at++;
    for (; at > 0 && line[at] != key; at--) {
        line[at] = line[at - 1];
        line[4 + at] = line[3 + at];
    }
    line[at] = key;
    line[4 + at] = value;
#endif
}

/* ---- Middle ---- */

/* Looks up as line_short() does, in a line of middle pretokens, whose keys have two words. */
static inline void line_middle(const uint64_t *line, const uint64_t *key, uint64_t *value)
{
#if defined(LINE_BY_WORDS)
    uint64_t first = pretoken_word(line) == key[0] && pretoken_word(line + 1) == key[1] ? ~(uint64_t)0 : 0;
    uint64_t second = pretoken_word(line + 2) == key[0] && pretoken_word(line + 3) == key[1] ? ~(uint64_t)0 : 0;

    value[0] = (pretoken_word(line + 4) & first) | (pretoken_word(line + 6) & second);
    value[1] = (pretoken_word(line + 5) & first) | (pretoken_word(line + 7) & second);
#elif defined(__AVX2__)
    __m256i keys = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)key));
    __m256i equal = _mm256_cmpeq_epi64(_mm256_load_si256((const __m256i *)line), keys);
    __m256i both = _mm256_and_si256(equal, _mm256_shuffle_epi32(equal, 0x4e));
    __m256i found = _mm256_and_si256(both, _mm256_load_si256((const __m256i *)(line + 4)));

    _mm_storeu_si128((__m128i *)value, _mm_or_si128(_mm256_castsi256_si128(found), _mm256_extracti128_si256(found, 1)));
#elif defined(LEVEL_NEON)
    uint64x2_t words = vld1q_u64(key), first = vceqq_u64(vld1q_u64(line), words),
               second = vceqq_u64(vld1q_u64(line + 2), words);

    first = vandq_u64(vandq_u64(first, vextq_u64(first, first, 1)), vld1q_u64(line + 4));
    second = vandq_u64(vandq_u64(second, vextq_u64(second, second, 1)), vld1q_u64(line + 6));
    vst1q_u64(value, vorrq_u64(first, second));
#else
    uint64_t first = line[0] == key[0] && line[1] == key[1] ? ~(uint64_t)0 : 0;
    uint64_t second = line[2] == key[0] && line[3] == key[1] ? ~(uint64_t)0 : 0;

    value[0] = (line[4] & first) | (line[6] & second);
    value[1] = (line[5] & first) | (line[7] & second);
#endif
}

/* Puts as line_put_short() does, for a key of two words, and two words of ids. */
static inline void line_put_middle(uint64_t *line, const uint64_t key[2], const uint64_t value[2])
{
    unsigned at = line[2] == key[0] && line[3] == key[1] ? 2 : 0;

    if (at == 0 && (line[0] != key[0] || line[1] != key[1])) {
        memcpy(line + 2, line, 2 * sizeof *line);
        memcpy(line + 6, line + 4, 2 * sizeof *line);
    }
    memcpy(line + at, key, 2 * sizeof *line);
    memcpy(line + 4 + at, value, 2 * sizeof *line);
}

/* Returns the value of these two words for a batch; puts four to six ids into `many`. */
static inline uint64_t put_middle(struct pretoken_batch *b, const uint64_t value[2])
{
    uint32_t *many = b->many + b->many_count;
    uint64_t count = value[0] >> PRETOKEN_COUNT_SHIFT, place = PRETOKEN_MANY | count << 32 | b->many_count;

    if (count <= 3 || count > 6)
        return value[0];
    if (value[1] == 0) /* another thread has not written it yet */
        return 0;
    for (unsigned k = 0; k < 6; k++)
        many[k] = (uint32_t)(value[k / 3] >> PRETOKEN_ID_BITS * (k % 3) & PRETOKEN_ID_MASK);
    b->many_count += count;
    return place;
}
