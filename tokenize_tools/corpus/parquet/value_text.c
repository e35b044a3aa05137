/* value_text.c: finds the shortest decimal: tries numbers of digits until the decimal reads back as the number. */
#include "value_text.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/wide.h"

/* ---- Floating-point numbers -------------------------------------------------------------------------------------- */

/* A number whose decimal is looked for, from few digits to many, which the C library rounds correctly; numbers of
 * usual sizes are tried in integers. */

struct number {
    bool is_float;
    double value;
};

static bool reads_back(const struct number *n, const char *made)
{
    return n->is_float ? strtof(made, NULL) == (float)n->value : strtod(made, NULL) == n->value;
}

/* Makes the last digit one greater. Above a power of two the numbers lie further apart than below it: the next
 * decimal may read back as the number although the nearest one, which is less, does not. */
static void step_up(char *made)
{
    char *at = strchr(made, 'e') - 1;

    for (; at > made && (*at < '0' || *at >= '9'); at--)
        *at = *at == '9' ? '0' : *at;
    if (*at >= '0' && *at < '9')
        ++*at;
}

/* Writes the number as a first digit, the locale's decimal point, the other digits, and an exponent. */
static void print_number(const struct number *n, char *made, size_t room)
{
    double magnitude = fabs(n->value);
    bool normal = magnitude == 0 || magnitude >= (n->is_float ? (double)FLT_MIN : DBL_MIN);
    int most = n->is_float ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG, least = n->is_float ? FLT_DIG : DBL_DIG;

    /* all decimals with at most this many digits read back as different numbers, unless the numbers have fewer bits */
    for (int digits = normal ? least : 1; digits <= most; digits++) {
        snprintf(made, room, "%.*e", digits - 1, n->value);
        if (reads_back(n, made))
            return;
        step_up(made);
        if (reads_back(n, made))
            return;
    }
}

/* Returns the exponent of the first digit, for numbers from 0.001 up to 10^15: the doubles nearest to these powers
 * are not below them. */
static int first_exponent(double magnitude)
{
    static const double powers[] = { 1e-3, 1e-2, 1e-1, 1e0, 1e1,  1e2,  1e3,  1e4,  1e5,
                                     1e6,  1e7,  1e8,  1e9, 1e10, 1e11, 1e12, 1e13, 1e14 };
    size_t at = sizeof powers / sizeof *powers - 1;

    while (magnitude < powers[at])
        at--;
    return (int)at - 3;
}

/*
 * Does the work of print_number(), for numbers whose decimals are found exactly in 128 bits. Returns false for
 * others, and for a number halfway between two decimals. A number is m / 2^shift, so k / 10^places reads back as it
 * if k * 2^shift is nearer to m * 10^places than half of 10^places.
 */
static bool make_usual(const struct number *n, char *made, size_t room)
{
    int bits = n->is_float ? FLT_MANT_DIG : DBL_MANT_DIG, least = n->is_float ? FLT_DIG : DBL_DIG, exponent, first;
    double magnitude = fabs(n->value);
    uint64_t m, power = 1;

    if (magnitude < 1e-3 || magnitude >= (n->is_float ? 1e6 : 1e15))
        return false;
    m = (uint64_t)ldexp(frexp(magnitude, &exponent), bits);
    first = first_exponent(magnitude);
    if (m == (uint64_t)1 << (bits - 1)) /* a power of two: numbers above it lie further apart than below it */
        return false;
    for (int i = 0; i < least - 1 - first; i++)
        power *= 10;
    for (int digits = least; digits <= least + 2; digits++, power *= 10) {
        unsigned shift = (unsigned)(bits - exponent);
        wide_u128 exact = (wide_u128)m * power, one = (wide_u128)1 << shift;
        wide_u128 rest = exact & (one - 1);
        uint64_t k = (uint64_t)(exact >> shift);

        if (2 * rest == one)
            return false;
        if (2 * rest > one) {
            k++;
            rest = one - rest;
        }
        if (2 * rest == power) /* halfway between two numbers */
            return false;
        if (2 * rest < power) {
            char plain[24];
            int length = snprintf(plain, sizeof plain, "%" PRIu64, k);

            if (length != digits) /* rounded up to a power of ten */
                return false;
            snprintf(made, room, "%s%se%c%02d", signbit(n->value) ? "-" : "", plain, first < 0 ? '-' : '+', abs(first));
            return true;
        }
    }
    return false;
}

