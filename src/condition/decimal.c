#include "decimal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(const char *at, const char *end)
{
    return at < end && *at >= '0' && *at <= '9';
}

/* Reads digits. Zeros at the start of the number are left out, but after the point they count for its exponent. */
static const char *take_digits(struct decimal *d, const char *at, const char *end, bool after_point)
{
    for (; is_digit(at, end); at++) {
        bool leads = *at == '0' && d->count == 0;

        if (!leads)
            d->digits[d->count++] = *at;
        d->exponent += after_point ? -leads : !leads;
    }
    return at;
}

/* Reads what follows an E. Returns NULL if it is wrong or too long. */
static const char *take_exponent(struct decimal *d, const char *at, const char *end)
{
    bool negative = at < end && *at == '-';
    int64_t exponent = 0;
    const char *first = at + (at < end && (*at == '-' || *at == '+'));

    for (at = first; is_digit(at, end); at++) {
        if (at - first >= 15)
            return NULL;
        exponent = exponent * 10 + (*at - '0');
    }
    d->exponent += negative ? -exponent : exponent;
    return at > first ? at : NULL;
}

bool decimal_read(struct decimal *d, const char *text, size_t bytes)
{
    const char *at = text, *end = text + bytes, *first;

    d->negative = bytes > 0 && *at == '-';
    d->exponent = 0;
    d->count = 0;
    if (bytes > DECIMAL_DIGITS)
        return false;
    first = at += d->negative;
    at = take_digits(d, at, end, false);
    if (at == first || (*first == '0' && at - first > 1))
        return false;
    if (at < end && *at == '.') {
        first = ++at;
        at = take_digits(d, at, end, true);
        if (at == first)
            return false;
    }
    if (at < end && (*at | 0x20) == 'e')
        at = take_exponent(d, at + 1, end);
    while (d->count > 0 && d->digits[d->count - 1] == '0')
        d->count--;
    return at == end;
}

/* Without a point in it, strtod() reads the number in any locale. */
double decimal_double(const struct decimal *d)
{
    char text[DECIMAL_DIGITS + 48];

    snprintf(text, sizeof text, "%s0%.*se%" PRId64, d->negative ? "-" : "", (int)d->count, d->digits,
             d->exponent - (int64_t)d->count);
    return strtod(text, NULL);
}

int decimal_compare(const struct decimal *a, const struct decimal *b)
{
    size_t both = a->count < b->count ? a->count : b->count;
    int sign_a = a->count == 0 ? 0 : a->negative ? -1 : 1, sign_b = b->count == 0 ? 0 : b->negative ? -1 : 1;
    int more;

    if (sign_a != sign_b || sign_a == 0)
        return sign_a - sign_b;
    if (a->exponent != b->exponent)
        return a->exponent > b->exponent ? sign_a : -sign_a;
    more = memcmp(a->digits, b->digits, both);
    if (more == 0)
        more = (a->count > b->count) - (a->count < b->count);
    return more > 0 ? sign_a : more < 0 ? -sign_a : 0;
}

/* Makes a number of sums of digits, which may be large or negative. */
static void settle(struct decimal *d, const int *sums, size_t count, int64_t exponent)
{
    size_t zeros = 0;
    int carry = 1;

    for (int sign = 1; carry != 0; sign = -1) { /* A carry that is left means that the number is negative: then the
                                                   sums change their signs. */
        d->negative = sign < 0;
        carry = 0;
        for (size_t i = count; i-- > 0;) {
            int sum = sign * sums[i] + carry, digit = (sum % 10 + 10) % 10;

            d->digits[i] = (char)('0' + digit);
            carry = (sum - digit) / 10;
        }
    }
    while (count > 0 && d->digits[count - 1] == '0')
        count--;
    while (zeros < count && d->digits[zeros] == '0')
        zeros++;
    d->count = count - zeros;
    d->exponent = exponent - (int64_t)zeros;
    memmove(d->digits, d->digits + zeros, d->count);
}

/* Adds the digits, times `factor`, to the sums. */
static void spread(const struct decimal *d, int factor, int *sums)
{
    for (size_t i = 0; i < d->count; i++)
        sums[i] += factor * (d->digits[i] - '0');
}

bool decimal_calculate(struct decimal *a, char sign, const struct decimal *b)
{
    int factor_a = a->negative ? -1 : 1, factor_b = b->negative == (sign == '-') ? 1 : -1, sums[DECIMAL_DIGITS] = { 0 };
    int64_t first_a = a->count > 0 ? a->exponent : b->exponent, first_b = b->count > 0 ? b->exponent : first_a;
    int64_t end_a = first_a - (int64_t)a->count, end_b = first_b - (int64_t)b->count;
    int64_t first = sign == '*' ? first_a + first_b : (first_a > first_b ? first_a : first_b) + 1;
    int64_t end = sign == '*' ? end_a + end_b : end_a < end_b ? end_a : end_b;

    if (first - end > DECIMAL_DIGITS)
        return false;
    for (size_t i = 0; sign == '*' && i < a->count; i++)
        spread(b, factor_a * factor_b * (a->digits[i] - '0'), sums + i + 1);
    if (sign != '*') {
        spread(a, factor_a, sums + (first - first_a));
        spread(b, factor_b, sums + (first - first_b));
    }
    settle(a, sums, (size_t)(first - end), first);
    return true;
}
