/*
 * permute_lanes_kernel.c: the rounds of 16 draws for one CPU level; compiled once per level. A coordinate is below
 * 2^25, so the high half of its product with v is two products of 32 bits: (v >> 32) * limit, plus what the low half of
 * v carries into it.
 *
 * Why 16? A round takes some 20 cycles from its first to its last instruction, and vectors side by side fill them. On a
 * Zen 5, of fewer than 2^16 places: 23 ns a draw with plain instructions, four at a time; with AVX-512 17, 11 and 8 ns
 * with 8, 16 and 32 lanes, but a batch seldom fills 32; with AVX2 25, 18 and 18.
 */
#include "base/cpu.h"
#include "permute_lanes.h"

permute_rounds LEVEL_NAME(permute_rounds);

#if defined(__AVX2__)
#include <immintrin.h>

#if defined(__AVX512DQ__)
#define LANES 8 /* of a vector */
typedef __m512i vector;
#define LOAD(from)       _mm512_loadu_si512(from)
#define STORE(to, v)     _mm512_storeu_si512(to, v)
#define ALL(number)      _mm512_set1_epi64((long long)(number))
#define ADD(a, b)        _mm512_add_epi64(a, b)
#define SUBTRACT(a, b)   _mm512_sub_epi64(a, b)
#define XOR(a, b)        _mm512_xor_si512(a, b)
#define HIGH(v)          _mm512_srli_epi64(v, 32)
#define MULTIPLY32(a, b) _mm512_mul_epu32(a, b)

static inline vector multiply(vector v, uint64_t number)
{
    return _mm512_mullo_epi64(v, ALL(number));
}

static inline vector lesser(vector a, vector b)
{
    return _mm512_min_epu64(a, b);
}
#else
#define LANES            4
typedef __m256i vector;
#define LOAD(from)       _mm256_loadu_si256((const void *)(from))
#define STORE(to, v)     _mm256_storeu_si256((void *)(to), v)
#define ALL(number)      _mm256_set1_epi64x((long long)(number))
#define ADD(a, b)        _mm256_add_epi64(a, b)
#define SUBTRACT(a, b)   _mm256_sub_epi64(a, b)
#define XOR(a, b)        _mm256_xor_si256(a, b)
#define HIGH(v)          _mm256_srli_epi64(v, 32)
#define MULTIPLY32(a, b) _mm256_mul_epu32(a, b)

static inline vector multiply(vector v, uint64_t number)
{
    vector low = ALL(number & UINT32_MAX), high = ALL(number >> 32);
    vector crossed = ADD(MULTIPLY32(HIGH(v), low), MULTIPLY32(v, high));

    return ADD(MULTIPLY32(v, low), _mm256_slli_epi64(crossed, 32));
}

/* Returns the lesser of a sum of coordinates and that sum less the limit. If the latter is negative, its sign bit
 * selects the former. */
static inline vector lesser(vector sum, vector less)
{
    return _mm256_castpd_si256(
        _mm256_blendv_pd(_mm256_castsi256_pd(less), _mm256_castsi256_pd(sum), _mm256_castsi256_pd(less)));
}
#endif

#define VECTORS (PERMUTE_LANES / LANES)

static inline vector shift(vector coordinate, vector key, vector limit)
{
    vector v = multiply(XOR(coordinate, key), PERMUTE_FIRST);

    v = multiply(XOR(v, HIGH(v)), PERMUTE_SECOND);
    return HIGH(ADD(MULTIPLY32(HIGH(v), limit), HIGH(MULTIPLY32(v, limit))));
}

static inline vector plus(vector a, vector b, vector limit)
{
    vector sum = ADD(a, b);

    return lesser(sum, SUBTRACT(sum, limit));
}

void LEVEL_NAME(permute_rounds)(struct permute_lanes *lanes, unsigned rounds)
{
    vector row[VECTORS], column[VECTORS], rows[VECTORS], columns[VECTORS], key[VECTORS];

    for (unsigned i = 0; i < VECTORS; i++) {
        row[i] = LOAD(lanes->row + i * LANES);
        column[i] = LOAD(lanes->column + i * LANES);
        rows[i] = LOAD(lanes->rows + i * LANES);
        columns[i] = LOAD(lanes->columns + i * LANES);
        key[i] = LOAD(lanes->key + i * LANES);
    }
    for (unsigned r = 0; r < rounds; r += 2)
        for (unsigned i = 0; i < VECTORS; i++) {
            row[i] = plus(row[i], shift(column[i], key[i], rows[i]), rows[i]);
            key[i] = ADD(key[i], ALL(PERMUTE_GOLDEN));
            column[i] = plus(column[i], shift(row[i], key[i], columns[i]), columns[i]);
            key[i] = ADD(key[i], ALL(PERMUTE_GOLDEN));
        }
    for (unsigned i = 0; i < VECTORS; i++) {
        STORE(lanes->row + i * LANES, row[i]);
        STORE(lanes->column + i * LANES, column[i]);
    }
}
#else
/* four at a time, since more do not fit into the registers */
#define LANES 4

static inline void run_rounds(struct permute_lanes *lanes, unsigned first, unsigned rounds)
{
    uint64_t row[LANES], column[LANES], key[LANES];

    for (unsigned l = 0; l < LANES; l++) {
        row[l] = lanes->row[first + l];
        column[l] = lanes->column[first + l];
        key[l] = lanes->key[first + l];
    }
    for (unsigned r = 0; r < rounds; r += 2)
        for (unsigned l = 0; l < LANES; l++) {
            const uint64_t rows = lanes->rows[first + l], columns = lanes->columns[first + l];

            row[l] = permute_plus(row[l], permute_shift(column[l], key[l], rows), rows);
            column[l] = permute_plus(column[l], permute_shift(row[l], key[l] + PERMUTE_GOLDEN, columns), columns);
            key[l] += 2 * PERMUTE_GOLDEN;
        }
    for (unsigned l = 0; l < LANES; l++) {
        lanes->row[first + l] = row[l];
        lanes->column[first + l] = column[l];
    }
}

void LEVEL_NAME(permute_rounds)(struct permute_lanes *lanes, unsigned rounds)
{
    for (unsigned first = 0; first < PERMUTE_LANES; first += LANES)
        run_rounds(lanes, first, rounds);
}
#endif
