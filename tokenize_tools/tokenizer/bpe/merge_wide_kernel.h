/*
 * merge_wide_kernel.h: merges missed pretokens of up to WIDE_SYMBOLS symbols many at a time, for pretoken_kernel.c
 * where the CPU has AVX-512 or AVX2: a vector has one rank, or symbol, of each of sixteen or eight pretokens. So the
 * least rank of each pretoken is the least of its column, and a merge of each pretoken costs one step for all; most
 * of a step is looking up the pairs that have come about, two of each pretoken. Longer pretokens are merged by
 * merge_lane_kernel.h.
 *
 * A step has two parts: wide_merge() makes a merge in each pretoken, and asks for its pairs; wide_renew() looks
 * these up. In between, while they come from memory, pretokens that are done make room for others.
 */
#if defined(__AVX512F__)
#define WIDE_LANES 16
typedef __m512i wide_vector;
#else
#define WIDE_LANES 8
typedef __m256i wide_vector;
#endif
#define WIDE_PLACES  32
#define WIDE_SYMBOLS 30 /* symbols lie at places 1 to 30, with PAIR_NOBODY before and after them */

struct wide_pretoken {
    struct pretoken_key key; /* key of a pretoken that the cache keeps */
    uint32_t at;             /* number of the pretoken in the batch */
};

#if !defined(__AVX512F__)
/* The pairs that were asked for, one of each pretoken, until their ranks are known: symbols, hash, and the first two
 * places. */
struct wide_pairs {
    _Alignas(32) uint32_t places[2][WIDE_LANES];
    __m256i left, right, hash;
};
#endif

struct wide {
    /* ranks by place and pretoken, as in struct lane; LANE_NONE or more after a pretoken's end, or without a
     * pretoken */
    _Alignas(64) uint32_t ranks[WIDE_PLACES][WIDE_LANES];
    _Alignas(64) uint32_t symbols[WIDE_PLACES][WIDE_LANES];
    _Alignas(64) uint32_t alive[WIDE_LANES];  /* bits as in struct lane */
    _Alignas(64) uint32_t counts[WIDE_LANES]; /* 0: no pretoken */
    struct wide_pretoken pretokens[WIDE_LANES];
    uint32_t busy;  /* a bit for each lane that has a pretoken */
    uint32_t width; /* most symbols that a pretoken began with */
    /* State that a step leaves to the next step: ranks of two places, and a place that is gone, or 0. */
    wide_vector left, left_ranks, place, place_ranks, gone;
#if !defined(__AVX512F__)
    struct wide_pairs pairs[2];
#endif
};

#if defined(__AVX512F__)
#include "merge_wide_avx512.h"
#else
#include "merge_wide_avx2.h"
#endif

/* ---- A pretoken ---- */

/* Writes symbols of characters one by one. Returns how many there are, or 0 if one is beyond the tables, or there
 * are too many. */
static uint32_t wide_put_one_by_one(const struct merge_rules *r, struct wide *w, unsigned lane, const uint8_t *pretoken,
                                    uint32_t bytes)
{
    uint32_t symbols[LANE_SYMBOLS + 2 + 16], count = 0;

    for (uint32_t at = 0; at < bytes;) {
        uint32_t length = lane_letter(r, symbols, &count, pretoken + at);

        if (length == 0)
            return 0;
        at += length;
    }
    if (count > WIDE_SYMBOLS)
        return 0;
    for (unsigned i = 0; i < 17; i++)
        symbols[count + i] = PAIR_NOBODY;
    wide_put_list(r->pairs, w, lane, symbols, count);
    return count;
}

/* Writes the symbols of characters. Returns how many there are, or 0 if one is beyond the tables, or there are too
 * many. */
static inline uint32_t wide_put_letters(const struct merge_rules *r, struct wide *w, unsigned lane,
                                        const uint8_t *pretoken, uint32_t bytes)
{
    uint32_t count = 0;

    if (bytes <= WIDE_SYMBOLS && !bytes_any_high(pretoken, bytes)) {
        wide_put_bytes(r, w, lane, pretoken, bytes);
        return bytes;
    }
#if defined(__AVX512VBMI2__)
    count = wide_put_many(r, w, lane, pretoken, bytes);
#endif
    return count > 0 ? count : wide_put_one_by_one(r, w, lane, pretoken, bytes);
}

