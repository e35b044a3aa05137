/*
 * test_permute.c: the keyed permutation is one: every place of [0, n) once, inverse exact, for all small n, for n
 * beside every change of its shape, and for random ones up to 2^48; another epoch, source or seed is another order.
 */
#include "order/permute.h"
#include "support/cpu_limit.h"
#include "t.h"

/* All of [0, n), both ways. */
static void check_whole(uint64_t n, uint64_t seed, uint64_t source, uint64_t epoch)
{
    struct permute p = permute_make(n, seed, source);
    uint8_t *seen = calloc((size_t)n, 1);

    for (uint64_t i = 0; i < n; i++) {
        uint64_t x = permute_forward(&p, epoch, i);

        if (x >= n || seen[x] || permute_inverse(&p, epoch, x) != i) {
            T_FAIL("n %" PRIu64 ", seed %" PRIu64 ", source %" PRIu64 ", epoch %" PRIu64 ": draw %" PRIu64
                   " lies at %" PRIu64 ", seen before or not found back",
                   n, seed, source, epoch, i, x);
            break;
        }
        seen[x] = 1;
    }
    free(seen);
}

/* Some of [0, n), both ways, and both ends. */
static void check_some(uint64_t n, uint64_t *random)
{
    struct permute p = permute_make(n, t_random(random), t_below(random, 1000));
    uint64_t epoch = t_below(random, 1000000);

    T_CHECK(p.rows * p.columns.divisor >= n && p.rows * p.columns.divisor < n + 2 * p.rows);
    for (unsigned i = 0; i < 200; i++) {
        uint64_t x = i == 0 ? 0 : i == 1 ? n - 1 : t_below(random, n);
        uint64_t y = permute_forward(&p, epoch, x), z = permute_inverse(&p, epoch, x);

        T_CHECK(y < n && z < n);
        T_EQ(permute_inverse(&p, epoch, y), x);
        T_EQ(permute_forward(&p, epoch, z), x);
    }
}

static void test_sizes(void)
{
    uint64_t random = t_seed();

    for (uint64_t n = 1; n <= 600; n++)
        check_whole(n, t_random(&random), n % 7, n % 5);
    for (uint64_t root = 250; root <= 260; root++)
        for (uint64_t n = root * root - 1; n <= root * root + 1; n++)
            check_whole(n, t_random(&random), 0, 1);
    check_whole(1000000, 1, 2, 3);
    for (unsigned bits = 1; bits <= 48; bits++)
        for (uint64_t n = ((uint64_t)1 << bits) - 1; n <= (uint64_t)1 << bits; n++)
            check_some(n, &random);
    check_some(((uint64_t)1 << 40) + 1, &random);
    for (unsigned i = 0; i < t_times(3000); i++)
        check_some(1 + (t_random(&random) >> 16 >> t_below(&random, 48)), &random);
}

/* How many of the first draws are the same in two orders. */
static unsigned equal_draws(struct permute a, uint64_t epoch_a, struct permute b, uint64_t epoch_b)
{
    unsigned equal = 0;

    for (uint64_t i = 0; i < 10000; i++)
        equal += permute_forward(&a, epoch_a, i) == permute_forward(&b, epoch_b, i);
    return equal;
}

static void test_keys(void)
{
    const uint64_t n = 100000;
    struct permute p = permute_make(n, 5, 3);

    T_EQ(equal_draws(p, 7, permute_make(n, 5, 3), 7), 10000);
    for (unsigned bit = 0; bit < 64; bit++) {
        uint64_t flip = (uint64_t)1 << bit;

        T_CHECK(equal_draws(p, 7, permute_make(n, 5 ^ flip, 3), 7) < 5);
        T_CHECK(equal_draws(p, 7, permute_make(n, 5, 3 ^ flip), 7) < 5);
        T_CHECK(equal_draws(p, 7, p, 7 ^ flip) < 5);
    }
}

/* Many side by side, of sizes on both sides of the border between the numbers of rounds, are those one by one. */
static void test_many(void)
{
    struct permute permutes[7];
    struct permute_draw draws[200];
    uint64_t random = t_seed(), wanted[200];

    for (unsigned i = 0; i < 7; i++)
        permutes[i] = permute_make(i < 4 ? 65536 + i * i * 1000003 : 3 + 9000 * (uint64_t)i, i, i);
    for (unsigned round = 0; round < 500; round++) {
        size_t count = t_below(&random, 200), kinds = 1 + t_below(&random, 7);

        for (size_t i = 0; i < count; i++) {
            const struct permute *p = &permutes[t_below(&random, kinds)];

            draws[i] = (struct permute_draw) { p, t_below(&random, 3), t_below(&random, p->n) };
            wanted[i] = permute_forward(p, draws[i].epoch, draws[i].at);
        }
        permute_forward_many(draws, count);
        for (size_t i = 0; i < count; i++)
            T_EQ(draws[i].at, wanted[i]);
    }
}

int main(void)
{
    for (enum cpu_level level = CPU_PLAIN; level <= CPU_AVX512_VBMI; level++) {
        cpu_limit(level);
        test_many();
    }
    test_sizes();
    test_keys();
    return t_end();
}
