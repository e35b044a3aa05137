/*
 * test_permute_quality.c: the permutation looks random where training would notice: each output bit flips with each
 * input bit half of the time; no pair of output bits goes along with a bit of the index; batches of consecutive draws
 * spread evenly over the whole source and over its places modulo 64; consecutive draws, and the same draw of two
 * epochs, are unrelated; and with 2 to 6 places every permutation is as frequent as another. The bounds are several
 * standard deviations of what chance gives; the seeds are fixed.
 */
#include <math.h>

#include "order/permute.h"
#include "t.h"

static uint64_t random_state;

/* ---- Avalanche ---- */

static void test_avalanche(unsigned bits, int one_key)
{
    static unsigned flips[48][48];
    const unsigned rounds = 6000;
    uint64_t n = (uint64_t)1 << bits;
    double expected = 0.5 * (double)n / (double)(n - 1), worst;
    unsigned min = rounds, max = 0;

    memset(flips, 0, sizeof flips);
    for (unsigned i = 0; i < rounds; i++) {
        struct permute p = permute_make(n, one_key ? 1 : i, 0);
        uint64_t epoch = one_key ? 0 : i % 3, x = t_below(&random_state, n), y = permute_forward(&p, epoch, x);

        for (unsigned in = 0; in < bits; in++) {
            uint64_t z = y ^ permute_forward(&p, epoch, x ^ (uint64_t)1 << in);

            for (unsigned out = 0; out < bits; out++)
                flips[in][out] += z >> out & 1;
        }
    }
    for (unsigned in = 0; in < bits; in++)
        for (unsigned out = 0; out < bits; out++) {
            min = flips[in][out] < min ? flips[in][out] : min;
            max = flips[in][out] > max ? flips[in][out] : max;
        }
    worst = fmax(fabs(min / (double)rounds - expected), fabs(max / (double)rounds - expected));
    fprintf(stderr, "avalanche, 2^%u%s: off by %.4f at most\n", bits, one_key ? ", one key" : "", worst);
    T_CHECK(worst < 0.04); /* 6 standard deviations; weak orders have 0.5 */
}

/* ---- Linear bias ---- */

#define DRAWS_BITS 16u
#define DRAWS      (1u << DRAWS_BITS)

/* Parity of output bits a and b (a == b: of one) together with each bit of the index. */
static double bias(const uint64_t *draws, unsigned a, unsigned b)
{
    unsigned differ[DRAWS_BITS] = { 0 }, max = 0;

    for (unsigned i = 0; i < DRAWS; i++) {
        unsigned parity = (unsigned)(draws[i] >> a ^ (a == b ? 0 : draws[i] >> b)) & 1;

        for (unsigned in = 0; in < DRAWS_BITS; in++)
            differ[in] += (i >> in & 1) ^ parity;
    }
    for (unsigned in = 0; in < DRAWS_BITS; in++) {
        unsigned off = differ[in] > DRAWS / 2 ? differ[in] - DRAWS / 2 : DRAWS / 2 - differ[in];

        max = off > max ? off : max;
    }
    return 2.0 * max / DRAWS;
}

static void test_bias(uint64_t n)
{
    static uint64_t draws[DRAWS];
    struct permute p = permute_make(n, 11, 2);
    unsigned bits = 0;
    double worst = 0;

    while (n >> (bits + 1))
        bits++;
    for (unsigned i = 0; i < DRAWS; i++)
        draws[i] = permute_forward(&p, 5, i);
    for (unsigned a = 0; a < bits; a += 1 + bits / 20)
        for (unsigned b = a; b < bits; b += 1 + bits / 20)
            worst = fmax(worst, bias(draws, a, b));
    fprintf(stderr, "bias, n %" PRIu64 ": %.4f at most\n", n, worst);
    T_CHECK(worst < 0.025); /* 6.4 standard deviations; weak orders have 0.1 to 1 */
}

/* ---- Batches ---- */

#define CELLS 64
#define BATCH 1024

static double chi2(const unsigned *counts, unsigned cells, double expected)
{
    double sum = 0;

    for (unsigned i = 0; i < cells; i++)
        sum += (counts[i] - expected) * (counts[i] - expected) / expected;
    return sum;
}

