/*
 * units.c: reads and prints numbers.
 *
 * Numbers are read with integers only: digits before and after the point are two integers, and the multiplier of the
 * unit is applied to each, with overflow checked. Why not strtod()? "0.1Ki" or 2^64 - 1 must be read exactly or
 * refused, whatever the locale. Printing is the reverse: the largest unit that leaves a number from 1 on, with few
 * digits.
 */
#include "units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/wide.h"

#define FRACTION_DIGITS 18 /* 10^18 fits in 64 bits */

static const char *const garbage = "is not a number; write it like 12, 1.5K or 64Ki";
static const char *const too_large = "is larger than 2^64 - 1";
static const char *const not_whole = "is not a whole number";

/* Returns the multiplier that `*text` begins with, or 1; moves *text past it. */
static uint64_t parse_multiplier(const char **text)
{
    static const char letters[] = "KMGTP";
    uint64_t multiplier = 1, base = 1000;
    const char *at;
    char upper = **text;

    if (upper >= 'a' && upper <= 'z')
        upper = (char)(upper - 'a' + 'A');
    at = upper ? strchr(letters, upper) : NULL;
    if (!at)
        return 1;
    (*text)++;
    if (**text == 'i') {
        base = 1024;
        (*text)++;
    }
    for (const char *l = letters; l <= at; l++)
        multiplier *= base;
    return multiplier;
}

/* Reads digits at `*text` into *value; *digits counts them. Returns false if they do not fit. */
static bool parse_digits(const char **text, uint64_t *value, unsigned *digits)
{
    *value = 0;
    *digits = 0;
    for (; **text >= '0' && **text <= '9'; (*text)++, (*digits)++)
        if (!bytes_multiply(*value, 10, value) || !bytes_add(*value, (uint64_t)(**text - '0'), value))
            return false;
    return true;
}

/* Multiplies the digits after the point: F / 10^f * m. In lowest terms the denominator must divide m, otherwise the
 * result is not whole; and then it is below m and cannot overflow. */
static bool fraction_times(const char *digits, size_t count, uint64_t multiplier, uint64_t *value)
{
    uint64_t numerator = 0, denominator = 1, shared;

    while (count > 0 && digits[count - 1] == '0')
        count--;
    if (count > FRACTION_DIGITS)
        return false;
    for (size_t i = 0; i < count; i++) {
        numerator = numerator * 10 + (uint64_t)(digits[i] - '0');
        denominator *= 10;
    }
    shared = (uint64_t)wide_common_divisor(numerator, denominator);
    numerator /= shared;
    denominator /= shared;
    if (multiplier % denominator != 0)
        return false;
    *value = numerator * (multiplier / denominator);
    return true;
}

bool units_parse(const char *text, bool bytes, uint64_t *value, const char **why)
{
    uint64_t whole, part = 0, multiplier;
    const char *fraction = NULL;
    size_t fraction_digits = 0;
    unsigned digits;

    *why = garbage;
    if (!parse_digits(&text, &whole, &digits)) {
        *why = too_large;
        return false;
    }
    if (digits == 0)
        return false;
    if (*text == '.') {
        fraction = ++text;
        while (*text >= '0' && *text <= '9')
            text++;
        fraction_digits = (size_t)(text - fraction);
        if (fraction_digits == 0)
            return false;
    }
    multiplier = parse_multiplier(&text);
    if (bytes && *text == 'B')
        text++;
    if (*text != '\0')
        return false;
    if (!fraction_times(fraction, fraction_digits, multiplier, &part)) {
        *why = not_whole;
        return false;
    }
    if (!bytes_multiply(whole, multiplier, &whole) || !bytes_add(whole, part, value)) {
        *why = too_large;
        return false;
    }
    return true;
}

