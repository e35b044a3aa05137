/*
 * stretches.c: stretches are dealt to the lanes in turn, and a lane shows pool after pool of its own. A draw leads to
 * its lane, to a place in one of the lane's pools, to the stretch that stands there, and to a block of it. The stretch
 * that the source's end cuts always has the last place.
 */
#include <string.h>

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

/* Finds which stretch stands at a place. */
static uint64_t stretch_at(const struct stretches *s, uint64_t epoch, uint64_t place)
{
    return place < s->whole ? permute_forward(&s->stretches, epoch, place) : place;
}

uint64_t stretches_forward(const struct stretches *s, uint64_t epoch, uint64_t i)
{
    struct pool pool;
    uint64_t at = find_pool(s, i, &pool), place;

    at = permute_forward(pool.permute, epoch_of(s, epoch, &pool), at);
    place = pool.first + s->lanes * wide_divide(s->by_size, at, &at);
    return stretch_at(s, epoch, place) * s->by_size.divisor + at;
}

#define AT_ONCE 64u
#define NONE    UINT8_MAX

/* The different places of some draws: draws side by side are of few stretches. */
struct places {
    struct permute_draw draws[AT_ONCE];
    uint8_t count, slots[AT_ONCE]; /* slots: by a place's remainder, the number of the last such place; NONE: none */
};

/* Returns the number of a place, which is added unless it is there. */
static uint8_t number_of(struct places *p, const struct stretches *s, uint64_t epoch, uint64_t place)
{
    uint8_t *slot = &p->slots[(place + epoch) % AT_ONCE];
    const struct permute_draw *d = &p->draws[*slot % AT_ONCE];

    if (*slot == NONE || d->permute != &s->stretches || d->epoch != epoch || d->at != place) {
        *slot = p->count++;
        p->draws[*slot] = (struct permute_draw) { &s->stretches, epoch, place };
    }
    return *slot;
}

void stretches_forward_many(struct stretches_draw *draws, size_t count)
{
    struct permute_draw in_pools[AT_ONCE];
    struct places places;
    uint64_t at[AT_ONCE];
    uint8_t numbers[AT_ONCE];

    for (size_t here; count > 0; count -= here, draws += here) {
        here = count < AT_ONCE ? count : AT_ONCE;
        for (size_t i = 0; i < here; i++) {
            const struct stretches *s = draws[i].stretches;
            struct pool pool;

            in_pools[i].at = find_pool(s, draws[i].at, &pool);
            in_pools[i].permute = pool.permute;
            in_pools[i].epoch = epoch_of(s, draws[i].epoch, &pool);
            draws[i].at = pool.first;
        }
        permute_forward_many(in_pools, here);
        places.count = 0;
        memset(places.slots, NONE, sizeof places.slots);
        for (size_t i = 0; i < here; i++) {
            const struct stretches *s = draws[i].stretches;

            draws[i].at += s->lanes * wide_divide(s->by_size, in_pools[i].at, &at[i]);
            numbers[i] = draws[i].at < s->whole ? number_of(&places, s, draws[i].epoch, draws[i].at) : NONE;
        }
        permute_forward_many(places.draws, places.count);
        for (size_t i = 0; i < here; i++) {
            uint64_t stretch = numbers[i] == NONE ? draws[i].at : places.draws[numbers[i]].at;

            draws[i].at = stretch * draws[i].stretches->by_size.divisor + at[i];
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
    at.first = stretch_at(s, at.epoch, here) * size;
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
