/*
 * decimal.h: reads the decimals of a plan exactly: weights become integers without a common factor, fractions of splits
 * cut a number of tokens. No floating point, whose results differ between machines and compilers.
 */
#ifndef LEAT_DECIMAL_H
#define LEAT_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DECIMAL_DIGITS   18 /* most significant digits, from the first that is not 0 to the last */
#define DECIMAL_EXPONENT 30 /* either way */
#define DECIMAL_TEXT     64 /* room for a printed decimal */

/* A decimal: digits * 10^exponent. The digits do not end in 0; zero is 0 * 10^0. */
struct decimal {
    uint64_t digits;
    int exponent;
};

/* Reads all of text[0..length): "3", "0.25", ".5", "1e-9". On failure *why ends a sentence that begins with the
 * text. */
bool decimal_parse(const char *text, size_t length, struct decimal *d, const char **why);

/* Returns where the decimal begins in text[0..length), if that is NAME:DECIMAL; else 0. */
size_t decimal_after_name(const char *text, size_t length);

/* Prints a decimal so that reading it gives the number again; returns `out`. */
const char *decimal_print(struct decimal d, char out[DECIMAL_TEXT]);

/* Makes integers in the ratios of the decimals, without a common factor. Returns false if their sum is above `max` (at
 * most 2^48); *sum is then the sum, or 0 if that needs more than 64 bits. If all are zero, all become 0. */
bool decimal_to_integers(const struct decimal *in, size_t count, uint64_t max, uint64_t *out, uint64_t *sum);

/* Sets the decimal in units of 10^-18. Returns false unless it is at most 1, with at most 18 places. */
#define DECIMAL_UNIT ((uint64_t)1000000000000000000)
bool decimal_to_units(struct decimal d, uint64_t *units);

/* Returns floor(whole * units / 10^18). */
uint64_t decimal_share(uint64_t whole, uint64_t units);

#endif
