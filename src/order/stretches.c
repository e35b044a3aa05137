/*
 * stretches.c: stretches are dealt to the lanes in turn, and a lane shows pool after pool of its own. A draw leads to
 * its lane, to a place in one of the lane's pools, to the stretch that stands there, and to a block of it. The stretch
 * that the source's end cuts always has the last place.
 */
#include "stretches.h"

/* Added to a source's number, for keys that no other draw has. */
#define OF_STRETCHES ((uint64_t)1 << 62)
#define OF_POOLS     ((uint64_t)3 << 61)

struct stretches stretches_make(uint64_t blocks, uint64_t size, const struct stretches_rule *rule, uint64_t seed,
                                uint64_t source)
{
    struct stretches s = { .lanes = rule->lanes, .mix = rule->mix, .blocks = blocks, .whole = blocks / size };
    uint64_t common = s.whole / s.lanes * size, rest = blocks % size;
    uint64_t pool = (s.mix <= s.whole ? s.mix : s.whole + 1) * size; /* one of all stretches needs no more */

    s.longer = s.whole % s.lanes;
    s.lengths[STRETCHES_LONGER] = common + size;
    s.lengths[STRETCHES_WITH_REST] = common + rest;
    s.lengths[STRETCHES_OTHER] = common;
    s.even = s.longer == s.lanes - 1 ? common + rest : common;
    s.by_size = wide_divider(size);
    s.by_lanes = wide_divider(s.lanes);
    s.by_pool = wide_divider(pool);
    if (s.whole > 0)
        s.stretches = permute_make(s.whole, seed, source + OF_STRETCHES);
    if (pool <= blocks)
        s.pool = permute_make(pool, seed, source + OF_POOLS);
    for (unsigned i = 0; i < STRETCHES_LANES; i++)
        if (s.lengths[i] % pool > 0)
            s.last_pools[i] = permute_make(s.lengths[i] % pool, seed, source + OF_POOLS);
    return s;
}

/* ---- Pools ------------------------------------------------------------------------------------------------------- */

/* A pool that a draw lies in. */
struct pool {
    uint64_t lane, number;
    uint64_t first; /* place of its first stretch */
    const struct permute *permute;
};

/* Completes a pool, in which draw `at` of its lane lies. */
static inline void complete_pool(const struct stretches *s, struct pool *pool, uint64_t at)
{
    unsigned kind = pool->lane < s->longer    ? STRETCHES_LONGER
                    : pool->lane == s->longer ? STRETCHES_WITH_REST
                                              : STRETCHES_OTHER;
    const struct permute *last = &s->last_pools[kind];

    pool->first = pool->lane + s->lanes * pool->number * s->mix;
    pool->permute = at < s->lengths[kind] - last->n ? &s->pool : last;
}

/* Returns the epoch from which a pool's permutation has its keys: no two pools of a source have the same. */
static inline uint64_t epoch_of(const struct stretches *s, uint64_t epoch, const struct pool *pool)
{
    return epoch * (s->whole + 1) + pool->first;
}

/* Finds the pool of draw i; returns the draw's number in it. */
static inline uint64_t find_pool(const struct stretches *s, uint64_t i, struct pool *pool)
{
    uint64_t at, in_pool;

    if (s->lanes == 1) {
        pool->lane = 0;
        at = i;
    } else if (i < s->even * s->lanes) {
        at = wide_divide(s->by_lanes, i, &pool->lane);
    } else {
        uint64_t surplus = s->lengths[STRETCHES_LONGER] - s->even, left = i - s->even * s->lanes;

        pool->lane = left / surplus < s->longer ? left / surplus : s->longer;
        at = s->even + left - pool->lane * surplus;
    }
    pool->number = wide_divide(s->by_pool, at, &in_pool);
    complete_pool(s, pool, at);
    return in_pool;
}

/* ---- Forward ----------------------------------------------------------------------------------------------------- */

uint64_t stretches_forward(const struct stretches *s, uint64_t epoch, uint64_t i)
{
    struct pool pool;
    uint64_t at = find_pool(s, i, &pool), stretch;

    at = permute_forward(pool.permute, epoch_of(s, epoch, &pool), at);
    stretch = pool.first + s->lanes * wide_divide(s->by_size, at, &at);
    if (stretch < s->whole)
        stretch = permute_forward(&s->stretches, epoch, stretch);
    return stretch * s->by_size.divisor + at;
}

