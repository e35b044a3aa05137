/*
 * merge_lane_kernel.h: merges several short pretokens in turns, for pretoken_kernel.c: while one waits for memory
 * with the pairs that it asked for, the others go on. The rule is that of merge_table.h, least rank first and
 * leftmost among equals, applied literally: all ranks of a pretoken are kept, with their places in the low bits, and
 * each time the least of all is looked for.
 *
 * A lane holds one pretoken: its symbols, and for each pair of neighbours the rank of its merge, or none.
 * lane_begin() fills it and asks for its pairs; it waits until another lane is done. Then lane_ranks() looks the
 * pairs up, and each further turn makes the merge of least rank and asks for the two pairs that this has brought
 * about; then the next lane has its turn, and by the time this one comes again the answers are in the cache. When a
 * pretoken has no merge left, its ids go into the batch and the cache, and the lane takes the next one.
 *
 * Levels differ in how a line of pairs is compared, and in how the least of a pretoken's ranks is found.
 */
#include <string.h>

#include "pretoken_batch.h"

#define LANES       8
#define LANE_PLACES (LANE_SYMBOLS + 2) /* symbols lie at places 1 to LANE_SYMBOLS */
#define LANE_NONE   (UINT32_MAX - LANE_PLACES + 1)

struct lane {
    _Alignas(64) uint32_t
        ranks[LANE_PLACES]; /* rank << 6 | place of the pair that begins at a place; LANE_NONE or more if none */
    uint32_t symbols[LANE_PLACES + 2];                 /* symbols by place, between two PAIR_NOBODY */
    uint64_t alive;                                    /* bits of the places that begin a symbol, and of those of
                                                          PAIR_NOBODY */
    unsigned width;                                    /* places that are in use, a multiple of 16 */
    unsigned left, right;                              /* places whose ranks were asked for; they have no rank until
                                                          the answer comes */
    uint32_t left_symbol, middle_symbol, right_symbol; /* symbols of these pairs */
    uint32_t at;                                       /* number of the pretoken in the batch */
    uint32_t bytes, count;                             /* bytes of the pretoken, and symbols before merging */
    struct pretoken_key key;                           /* key of a pretoken that the cache keeps */
};

/* ---- Functions that each level has of its own ---- */

/* Returns the least of a pretoken's ranks. */
static inline uint32_t lane_least(const struct lane *l)
{
#if defined(__AVX512F__)
    __m512i min = _mm512_load_si512(l->ranks);

    for (unsigned i = 16; i < l->width; i += 16)
        min = _mm512_min_epu32(min, _mm512_load_si512(l->ranks + i));
    return _mm512_reduce_min_epu32(min);
#elif defined(__AVX2__)
    __m256i min = _mm256_load_si256((const __m256i *)l->ranks);
    __m128i half;

    for (unsigned i = 8; i < l->width; i += 8)
        min = _mm256_min_epu32(min, _mm256_load_si256((const __m256i *)(l->ranks + i)));
    half = _mm_min_epu32(_mm256_castsi256_si128(min), _mm256_extracti128_si256(min, 1));
    half = _mm_min_epu32(half, _mm_shuffle_epi32(half, 0x4e));
    return (uint32_t)_mm_cvtsi128_si32(_mm_min_epu32(half, _mm_shuffle_epi32(half, 0xb1)));
#elif defined(LEVEL_NEON)
    uint32x4_t min = vld1q_u32(l->ranks), more = vld1q_u32(l->ranks + 4);

    for (unsigned i = 8; i < l->width; i += 8) {
        min = vminq_u32(min, vld1q_u32(l->ranks + i));
        more = vminq_u32(more, vld1q_u32(l->ranks + i + 4));
    }
    return vminvq_u32(vminq_u32(min, more));
#else
    uint32_t min = UINT32_MAX;

    for (unsigned i = 0; i < l->width; i++)
        min = l->ranks[i] < min ? l->ranks[i] : min;
    return min;
#endif
}

/* ---- A lane ---- */

static inline uint32_t lane_find(const struct pair_table *t, uint32_t left, uint32_t right, unsigned place)
{
    uint32_t rank = pair_rank(t, left, right);

    if (t->results)
        __builtin_prefetch(t->results + (rank == UINT32_MAX ? 0 : rank));
    return rank << 6 | place;
}

