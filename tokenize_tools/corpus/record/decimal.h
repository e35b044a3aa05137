/* decimal.h: JSON numbers, compared exactly: 1e3 equals 1000.0, and no digit is lost. */
#ifndef LEAT_TOKENIZE_TOOLS_DECIMAL_H
#define LEAT_TOKENIZE_TOOLS_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DECIMAL_DIGITS 1000

/* 0.d1d2d3... times ten to the exponent, without zeros at either end; no digits: zero. */
struct decimal {
    bool negative;
    int64_t exponent;
    size_t count;
    char digits[DECIMAL_DIGITS];
};

/* False if the text is no JSON number, is longer than DECIMAL_DIGITS, or its exponent has more than 15 digits. */
bool decimal_read(struct decimal *d, const char *text, size_t bytes);

/* Less than 0, 0 or more than 0, as a is less than, equal to or greater than b. */
int decimal_compare(const struct decimal *a, const struct decimal *b);

#endif