bool units_parse_part(const char *text, size_t length, uint64_t *value, const char **why)
{
    char copy[64];

    if (length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return units_parse(copy, false, value, why);
}

/* Parses one end of a range; it is `otherwise` if nothing is written there. */
static bool parse_end(const char *text, size_t length, uint64_t otherwise, uint64_t *value, const char **why)
{
    *value = otherwise;
    return length == 0 || units_parse_part(text, length, value, why);
}

bool units_parse_range(const char *text, uint64_t *first, uint64_t *last, bool *single, const char **why)
{
    const char *colon = strchr(text, ':');

    if (single)
        *single = !colon;
    *why = "is neither a number N nor a range A:B";
    if (!colon) {
        if (!units_parse(text, false, first, why))
            return false;
        *why = "is too large; the last number is 2^64 - 2";
        return bytes_add(*first, 1, last);
    }
    if (!parse_end(text, (size_t)(colon - text), 0, first, why) ||
        !parse_end(colon + 1, strlen(colon + 1), UINT64_MAX, last, why))
        return false;
    *why = "ends before it begins";
    return *first <= *last;
}

struct units_text units_bytes(uint64_t bytes)
{
    static const char *const names[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    struct units_text out;
    double value = (double)bytes;
    unsigned step = 0;

    if (bytes < 1024) {
        snprintf(out.text, sizeof out.text, "%u byte%s", (unsigned)bytes, bytes == 1 ? "" : "s");
        return out;
    }
    /* otherwise 1023.95 would be printed as 1024.0 */
    for (value /= 1024; value >= 1023.95 && step + 1 < sizeof names / sizeof names[0]; step++)
        value /= 1024;
    snprintf(out.text, sizeof out.text, "%.1f %s", value, names[step]);
    return out;
}

struct units_text units_count(uint64_t count)
{
    struct units_text out;
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    char *to = out.text;

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return out;
}

struct units_text units_mean(double mean)
{
    struct units_text out;
    uint64_t tenths;

    if (!(mean >= 0 && mean < 1e18)) {
        snprintf(out.text, sizeof out.text, "-");
        return out;
    }
    tenths = (uint64_t)(mean * 10 + 0.5);
    out = units_count(tenths / 10);
    snprintf(out.text + strlen(out.text), sizeof out.text - strlen(out.text), ".%u", (unsigned)(tenths % 10));
    return out;
}

struct units_text units_counted(uint64_t count, const char *noun)
{
    struct units_text out = units_count(count);
    size_t used = strlen(out.text);

    snprintf(out.text + used, sizeof out.text - used, " %.16s%s", noun, count == 1 ? "" : "s");
    return out;
}

struct units_text units_rate(double per_second, const char *what)
{
    static const char *const names[] = { "", "k", "M", "G", "T", "P" };
    struct units_text out;
    unsigned step = 0;
    int decimals;

    if (!isfinite(per_second) || per_second < 0) {
        snprintf(out.text, sizeof out.text, "-");
        return out;
    }
    while (per_second >= 999.5 && step + 1 < sizeof names / sizeof names[0]) {
        per_second /= 1000;
        step++;
    }
    decimals = per_second < 9.995 ? 2 : per_second < 99.95 ? 1 : 0;
    /* The prefix belongs to a short unit ("GB/s") but stands alone before a word ("M tokens/s"). */
    snprintf(out.text, sizeof out.text, "%.*f %s%s%.20s/s", decimals, per_second, names[step],
             step > 0 && strlen(what) > 1 ? " " : "", what);
    return out;
}

struct units_text units_duration(double seconds)
{
    struct units_text out;
    unsigned long long whole;

    if (!isfinite(seconds) || seconds < 0 || seconds > 1e12)
        snprintf(out.text, sizeof out.text, "-");
    else if (seconds < 0.9995e-6)
        snprintf(out.text, sizeof out.text, "%.3g ns", seconds * 1e9);
    else if (seconds < 0.9995e-3)
        snprintf(out.text, sizeof out.text, "%.3g us", seconds * 1e6);
    else if (seconds < 0.9995)
        snprintf(out.text, sizeof out.text, "%.3g ms", seconds * 1e3);
    else if (seconds < 59.95)
        snprintf(out.text, sizeof out.text, "%.1f s", seconds);
    else {
        whole = (unsigned long long)(seconds + 0.5);
        if (whole < 3600)
            snprintf(out.text, sizeof out.text, "%llu min %02llu s", whole / 60, whole % 60);
        else if (whole < 86400)
            snprintf(out.text, sizeof out.text, "%llu h %02llu min", whole / 3600, whole / 60 % 60);
        else
            snprintf(out.text, sizeof out.text, "%llu d %02llu h", whole / 86400, whole / 3600 % 24);
    }
    return out;
}

struct units_text units_share(uint64_t part, uint64_t whole)
{
    struct units_text out;

    snprintf(out.text, sizeof out.text, "%.1f %%", whole > 0 ? 100.0 * (double)part / (double)whole : 0.0);
    return out;
}

struct units_text units_date(uint64_t seconds_since_1970)
{
    struct units_text out;
    time_t when = (time_t)seconds_since_1970;
    struct tm parts;

    if (seconds_since_1970 > INT64_MAX || !gmtime_r(&when, &parts) ||
        strftime(out.text, sizeof out.text, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        snprintf(out.text, sizeof out.text, "%" PRIu64 " s after 1970", seconds_since_1970);
    return out;
}

struct units_text units_hex(const unsigned char *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    struct units_text out;
    size_t used = 0;

    for (size_t i = 0; i < count && used + 3 <= sizeof out.text; i++) {
        out.text[used++] = digits[bytes[i] >> 4];
        out.text[used++] = digits[bytes[i] & 15];
    }
    out.text[used] = '\0';
    return out;
}
