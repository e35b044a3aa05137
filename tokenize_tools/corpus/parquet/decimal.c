/* decimal.c: see decimal.h: tries from few digits to many, which the C library rounds correctly. */
#include "decimal.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

struct number {
    bool is_float;
    double value;
};

static bool reads_back(const struct number *n, const char *made)
{
    return n->is_float ? strtof(made, NULL) == (float)n->value : strtod(made, NULL) == n->value;
}

/* Makes the last digit one greater. Above a power of two lie fewer numbers than below it: the next decimal may be read
 * as it though the nearest, which is less, is not. */
static void step_up(char *made)
{
    char *at = strchr(made, 'e') - 1;

    for (; at > made && (*at < '0' || *at >= '9'); at--)
        *at = *at == '9' ? '0' : *at;
    if (*at >= '0' && *at < '9')
        ++*at;
}

/* With a first digit, the locale's decimal point, the other digits, and an exponent. */
static void make(const struct number *n, char *made, size_t room)
{
    double magnitude = fabs(n->value);
    bool normal = magnitude == 0 || magnitude >= (n->is_float ? (double)FLT_MIN : DBL_MIN);
    int most = n->is_float ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG, least = n->is_float ? FLT_DIG : DBL_DIG;

    /* all decimals with so few digits are read as numbers of their own, unless these have fewer bits */
    for (int digits = normal ? least : 1; digits <= most; digits++) {
        snprintf(made, room, "%.*e", digits - 1, n->value);
        if (reads_back(n, made))
            return;
        step_up(made);
        if (reads_back(n, made))
            return;
    }
}

void decimal_of(bool is_float, const uint8_t *bytes, char text[DECIMAL_TEXT])
{
    struct number n = { .is_float = is_float };
    char made[2 * DECIMAL_TEXT];
    size_t used = 0, digits = 0;

    if (is_float) {
        uint32_t bits = bytes_load32(bytes);
        float value;

        memcpy(&value, &bits, sizeof value);
        n.value = (double)value;
    } else {
        uint64_t bits = bytes_load64(bytes);

        memcpy(&n.value, &bits, sizeof n.value);
    }
    if (!isfinite(n.value)) {
        snprintf(text, DECIMAL_TEXT, "%s", isnan(n.value) ? "NaN" : "Infinity");
        return;
    }
    make(&n, made, sizeof made);
    for (const char *at = made; *at != 'e'; at++) {
        if (*at != '-' && (*at < '0' || *at > '9'))
            continue;
        if (*at != '-' && digits++ == 1)
            text[used++] = '.';
        text[used++] = *at;
    }
    snprintf(text + used, DECIMAL_TEXT - used, "%s", strchr(made, 'e'));
}
