/* json_decimal.h: JSON numbers, compared exactly: 1e3 equals 1000.0, and no digit is lost. */
#ifndef LEAT_TOKENIZE_TOOLS_JSON_DECIMAL_H
#define LEAT_TOKENIZE_TOOLS_JSON_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_DECIMAL_DIGITS 1000

/* 0.d1d2d3... times ten to the exponent, without zeros at either end; no digits: zero. */
struct json_decimal {
    bool negative;
    int64_t exponent;
    size_t count;
    char digits[JSON_DECIMAL_DIGITS];
};

/* False if the text is no JSON number, is longer than JSON_DECIMAL_DIGITS, or its exponent has more than 15 digits. */
bool json_decimal_read(struct json_decimal *d, const char *text, size_t bytes);

/* Less than 0, 0 or more than 0, as a is less than, equal to or greater than b. */
int json_decimal_compare(const struct json_decimal *a, const struct json_decimal *b);

#endif
