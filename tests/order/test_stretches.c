/*
 * test_stretches.c: the order of blocks in stretches is a permutation with its inverse, for all small shapes and random
 * large ones; a pool has the blocks of its stretches and no others; lanes take turns; many draws at once are the draws
 * one by one; and two pools do not have the same order.
 */
#include "order/stretches.h"
#include "t.h"

struct shape {
    uint64_t blocks, size, mix, lanes;
};

static struct stretches make(const struct shape *x, uint64_t seed)
{
    struct stretches_rule rule = { .mix = x->mix, .lanes = x->lanes };

    return stretches_make(x->blocks, x->size, &rule, seed, 3);
}

/* Goes through all draws of an epoch, both ways and at once. */
static void check_whole(const struct shape *x, uint64_t seed, uint64_t epoch)
{
    struct stretches s = make(x, seed);
    struct stretches_draw *draws = calloc((size_t)x->blocks, sizeof *draws);
    uint8_t *seen = calloc((size_t)x->blocks, 1);

    for (uint64_t i = 0; i < x->blocks; i++)
        draws[i] = (struct stretches_draw) { &s, epoch, i };
    stretches_forward_many(draws, (size_t)x->blocks);
    for (uint64_t i = 0; i < x->blocks; i++) {
        uint64_t block = stretches_forward(&s, epoch, i);

        if (block >= x->blocks || seen[block] || draws[i].at != block || stretches_inverse(&s, epoch, block) != i) {
            T_FAIL("%" PRIu64 " blocks, stretches of %" PRIu64 ", mix %" PRIu64 ", lanes %" PRIu64 ": draw %" PRIu64
                   " is block %" PRIu64 ", at once %" PRIu64 ", and back %" PRIu64,
                   x->blocks, x->size, x->mix, x->lanes, i, block, draws[i].at,
                   stretches_inverse(&s, epoch, block % x->blocks));
            break;
        }
        seen[block] = 1;
    }
    free(draws);
    free(seen);
}

/* The places of two epochs have each block once, and while one is shown its stretch is at hand. */
static void check_places(const struct shape *x, uint64_t seed)
{
    struct stretches s = make(x, seed);
    uint64_t places = (x->blocks + x->size - 1) / x->size, shown[2] = { 0 }, first, end, before = 0;
    struct stretches_at at;

    for (uint64_t place = 0; place < 2 * places; place++) {
        at = stretches_at(&s, place);
        T_EQ(at.epoch, place / places);
        T_EQ(at.lane, place % places % x->lanes);
        for (uint64_t block = at.first; block < at.first + at.count; block++)
            T_EQ(stretches_place(&s, at.epoch, block), place);
        shown[at.epoch] += at.count;
    }
    T_EQ(shown[0], x->blocks);
    T_EQ(shown[1], x->blocks);
    for (uint64_t i = 0; i < 2 * x->blocks; i++) {
        uint64_t epoch = i / x->blocks, block = stretches_forward(&s, epoch, i % x->blocks);
        uint64_t place = stretches_place(&s, epoch, block);

        stretches_near(&s, epoch, block, &first, &end);
        T_CHECK(first <= place && place < end && end >= before && end - first <= 2 * x->mix * x->lanes);
        before = end;
    }
}

static void test_shapes(void)
{
    uint64_t random = t_seed();
    struct shape x;

    for (x.blocks = 1; x.blocks <= 40; x.blocks++)
        for (x.size = 1; x.size <= x.blocks; x.size++)
            for (x.mix = 1; x.mix <= 7; x.mix++)
                for (x.lanes = 1; x.lanes <= 5; x.lanes++) {
                    check_whole(&x, random, x.blocks % 3);
                    check_places(&x, random);
                }
    for (unsigned i = 0; i < t_times(300); i++) {
        x.blocks = 1 + t_below(&random, 3000);
        x.size = 1 + t_below(&random, x.blocks < 100 ? x.blocks : 100);
        x.mix = 1 + t_below(&random, 60);
        x.lanes = 1 + t_below(&random, 9);
        check_whole(&x, t_random(&random), t_below(&random, 1000));
    }
}

static void test_large(void)
{
    uint64_t random = t_seed();

    for (unsigned i = 0; i < t_times(3000); i++) {
        struct shape x = { .blocks = 1 + (t_random(&random) >> (16 + t_below(&random, 30))) };
        struct stretches s;
        uint64_t epoch = t_below(&random, 1000000);

        x.size = 1 + t_below(&random, x.blocks < 10000 ? x.blocks : 10000);
        x.mix = 1 + (t_random(&random) >> (16 + t_below(&random, 48)));
        x.lanes = 1 + (t_random(&random) >> (40 + t_below(&random, 24)));
        s = make(&x, t_random(&random));
        for (unsigned k = 0; k < 20; k++) {
            uint64_t at = k == 0 ? 0 : k == 1 ? x.blocks - 1 : t_below(&random, x.blocks);
            uint64_t block = stretches_forward(&s, epoch, at);

            T_CHECK(block < x.blocks);
            T_EQ(stretches_inverse(&s, epoch, block), at);
            T_EQ(stretches_forward(&s, epoch, stretches_inverse(&s, epoch, at)), at);
        }
    }
}

/* A pool's draws have the blocks of `mix` stretches, which no other pool has. */
static void test_pools(void)
{
    struct shape x = {
        .blocks = 4 * 6 * 10 + 3, .size = 10, .mix = 3, .lanes = 4
    }; /* 6 stretches a lane, and a rest */
    struct stretches s = make(&x, 11);
    uint64_t owner[25], order[2][30];

    for (unsigned i = 0; i < 25; i++)
        owner[i] = UINT64_MAX;
    for (uint64_t i = 0; i < 240; i++) { /* the lanes take turns */
        uint64_t stretch = stretches_forward(&s, 5, i) / 10, pool = i % 4 * 2 + i / 4 / 30;

        T_CHECK(stretch < 24 && (owner[stretch] == UINT64_MAX || owner[stretch] == pool));
        owner[stretch] = pool;
    }
    for (uint64_t i = 240; i < 243; i++) /* the stretch that the end cuts comes last */
        T_EQ(stretches_forward(&s, 5, i) / 10, 24);
    for (unsigned pool = 0; pool < 2; pool++)
        for (uint64_t i = 0; i < 30; i++)
            order[pool][i] = stretches_forward(&s, 5, (pool * 30 + i) * 4) % 10;
    T_CHECK(memcmp(order[0], order[1], sizeof order[0]) != 0);
}

int main(void)
{
    test_shapes();
    test_large();
    test_pools();
    return t_end();
}
