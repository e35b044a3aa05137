/* decimal.h: numbers of JSON that are compared and calculated with exactly: 1e3 equals 1000.0, and no digit is lost. */
#ifndef LEAT_CONDITION_DECIMAL_H
#define LEAT_CONDITION_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DECIMAL_DIGITS 1000

/* The number 0.d1d2d3... times ten to the power of the exponent, without zeros at either end. Zero has no digits. */
struct decimal {
    bool negative;
    int64_t exponent;
    size_t count;
    char digits[DECIMAL_DIGITS];
};

/* Reads a decimal number. Returns false if the text is no JSON number, is longer than DECIMAL_DIGITS, or its
 * exponent has more than 15 digits. */
bool decimal_read(struct decimal *d, const char *text, size_t bytes);

/* Returns the nearest double, which may be an infinity. */
double decimal_double(const struct decimal *d);

/* Returns less than 0, 0 or more than 0 if a is less than, equal to or greater than b. */
int decimal_compare(const struct decimal *a, const struct decimal *b);

/* Adds b to *a, subtracts it from *a or multiplies *a by it, as the sign + - or * says. Returns false if that takes
 * more than DECIMAL_DIGITS digits. Exponents stay small enough for a thousand products of numbers that were read. */
bool decimal_calculate(struct decimal *a, char sign, const struct decimal *b);

#endif
