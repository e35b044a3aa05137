/* json_decimal.c: see json_decimal.h. */

#include "json_decimal.h"

#include <string.h>

static bool is_digit(const char *at, const char *end)
{
    return at < end && *at >= '0' && *at <= '9';
}

/* Takes digits; zeros at the start of the number are left out, but count for its exponent after the point. */
static const char *take_digits(struct json_decimal *d, const char *at, const char *end, bool after_point)
{
    for (; is_digit(at, end); at++) {
        bool leads = *at == '0' && d->count == 0;

        if (!leads)
            d->digits[d->count++] = *at;
        d->exponent += after_point ? -leads : !leads;
    }
    return at;
}

/* Takes what follows an E; NULL: it is wrong or too long. */
static const char *take_exponent(struct json_decimal *d, const char *at, const char *end)
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

bool json_decimal_read(struct json_decimal *d, const char *text, size_t bytes)
{
    const char *at = text, *end = text + bytes, *first;

    d->negative = bytes > 0 && *at == '-';
    d->exponent = 0;
    d->count = 0;
    if (bytes > JSON_DECIMAL_DIGITS)
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

int json_decimal_compare(const struct json_decimal *a, const struct json_decimal *b)
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