/* Evenness of batches over the range, and over the places modulo 64. */
static void test_batches(uint64_t n)
{
    double spread = 0, max = 0, low = 0, low_max = 0;
    const unsigned batches = 200;

    for (unsigned i = 0; i < batches; i++) {
        struct permute p = permute_make(n, 3, i % 7);
        unsigned places[CELLS] = { 0 }, residues[CELLS] = { 0 };
        uint64_t first = (uint64_t)i * BATCH % (n - BATCH);
        double a, b;

        for (unsigned k = 0; k < BATCH; k++) {
            uint64_t y = permute_forward(&p, i / 7, first + k);

            places[(wide_u128)y * CELLS / n]++;
            residues[y % CELLS]++;
        }
        a = chi2(places, CELLS, BATCH / CELLS);
        b = chi2(residues, CELLS, BATCH / CELLS);
        spread += a / batches;
        low += b / batches;
        max = fmax(max, a);
        low_max = fmax(low_max, b);
    }
    fprintf(stderr, "batches, n %" PRIu64 ": chi2 %.1f, at most %.1f; modulo 64 %.1f, at most %.1f\n", n, spread, max,
            low, low_max);
    /* 63 degrees of freedom: 63, standard deviation 11.2, of the mean 0.8 */
    T_CHECK(spread > 59 && spread < 67 && low > 59 && low < 67);
    T_CHECK(max < 125 && low_max < 125);
}

/* ---- Neighbours and epochs ---- */

/* Pairs over a grid of 16 x 16 cells. */
static double grid_chi2(const struct permute *p, uint64_t epoch_b, uint64_t step)
{
    static unsigned counts[256];
    const unsigned pairs = 25600;

    memset(counts, 0, sizeof counts);
    for (uint64_t i = 0; i < pairs; i++) {
        uint64_t a = permute_forward(p, 0, i), b = permute_forward(p, epoch_b, i + step);

        counts[(unsigned)((wide_u128)a * 16 / p->n) * 16 + (unsigned)((wide_u128)b * 16 / p->n)]++;
    }
    return chi2(counts, 256, pairs / 256.0);
}

static void test_pairs(uint64_t n)
{
    struct permute p = permute_make(n, 17, 1), other = permute_make(n, 17, 2);
    double moved = 0, next = grid_chi2(&p, 0, 1), epoch = grid_chi2(&p, 1, 0);

    for (uint64_t i = 0; i < 40000; i++) {
        uint64_t x = (uint64_t)((wide_u128)i * n / 40000), y = permute_forward(&other, 9, x);

        moved += (double)(x > y ? x - y : y - x) / (double)n / 40000;
    }
    fprintf(stderr, "pairs, n %" PRIu64 ": chi2 of neighbours %.0f, of epochs %.0f; moved %.4f\n", n, next, epoch,
            moved);
    T_CHECK(next < 370 && epoch < 370); /* 255 degrees of freedom, standard deviation 22.6 */
    T_CHECK(fabs(moved - 1.0 / 3) < 0.006);
}

/* ---- Few places ---- */

static void test_few(unsigned n)
{
    const unsigned each = 150;
    unsigned all = 1, *counts;
    double value;

    for (unsigned i = 2; i <= n; i++)
        all *= i;
    counts = calloc(all, sizeof *counts);
    for (unsigned i = 0; i < all * each; i++) {
        struct permute p = permute_make(n, i / 6, i % 2);
        unsigned y[6], rank = 0;

        for (unsigned k = 0; k < n; k++)
            y[k] = (unsigned)permute_forward(&p, i % 3, k);
        for (unsigned k = 0; k < n; k++) {
            unsigned smaller = 0;

            for (unsigned m = k + 1; m < n; m++)
                smaller += y[m] < y[k];
            rank = rank * (n - k) + smaller;
        }
        counts[rank]++;
    }
    value = chi2(counts, all, each);
    fprintf(stderr, "%u places: chi2 %.1f over %u permutations\n", n, value, all);
    T_CHECK(value < (all - 1) + 5 * sqrt(2.0 * (all - 1)));
    free(counts);
}

/* Half of the permutations are odd: of 9 places in 3 rows and 3 columns none would be. */
static void test_parity(void)
{
    unsigned odd = 0;

    for (unsigned i = 0; i < 10000; i++) {
        struct permute p = permute_make(9, i, 0);
        unsigned inversions = 0;

        for (unsigned k = 0; k < 9; k++)
            for (unsigned m = k + 1; m < 9; m++)
                inversions += permute_forward(&p, 0, m) < permute_forward(&p, 0, k);
        odd += inversions % 2;
    }
    fprintf(stderr, "9 places: %u of 10000 permutations are odd\n", odd);
    T_CHECK(odd > 4700 && odd < 5300); /* 6 standard deviations */
}

int main(void)
{
    static const uint64_t sizes[] = { 65536, 1000000, 5000000000, ((uint64_t)1 << 40) - 87, (uint64_t)1 << 48 };

    random_state = 1;
    for (unsigned bits = 8; bits <= 48; bits += 8) {
        test_avalanche(bits, 0);
        if (bits > 8) /* fewer places are no sample to speak of */
            test_avalanche(bits, 1);
    }
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        test_bias(sizes[i]);
        test_pairs(sizes[i]);
        if (sizes[i] > 500000)
            test_batches(sizes[i]);
    }
    for (unsigned n = 2; n <= 6; n++)
        test_few(n);
    test_parity();
    return t_end();
}