static inline bool wide_begin(const struct merge_rules *r, struct wide *w, unsigned lane, const uint8_t *pretoken,
                              uint32_t bytes)
{
    uint32_t count = bytes;

    if (r->letters && (count = wide_put_letters(r, w, lane, pretoken, bytes)) == 0)
        return false;
    if (!r->letters)
        wide_put_bytes(r, w, lane, pretoken, bytes);
    w->symbols[0][lane] = w->symbols[count + 1][lane] = PAIR_NOBODY;
    w->alive[lane] = ~(uint32_t)0 >> (WIDE_PLACES - 2 - count);
    w->counts[lane] = count;
    return true;
}

/* Puts a pretoken's ids into the batch and the cache. */
static inline void wide_end(const struct merge_rules *r, struct wide *w, unsigned lane, struct pretoken_cache *c,
                            struct pretoken_batch *b)
{
    struct wide_pretoken *p = &w->pretokens[lane];
    uint32_t *ids = b->many + b->many_count, count = 0;
    uint32_t alive = w->alive[lane] & ~((uint32_t)2 << w->counts[lane] | 1);

    for (; alive; alive &= alive - 1)
        ids[count++] = w->symbols[__builtin_ctz(alive)][lane];
    merged_ids(r, c, b, p->at, &p->key, ids, count);
    w->counts[lane] = 0;
}

/* ---- All missed pretokens ---- */

/* Begins with the next pretoken that can be merged here. Returns false if there is none. Other pretokens stay
 * missed. */
static bool wide_next(const struct merge_rules *r, struct wide *w, unsigned lane, struct pretoken_cache *c,
                      struct pretoken_batch *b, uint32_t *next, uint32_t *kept)
{
    uint32_t max = r->letters ? LANE_SYMBOLS : WIDE_SYMBOLS;

    while (*next < b->missed_count) {
        uint32_t at = b->missed[(*next)++], bytes = b->begins[at + 1] - b->begins[at];
        struct wide_pretoken *p = &w->pretokens[lane];

        if (bytes <= max && known_by_now(c, b, at, &p->key))
            continue;
        p->at = at;
        if (bytes <= max && wide_begin(r, w, lane, b->text + b->begins[at], bytes))
            return true;
        b->missed[(*kept)++] = at;
    }
    return false;
}

/* Fills the free lanes. */
static void wide_fill(const struct merge_rules *r, struct wide *w, struct pretoken_cache *c, struct pretoken_batch *b,
                      uint32_t *next, uint32_t *kept)
{
    for (uint32_t free = ~w->busy & ((1u << WIDE_LANES) - 1); free; free &= free - 1) {
        unsigned lane = (unsigned)__builtin_ctz(free);

        if (!wide_next(r, w, lane, c, b, next, kept))
            break;
        w->busy |= 1u << lane;
    }
    w->width = wide_widest(w);
}

/* Makes a step in each pretoken. Pretokens that are done make room for others. */
static inline void wide_turn(const struct merge_rules *r, struct wide *w, struct pretoken_cache *c,
                             struct pretoken_batch *b, uint32_t *next, uint32_t *kept)
{
    uint32_t done = wide_merge(r->pairs, w);

    for (uint32_t left = done; left; left &= left - 1)
        wide_end(r, w, (unsigned)__builtin_ctz(left), c, b);
    if (done) {
        w->busy &= ~done;
        wide_fill(r, w, c, b, next, kept);
    }
    wide_renew(r->pairs, w);
}

static void merge_wide(const struct merge_rules *r, struct pretoken_cache *c, struct pretoken_batch *b)
{
    uint32_t next = 0, kept = 0;
    struct wide w;

    if (b->missed_count == 0)
        return;
    memset(w.ranks, 0xff, sizeof w.ranks);
    memset(w.counts, 0, sizeof w.counts);
    memset(w.alive, 0xff, sizeof w.alive);
    w.busy = 0;
    w.left = w.place = w.gone = (wide_vector) { 0 };
    wide_fill(r, &w, c, b, &next, &kept);
    while (w.busy)
        wide_turn(r, &w, c, b, &next, &kept);
    b->missed_count = kept;
}