#define AT_ONCE 64u

/* Finds which stretch stands at a place. */
static uint64_t stretch_at(const struct stretches *s, uint64_t epoch, uint64_t place, struct stretches_memo *memo)
{
    struct stretches_kept *kept;

    if (place >= s->whole)
        return place;
    if (!memo)
        return permute_forward(&s->stretches, epoch, place);
    kept = &memo->kept[(place + epoch) % STRETCHES_MEMO];
    if (kept->stretches != s || kept->epoch != epoch || kept->place != place)
        *kept = (struct stretches_kept) { s, epoch, place, permute_forward(&s->stretches, epoch, place) };
    return kept->stretch;
}

void stretches_forward_many(struct stretches_draw *draws, size_t count, struct stretches_memo *memo)
{
    struct permute_draw in_pools[AT_ONCE];
    uint64_t firsts[AT_ONCE];

    for (size_t here; count > 0; count -= here, draws += here) {
        here = count < AT_ONCE ? count : AT_ONCE;
        for (size_t i = 0; i < here; i++) {
            const struct stretches *s = draws[i].stretches;
            struct pool pool;

            in_pools[i].at = find_pool(s, draws[i].at, &pool);
            in_pools[i].permute = pool.permute;
            in_pools[i].epoch = epoch_of(s, draws[i].epoch, &pool);
            firsts[i] = pool.first;
        }
        permute_forward_many(in_pools, here);
        for (size_t i = 0; i < here; i++) {
            const struct stretches *s = draws[i].stretches;
            uint64_t at, place = firsts[i] + s->lanes * wide_divide(s->by_size, in_pools[i].at, &at);

            draws[i].at = stretch_at(s, draws[i].epoch, place, memo) * s->by_size.divisor + at;
        }
    }
}

/* ---- Inverse ----------------------------------------------------------------------------------------------------- */

uint64_t stretches_inverse(const struct stretches *s, uint64_t epoch, uint64_t block)
{
    struct pool pool;
    uint64_t at, place = wide_divide(s->by_size, block, &at), of_lane;

    if (place < s->whole)
        place = permute_inverse(&s->stretches, epoch, place);
    of_lane = wide_divide(s->by_lanes, place, &pool.lane);
    pool.number = of_lane / s->mix;
    at += of_lane % s->mix * s->by_size.divisor;
    complete_pool(s, &pool, pool.number * s->by_pool.divisor + at);
    at = permute_inverse(pool.permute, epoch_of(s, epoch, &pool), at) + pool.number * s->by_pool.divisor;
    if (at < s->even)
        return at * s->lanes + pool.lane;
    return s->even * s->lanes + pool.lane * (s->lengths[STRETCHES_LONGER] - s->even) + at - s->even;
}

/* ---- Places ------------------------------------------------------------------------------------------------------ */

/* Returns how many places an epoch has. */
static uint64_t places_of(const struct stretches *s)
{
    return s->whole + (s->blocks > s->whole * s->by_size.divisor);
}

struct stretches_at stretches_at(const struct stretches *s, uint64_t place)
{
    struct stretches_at at = { .epoch = place / places_of(s) };
    uint64_t here = place % places_of(s), size = s->by_size.divisor;

    at.lane = here % s->lanes;
    at.first = stretch_at(s, at.epoch, here, NULL) * size;
    at.count = s->blocks - at.first < size ? s->blocks - at.first : size;
    return at;
}

uint64_t stretches_place(const struct stretches *s, uint64_t epoch, uint64_t block)
{
    uint64_t at, stretch = wide_divide(s->by_size, block, &at);

    return epoch * places_of(s) + (stretch < s->whole ? permute_inverse(&s->stretches, epoch, stretch) : stretch);
}

void stretches_near(const struct stretches *s, uint64_t epoch, uint64_t block, uint64_t *first, uint64_t *end)
{
    uint64_t shown = stretches_inverse(s, epoch, block) / s->lanes / s->by_size.divisor;

    *first = epoch * places_of(s) + shown / s->mix * s->mix * s->lanes;
    *end = epoch * places_of(s) + (shown + s->mix + 1) * s->lanes;
}