/* Asks for the pairs on both sides of the symbol that has been made. */
static inline void lane_ask(const struct pair_table *t, struct lane *l, uint32_t left, uint32_t middle, uint32_t right)
{
    l->left_symbol = left;
    l->middle_symbol = middle;
    l->right_symbol = right;
    __builtin_prefetch(t->words + pair_place(t, pair_hash(left, middle), 0));
    __builtin_prefetch(t->words + pair_place(t, pair_hash(middle, right), 0));
}

/* The pretoken's bytes. */
static inline void lane_bytes(const struct merge_rules *r, struct lane *l, const uint8_t *pretoken)
{
    l->count = l->bytes;
    for (uint32_t i = 0; i < l->bytes; i++)
        l->symbols[i + 1] = r->bytes[pretoken[i]];
    for (uint32_t i = 1; i < l->bytes; i++)
        l->ranks[i] = r->first[pretoken[i - 1] << 8 | pretoken[i]] << 6 | i;
}

/* Appends a character's symbol, or those of its bytes if it has none; returns its length, 0 if it is beyond the
 * tables. */
static inline uint32_t lane_letter(const struct merge_rules *r, uint32_t *symbols, uint32_t *count, const uint8_t *text)
{
    uint32_t length = *text < 0x80 ? 1 : *text < 0xe0 ? 2 : 3, symbol;

    if (length == 1) {
        symbols[(*count)++] = r->bytes[*text];
        return 1;
    }
    if (*text >= 0xf0)
        return 0;
    symbol = r->letters[length == 2 ? (text[0] & 0x1fu) << 6 | (text[1] & 0x3fu)
                                    : (text[0] & 0xfu) << 12 | (text[1] & 0x3fu) << 6 | (text[2] & 0x3fu)];
    if (symbol != LANE_NO_LETTER)
        symbols[(*count)++] = symbol;
    for (uint32_t i = 0; symbol == LANE_NO_LETTER && i < length; i++)
        symbols[(*count)++] = r->fallback[text[i]];
    return length;
}

/* Writes the symbols of a pretoken's characters. Returns false if one is beyond the tables. */
static inline bool lane_letters(const struct merge_rules *r, struct lane *l, const uint8_t *pretoken)
{
    l->count = 0;
    for (uint32_t at = 0; at < l->bytes;) {
        uint32_t length = lane_letter(r, l->symbols + 1, &l->count, pretoken + at);

        if (length == 0)
            return false;
        at += length;
    }
    for (uint32_t i = 1; i < l->count; i++)
        __builtin_prefetch(r->pairs->words + pair_place(r->pairs, pair_hash(l->symbols[i], l->symbols[i + 1]), 0));
    return true;
}

static inline bool lane_begin(const struct merge_rules *r, struct lane *l, const uint8_t *pretoken, uint32_t bytes)
{
    l->bytes = bytes;
    if (!r->letters)
        lane_bytes(r, l, pretoken);
    else if (!lane_letters(r, l, pretoken))
        return false;
    l->width = (l->count + 16) / 16 * 16;
    l->alive = ~(uint64_t)0 >> (LANE_PLACES - 2 - l->count);
    l->left = l->right = 0;
    l->symbols[0] = l->symbols[l->count + 1] = PAIR_NOBODY;
    l->ranks[0] = UINT32_MAX;
    for (uint32_t i = l->count; i < l->width; i++)
        l->ranks[i] = UINT32_MAX;
    lane_ask(r->pairs, l, PAIR_NOBODY, PAIR_NOBODY, PAIR_NOBODY);
    return true;
}

/* Looks up the pairs that lane_begin() asked for; the ranks of pairs of bytes are there already. */
static inline void lane_ranks(const struct merge_rules *r, struct lane *l)
{
    for (uint32_t i = 1; r->letters && i < l->count; i++)
        l->ranks[i] = pair_rank(r->pairs, l->symbols[i], l->symbols[i + 1]) << 6 | i;
    for (uint32_t i = 1; r->pairs->results && i < l->count; i++)
        if (l->ranks[i] < LANE_NONE)
            __builtin_prefetch(r->pairs->results + l->ranks[i] / LANE_PLACES);
}