static double read_number(bool is_float, const uint8_t *bytes)
{
    double value;

    if (is_float) {
        uint32_t bits = bytes_load32(bytes);
        float narrow;

        memcpy(&narrow, &bits, sizeof narrow);
        value = (double)narrow;
    } else {
        uint64_t bits = bytes_load64(bytes);

        memcpy(&value, &bits, sizeof value);
    }
    return value;
}

static void write_number(struct number n, char text[DECIMAL_TEXT])
{
    char made[2 * DECIMAL_TEXT];
    size_t used = 0, digits = 0;

    if (!isfinite(n.value)) {
        snprintf(text, DECIMAL_TEXT, "%s", isnan(n.value) ? "NaN" : "Infinity");
        return;
    }
    if (!make_usual(&n, made, sizeof made))
        print_number(&n, made, sizeof made);
    for (const char *at = made; *at != 'e'; at++) {
        if (*at != '-' && (*at < '0' || *at > '9'))
            continue;
        if (*at != '-' && digits++ == 1)
            text[used++] = '.';
        text[used++] = *at;
    }
    snprintf(text + used, DECIMAL_TEXT - used, "%s", strchr(made, 'e'));
}

void decimal_of(bool is_float, const uint8_t *bytes, char text[DECIMAL_TEXT])
{
    write_number((struct number) { is_float, read_number(is_float, bytes) }, text);
}

/* Returns the digits of a number that is not negative, without zeros at the end, and the exponent of the first one. */
static size_t take_digits(struct number n, char digits[DECIMAL_TEXT], int *exponent)
{
    char made[DECIMAL_TEXT];
    size_t count = 0;

    write_number(n, made);
    *exponent = (int)strtol(strchr(made, 'e') + 1, NULL, 10);
    for (const char *at = made; *at != 'e'; at++)
        if (*at != '.')
            digits[count++] = *at;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    return count;
}

void decimal_of_python(bool is_float, const uint8_t *bytes, char text[DECIMAL_TEXT])
{
    struct number n = { false, read_number(is_float, bytes) };
    char digits[DECIMAL_TEXT];
    int exponent, at;
    size_t count;

    if (signbit(n.value) && !isnan(n.value))
        *text++ = '-';
    n.value = fabs(n.value);
    if (!isfinite(n.value)) {
        write_number(n, text);
        return;
    }
    count = take_digits(n, digits, &exponent);
    if (exponent < -4 || exponent >= 16) {
        *text++ = digits[0];
        if (count > 1)
            *text++ = '.';
        memcpy(text, digits + 1, count - 1);
        snprintf(text + count - 1, 6, "e%+03d", exponent);
        return;
    }
    for (at = exponent < 0 ? exponent : 0; at < (int)count || at <= exponent + 1; at++) {
        if (at == exponent + 1)
            *text++ = '.';
        *text++ = at >= 0 && at < (int)count ? digits[at] : '0';
    }
    *text = 0;
}

/* ---- All values -------------------------------------------------------------------------------------------------- */

_Static_assert(VALUE_TEXT >= DECIMAL_TEXT, "a number fits");

void value_text(const struct parquet_column *c, struct parquet_value *value, char text[VALUE_TEXT])
{
    const uint8_t *b = value->bytes;
    int64_t number = 0;

    if (c->form == PARQUET_AS_IT_IS || c->form == PARQUET_UNREAD || !b)
        return;
    if (c->form == PARQUET_SIGNED || c->form == PARQUET_UNSIGNED)
        number = c->type == PARQUET_INT64    ? (int64_t)bytes_load64(b)
                 : c->form == PARQUET_SIGNED ? (int32_t)bytes_load32(b)
                                             : (int64_t)bytes_load32(b);
    if (c->form == PARQUET_UUID)
        snprintf(text, VALUE_TEXT, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
                 b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
    else if (c->form == PARQUET_DECIMAL)
        decimal_of(c->type == PARQUET_FLOAT, b, text);
    else if (c->form == PARQUET_EXACT)
        decimal_of_python(c->type == PARQUET_FLOAT, b, text);
    else if (c->form == PARQUET_TRUTH)
        snprintf(text, VALUE_TEXT, "%s", *b ? "true" : "false");
    else if (c->form == PARQUET_SIGNED)
        snprintf(text, VALUE_TEXT, "%lld", (long long)number);
    else
        snprintf(text, VALUE_TEXT, "%llu", (unsigned long long)number);
    *value = (struct parquet_value) { (const uint8_t *)text, strlen(text) };
}
