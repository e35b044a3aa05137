#include "decimal.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/wide.h"

static const char *const garbage = "is not a decimal number; write it like 3, 0.25 or 1e-9";
static const char *const too_long = "has more than 18 digits";
static const char *const too_far = "is beyond 10^30, or has more than 30 decimal places";

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads an exponent after its 'e', all of text[0..length). */
static bool parse_exponent(const char *text, size_t length, int *exponent)
{
    bool negative = length > 0 && text[0] == '-';
    size_t at = length > 0 && (text[0] == '-' || text[0] == '+');
    int value = 0; /* larger exponents stay at a value that no number of digits in a text can make up for */

    if (at == length)
        return false;
    for (; at < length; at++) {
        if (!is_digit(text[at]))
            return false;
        value = value < 100000000 ? value * 10 + (text[at] - '0') : value;
    }
    *exponent = negative ? -value : value;
    return true;
}

/* Reads digits and a point at the start of text[0..length), whatever follows. Returns how many bytes it read. */
static size_t parse_digits(const char *text, size_t length, struct decimal *d, bool *any, bool *fits)
{
    int zeros = 0, significant = 0, places = 0; /* cannot overflow: texts are far below 2^30 bytes */
    bool point = false;
    size_t at = 0;

    *any = false;
    *fits = true;
    d->digits = 0;
    for (; at < length && (is_digit(text[at]) || (text[at] == '.' && !point)); at++) {
        if (text[at] == '.') {
            point = true;
            continue;
        }
        *any = true;
        places += point;
        if (text[at] == '0') { /* zeros count only if another digit follows */
            zeros++;
            continue;
        }
        significant += (d->digits > 0 ? zeros : 0) + 1;
        *fits = *fits && significant <= DECIMAL_DIGITS;
        for (; *fits && d->digits > 0 && zeros > 0; zeros--)
            d->digits *= 10;
        zeros = 0;
        if (*fits)
            d->digits = d->digits * 10 + (uint64_t)(text[at] - '0');
    }
    d->exponent = zeros - places;
    return at;
}

bool decimal_parse(const char *text, size_t length, struct decimal *d, const char **why)
{
    int exponent = 0;
    bool any, fits;
    size_t at = parse_digits(text, length, d, &any, &fits);

    *why = garbage;
    if (!any)
        return false;
    if (at < length &&
        ((text[at] != 'e' && text[at] != 'E') || !parse_exponent(text + at + 1, length - at - 1, &exponent)))
        return false;
    *why = too_long;
    if (!fits)
        return false;
    d->exponent = d->digits ? d->exponent + exponent : 0;
    *why = too_far;
    return d->exponent <= DECIMAL_EXPONENT && d->exponent >= -DECIMAL_EXPONENT;
}

size_t decimal_after_name(const char *text, size_t length)
{
    size_t at = length;
    struct decimal d;
    const char *why;

    while (at > 0 && text[at - 1] != ':')
        at--;
    return at > 0 && decimal_parse(text + at, length - at, &d, &why) ? at : 0;
}

const char *decimal_print(struct decimal d, char out[DECIMAL_TEXT])
{
    char digits[24];
    int count = snprintf(digits, sizeof digits, "%" PRIu64, d.digits);
    int places = -d.exponent;

    if (d.exponent >= 0)
        snprintf(out, DECIMAL_TEXT, "%s%.*s", digits, d.exponent, "000000000000000000000000000000");
    else if (places < count)
        snprintf(out, DECIMAL_TEXT, "%.*s.%s", count - places, digits, digits + count - places);
    else
        snprintf(out, DECIMAL_TEXT, "0.%.*s%s", places - count, "000000000000000000000000000000", digits);
    return out;
}

/* ---- Integers ---- */

/* Computes digits * 10^power. Returns false from 2^116 on. Nothing is lost by that: the scale makes the least weight
 * a whole number below 10^18 < 2^60, the common divisor is at most that, so 2^116 divided by it is still above 2^48. */
static bool scale(uint64_t digits, int power, wide_u128 *value)
{
    *value = digits;
    for (; power > 0; power--) {
        *value *= 10;
        if (*value >> 116)
            return false;
    }
    return true;
}

bool decimal_to_integers(const struct decimal *in, size_t count, uint64_t max, uint64_t *out, uint64_t *sum)
{
    wide_u128 divisor = 0, value, total = 0;
    int min = DECIMAL_EXPONENT;

    *sum = 0;
    for (size_t i = 0; i < count; i++)
        if (in[i].digits > 0 && in[i].exponent < min)
            min = in[i].exponent;
    for (size_t i = 0; i < count; i++) {
        if (!scale(in[i].digits, in[i].digits ? in[i].exponent - min : 0, &value))
            return false;
        divisor = wide_common_divisor(value, divisor);
    }
    for (size_t i = 0; i < count; i++) {
        scale(in[i].digits, in[i].digits ? in[i].exponent - min : 0, &value);
        value = divisor ? value / divisor : 0;
        total += value;
        if (total > UINT64_MAX)
            return false;
        out[i] = (uint64_t)value;
    }
    *sum = (uint64_t)total;
    return *sum <= max;
}

bool decimal_to_units(struct decimal d, uint64_t *units)
{
    wide_u128 value;

    if (d.exponent < -18 || !scale(d.digits, d.exponent + 18, &value) || value > DECIMAL_UNIT)
        return false;
    *units = (uint64_t)value;
    return true;
}

uint64_t decimal_share(uint64_t whole, uint64_t units)
{
    return wide_muldiv(whole, units, DECIMAL_UNIT);
}
