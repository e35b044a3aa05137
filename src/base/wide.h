/*
 * wide.h: products of 128 bits, and division by a number that is used often: exact, equal on every machine, and without
 * a division instruction per sample.
 */
#ifndef LEAT_BASE_WIDE_H
#define LEAT_BASE_WIDE_H

#ifndef __SIZEOF_INT128__
#error "leat is for 64-bit machines: this compiler has no 128-bit integers"
#endif

#include <stdint.h>

__extension__ typedef unsigned __int128 wide_u128;

/* Returns the high half of the product. */
static inline uint64_t wide_high(uint64_t a, uint64_t b)
{
    return (uint64_t)((wide_u128)a * b >> 64);
}

/* Returns a * b / c, rounded down, or UINT64_MAX if that does not fit. c must not be 0. */
static inline uint64_t wide_muldiv(uint64_t a, uint64_t b, uint64_t c)
{
    wide_u128 q = (wide_u128)a * b / c;

    return q > UINT64_MAX ? UINT64_MAX : (uint64_t)q;
}

/* Returns the greatest common divisor; if one number is 0, the other one. */
static inline wide_u128 wide_common_divisor(wide_u128 a, wide_u128 b)
{
    while (b != 0) {
        wide_u128 rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* A divisor with its reciprocal. */
struct wide_divider {
    uint64_t divisor;
    uint64_t reciprocal; /* floor((2^64 - 1) / divisor) */
};

/* `divisor` > 0. */
static inline struct wide_divider wide_divider(uint64_t divisor)
{
    return (struct wide_divider) { divisor, UINT64_MAX / divisor };
}

/* Returns x / divisor, and sets the rest. 2^64 - divisor * reciprocal is at most divisor, so the estimate is below x
 * / divisor by at most x / 2^64 < 1: rounded down it is the quotient, or one less. */
static inline uint64_t wide_divide(struct wide_divider d, uint64_t x, uint64_t *rest)
{
    uint64_t q = wide_high(x, d.reciprocal);
    uint64_t r = x - q * d.divisor;
    uint64_t more = r >= d.divisor;

    *rest = r - (more ? d.divisor : 0);
    return q + more;
}

#endif