/* Makes one merge. Returns false if there is none left. */
static inline bool lane_step(const struct pair_table *t, struct lane *l)
{
    uint32_t left_rank = lane_find(t, l->left_symbol, l->middle_symbol, l->left);
    uint32_t right_rank = lane_find(t, l->middle_symbol, l->right_symbol, l->right);
    uint32_t min = lane_least(l), place, symbol, gone;
    uint64_t behind;

    min = left_rank < min ? left_rank : min;
    min = right_rank < min ? right_rank : min;
    if (min >= LANE_NONE)
        return false;
    l->ranks[l->left] = left_rank;
    l->ranks[l->right] = right_rank;
    place = min % LANE_PLACES;
    symbol = pair_result(t, min / LANE_PLACES);
    behind = l->alive & ~(uint64_t)1 << place;
    gone = (uint32_t)__builtin_ctzll(behind);
    behind &= behind - 1;
    l->right = place;
    l->left = 63 - (unsigned)__builtin_clzll(l->alive & (((uint64_t)1 << place) - 1));
    l->alive ^= (uint64_t)1 << gone;
    l->symbols[place] = symbol;
    /* no ranks until the answers come: vectors that are loaded soon after a part of them was stored would wait for
     * it */
    l->ranks[l->left] = l->ranks[l->right] = l->ranks[gone] = UINT32_MAX;
    lane_ask(t, l, l->symbols[l->left], symbol, l->symbols[__builtin_ctzll(behind)]);
    return true;
}

static inline uint64_t *short_line(const struct pretoken_cache *c, const struct pretoken_key *key)
{
    const struct pretoken_table *t = &c->tables[PRETOKEN_SHORT];

    return t->lines + pretoken_line(t, pretoken_hash_short(key->words[0]));
}

static inline uint64_t *middle_line(const struct pretoken_cache *c, const struct pretoken_key *key)
{
    const struct pretoken_table *t = &c->tables[PRETOKEN_MIDDLE];

    return t->lines + pretoken_line(t, pretoken_hash_middle(key->words[0], key->words[1]));
}

/* Packs up to six ids into two words, as a line of middle pretokens has them. Returns false if they do not fit. */
static inline bool pack_middle(const uint32_t *ids, uint32_t count, uint64_t words[2])
{
    uint32_t all = 0;

    words[0] = (uint64_t)count << PRETOKEN_COUNT_SHIFT;
    words[1] = PRETOKEN_WRITTEN;
    for (uint32_t i = 0; i < count && count <= 6; i++) {
        words[i / 3] |= (uint64_t)ids[i] << PRETOKEN_ID_BITS * (i % 3);
        all |= ids[i];
    }
    return count <= 6 && all <= PRETOKEN_ID_MASK;
}

/* Keeps the ids of a pretoken, as a word if they fit one. */
static inline void keep_pretoken_ids(struct pretoken_cache *c, const struct pretoken_key *key, const uint32_t *ids,
                                     uint32_t count, uint64_t value)
{
    struct pretoken_cache *common = c->common;
    uint64_t words[2];

    if (key->table == PRETOKEN_SHORT && value < PRETOKEN_SPILLED) {
        if (common && pretoken_claim_in(short_line(common, key), key->words, &value, 1))
            return;
        line_put_short(short_line(c, key), key->words[0], value);
        c->refused++;
    } else if (key->table == PRETOKEN_MIDDLE && pretoken_key_whole(key) && pack_middle(ids, count, words)) {
        if (common && pretoken_claim_in(middle_line(common, key), key->words, words, 2))
            return;
        line_put_middle(middle_line(c, key), key->words, words);
        c->refused++;
    } else {
        pretoken_cache_add(c, key, ids, count);
    }
}

/* Turns the symbols of a merged pretoken, which lie after the batch's other ids, into ids, and puts them into the
 * batch and the cache. */
static inline void merged_ids(const struct merge_rules *r, struct pretoken_cache *c, struct pretoken_batch *b,
                              uint32_t at, const struct pretoken_key *key, uint32_t *ids, uint32_t count)
{
    uint32_t bytes = b->begins[at + 1] - b->begins[at], token = SPEC_NONE;
    const uint8_t *pretoken = b->text + b->begins[at];

    for (uint32_t i = 0; r->ids && i < count; i++)
        ids[i] = r->ids[ids[i]];
    if (r->whole && count > 1 && !b->parts[at] && orphan_maybe(r->orphans, pretoken, bytes))
        token = vocabulary_map_find(r->whole, pretoken, bytes);
    if (token != SPEC_NONE) {
        ids[0] = r->ids ? r->ids[token] : token;
        count = 1;
    }
    b->values[at] = pretoken_value(ids, count, b->many_count);
    b->many_count += pretoken_fits(ids, count) ? 0 : count;
    if (bytes <= PRETOKEN_MAX)
        keep_pretoken_ids(c, key, ids, count, b->values[at]);
}

static inline void lane_end(const struct merge_rules *r, struct lane *l, struct pretoken_cache *c,
                            struct pretoken_batch *b)
{
    uint32_t *ids = b->many + b->many_count, count = 0;
    uint64_t alive = l->alive & ~((uint64_t)1 << (l->count + 1) | 1);

