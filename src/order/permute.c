/*
 * permute.c: a Feistel network over rows x columns, both near the square root of n, walked along its
 * cycle until it is below n again. Choosing rows * columns just above n makes walking rare (less than one step in
 * sqrt(n)); rounding up to a power of two would cost up to four times the rounds.
 *
 * The round function folds its high bits down between two products: without that the low bits of the result stay linear
 * in the index, and the order looks unshuffled. Measured on a Zen 5: 8 rounds take 21 ns one by one and 7 ns many side
 * by side (permute_lanes_kernel.c); 16 rounds 57 and 11.
 *
 * Eight rounds pass statistical tests (docs/ORDER.md names them) from 2^16 places on. With fewer places every network
 * of few rounds fails, but 16 rounds pass down to n = 2.
 */
#include "permute.h"

#include "base/cpu.h"
#include "permute_lanes.h"

#define LARGE        ((uint64_t)1 << 16)
#define ROUNDS_LARGE 8u
#define ROUNDS_SMALL 16u

/* Returns the finalizer of splitmix64: a bijection of 64 bits. */
static inline uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t root_up(uint64_t n)
{
    uint64_t root = 0;

    /* the largest root with root^2 < n, bit by bit; then one more */
    for (uint64_t bit = (uint64_t)1 << 24; bit > 0; bit >>= 1)
        if ((root + bit) * (root + bit) < n)
            root += bit;
    return root + 1;
}

struct permute permute_make(uint64_t n, uint64_t seed, uint64_t source)
{
    struct permute p = { .n = n };

    p.rows = root_up(n);
    p.rows += p.rows % 2; /* odd numbers of rows and columns would give only even permutations */
    p.columns = wide_divider(n / p.rows + (n % p.rows != 0));
    p.state = mix((mix(seed + PERMUTE_GOLDEN) ^ source) + PERMUTE_GOLDEN);
    return p;
}

static inline uint64_t first_key(const struct permute *p, uint64_t epoch)
{
    return mix((p->state ^ epoch) + PERMUTE_GOLDEN);
}

uint64_t permute_number(const struct permute *p, uint64_t epoch, uint64_t place)
{
    return mix(first_key(p, epoch) + place * PERMUTE_GOLDEN);
}

void permute_numbers(const struct permute *p, uint64_t epoch, uint64_t *numbers, size_t count)
{
    uint64_t first = first_key(p, epoch);

    for (size_t i = 0; i < count; i++)
        numbers[i] = mix(first + i * PERMUTE_GOLDEN);
}

/* The network in both directions, with a constant number of rounds, so that the compiler unrolls them. */
static inline uint64_t forward(const struct permute *p, uint64_t first, uint64_t i, unsigned rounds)
{
    const uint64_t rows = p->rows, columns = p->columns.divisor;
    uint64_t row, column, key;

    do {
        row = wide_divide(p->columns, i, &column);
        key = first;
        for (unsigned r = 0; r < rounds; r += 2) {
            row = permute_plus(row, permute_shift(column, key, rows), rows);
            column = permute_plus(column, permute_shift(row, key + PERMUTE_GOLDEN, columns), columns);
            key += 2 * PERMUTE_GOLDEN;
        }
        i = row * columns + column;
    } while (i >= p->n);
    return i;
}

static inline uint64_t inverse(const struct permute *p, uint64_t first, uint64_t x, unsigned rounds)
{
    const uint64_t rows = p->rows, columns = p->columns.divisor;
    uint64_t row, column, key;

    do {
        row = wide_divide(p->columns, x, &column);
        key = first + rounds * PERMUTE_GOLDEN;
        for (unsigned r = 0; r < rounds; r += 2) {
            key -= 2 * PERMUTE_GOLDEN;
            column = permute_minus(column, permute_shift(row, key + PERMUTE_GOLDEN, columns), columns);
            row = permute_minus(row, permute_shift(column, key, rows), rows);
        }
        x = row * columns + column;
    } while (x >= p->n);
    return x;
}

uint64_t permute_forward(const struct permute *p, uint64_t epoch, uint64_t i)
{
    uint64_t first = first_key(p, epoch);

    return p->n >= LARGE ? forward(p, first, i, ROUNDS_LARGE) : forward(p, first, i, ROUNDS_SMALL);
}

/* Permutes `count` draws side by side, in the lanes of a kernel; unused lanes repeat the last draw. The rare draw
 * that comes out at n or above walks on alone. */
static void forward_lanes(permute_rounds *run, struct permute_draw *const *draws, unsigned count, unsigned rounds)
{
    struct permute_lanes lanes;

    for (unsigned l = 0; l < PERMUTE_LANES; l++) {
        const struct permute_draw *draw = draws[l < count ? l : count - 1];
        const struct permute *p = draw->permute;

        lanes.row[l] = wide_divide(p->columns, draw->at, &lanes.column[l]);
        lanes.rows[l] = p->rows;
        lanes.columns[l] = p->columns.divisor;
        lanes.key[l] = first_key(p, draw->epoch);
    }
    run(&lanes, rounds);
    for (unsigned l = 0; l < count; l++) {
        const struct permute *p = draws[l]->permute;
        uint64_t at = lanes.row[l] * p->columns.divisor + lanes.column[l];

        draws[l]->at = at < p->n ? at : forward(p, first_key(p, draws[l]->epoch), at, rounds);
    }
}

static void forward_all(permute_rounds *run, struct permute_draw *const *draws, unsigned count, unsigned rounds)
{
    for (unsigned i = 0; i < count; i += PERMUTE_LANES)
        forward_lanes(run, draws + i, count - i < PERMUTE_LANES ? count - i : PERMUTE_LANES, rounds);
}

extern permute_rounds permute_rounds_plain;
#if defined(__x86_64__)
extern permute_rounds permute_rounds_avx2, permute_rounds_avx512;
#endif

static permute_rounds *lanes_rounds(void)
{
#if defined(__x86_64__)
    enum cpu_level level = cpu_level();

    if (level >= CPU_AVX512)
        return permute_rounds_avx512;
    if (level >= CPU_AVX2)
        return permute_rounds_avx2;
#endif
    return permute_rounds_plain;
}

#define AT_ONCE 64u

/* Draws with the same number of rounds go side by side. */
void permute_forward_many(struct permute_draw *draws, size_t count)
{
    permute_rounds *run = lanes_rounds();
    struct permute_draw *large[AT_ONCE], *small[AT_ONCE];

    for (size_t here; count > 0; count -= here, draws += here) {
        unsigned larges = 0, smalls = 0;

        here = count < AT_ONCE ? count : AT_ONCE;
        for (size_t i = 0; i < here; i++) {
            large[larges] = small[smalls] = &draws[i];
            larges += draws[i].permute->n >= LARGE;
            smalls += draws[i].permute->n < LARGE;
        }
        forward_all(run, large, larges, ROUNDS_LARGE);
        forward_all(run, small, smalls, ROUNDS_SMALL);
    }
}

uint64_t permute_inverse(const struct permute *p, uint64_t epoch, uint64_t x)
{
    uint64_t first = first_key(p, epoch);

    return p->n >= LARGE ? inverse(p, first, x, ROUNDS_LARGE) : inverse(p, first, x, ROUNDS_SMALL);
}