    for (; alive; alive &= alive - 1)
        ids[count++] = l->symbols[__builtin_ctzll(alive)];
    merged_ids(r, c, b, l->at, &l->key, ids, count);
}

/* ---- All missed pretokens ---- */

/* Returns true if no pretoken of this line of the shared cache lies in the thread's own cache. */
static inline bool is_all(const struct pretoken_cache *c, const uint64_t *line)
{
    return line && !pretoken_full(line) && !c->spilled;
}

/* Returns the value of a short pretoken in the shared cache, or in the thread's own cache, which has the pretokens
 * that the shared one had no room for. */
static inline uint64_t known_short(const struct pretoken_cache *c, const struct pretoken_key *key)
{
    const uint64_t *line = c->common ? short_line(c->common, key) : NULL;
    uint64_t value = line ? line_short(line, key->words[0]) : 0;

    return value != 0 || is_all(c, line) ? value : line_short(short_line(c, key), key->words[0]);
}

static inline void known_middle(const struct pretoken_cache *c, const struct pretoken_key *key, uint64_t value[2])
{
    const uint64_t *line = c->common ? middle_line(c->common, key) : NULL;

    value[0] = 0;
    if (line)
        line_middle(line, key->words, value);
    if (value[0] == 0 && !is_all(c, line))
        line_middle(middle_line(c, key), key->words, value);
}

/* Makes the key of a missed pretoken. Returns true if it has become known since, because new words come in bursts. */
static inline bool known_by_now(struct pretoken_cache *c, struct pretoken_batch *b, uint32_t at,
                                struct pretoken_key *key)
{
    uint32_t bytes = b->begins[at + 1] - b->begins[at];
    size_t count;

    if (bytes > PRETOKEN_MAX)
        return false;
    *key = pretoken_key_ahead(b->text + b->begins[at], bytes, b->parts[at]);
    if (key->table == PRETOKEN_SHORT) {
        uint64_t value = known_short(c, key);

        if (value < PRETOKEN_SPILLED) {
            b->values[at] = value;
            return value != 0;
        }
    }
    if (key->table == PRETOKEN_MIDDLE && pretoken_key_whole(key)) {
        uint64_t value[2];

        known_middle(c, key, value);
        if (value[0] < PRETOKEN_SPILLED) {
            b->values[at] = put_middle(b, value);
            return b->values[at] != 0;
        }
    }
    count = pretoken_cache_find(c, key, b->many + b->many_count);
    if (count == 0)
        return false;
    b->values[at] = pretoken_value(b->many + b->many_count, count, b->many_count);
    b->many_count += pretoken_fits(b->many + b->many_count, count) ? 0 : count;
    return true;
}

/* Begins with the next pretoken that must be merged. Returns false if there is none. */
static bool lane_next(const struct merge_rules *r, struct lane *l, struct pretoken_cache *c, struct pretoken_batch *b,
                      uint32_t *next, uint32_t *kept)
{
    while (*next < b->missed_count) {
        uint32_t at = b->missed[(*next)++], bytes = b->begins[at + 1] - b->begins[at];

        if (bytes <= LANE_SYMBOLS && known_by_now(c, b, at, &l->key))
            continue;
        l->at = at;
        if (bytes <= LANE_SYMBOLS && lane_begin(r, l, b->text + b->begins[at], bytes))
            return true;
        b->missed[(*kept)++] = at;
    }
    return false;
}

static void merge_missed(const struct merge_rules *r, struct pretoken_cache *c, struct pretoken_batch *b)
{
    struct lane lanes[LANES + 1];
    struct lane *busy[LANES], *ready = &lanes[LANES];
    uint32_t count = 0, next = 0, kept = 0;
    bool more;

    for (; count < LANES && lane_next(r, &lanes[count], c, b, &next, &kept); count++)
        busy[count] = &lanes[count];
    more = lane_next(r, ready, c, b, &next, &kept);
    for (uint32_t i = 0; i < count; i++)
        lane_ranks(r, busy[i]);
    while (count > 0)
        for (uint32_t i = 0; i < count; i++) {
            struct lane *l = busy[i];

            if (lane_step(r->pairs, l))
                continue;
            lane_end(r, l, c, b);
            if (!more) {
                busy[i--] = busy[--count];
                continue;
            }
            busy[i] = ready;
            lane_ranks(r, ready);
            ready = l;
            more = lane_next(r, ready, c, b, &next, &kept);
        }
    b->missed_count = kept;
}
