/*
 * column_numbers.c: a number is read as a sign and a magnitude if its type is one of integers, else as a double, which
 * holds every float exactly. Floats of 16 and 32 bits are made by one function, which rounds to the nearest, ties to
 * even, from the double's own bits, so that nothing is rounded twice.
 */
#include "column_numbers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "private.h"

/* ---- Types ------------------------------------------------------------------------------------------------------- */

enum kind { UNSIGNED, SIGNED, FLOAT };

static const struct type {
    const char *name;
    uint32_t bytes;
    enum kind kind;
    uint32_t fraction, exponent; /* bits of a float */
} types[] = {
    [LEAT_COLUMN_U8] = { "u8", 1, UNSIGNED, 0, 0 },
    [LEAT_COLUMN_U16] = { "u16", 2, UNSIGNED, 0, 0 },
    [LEAT_COLUMN_U32] = { "u32", 4, UNSIGNED, 0, 0 },
    [LEAT_COLUMN_I32] = { "i32", 4, SIGNED, 0, 0 },
    [LEAT_COLUMN_I64] = { "i64", 8, SIGNED, 0, 0 },
    [LEAT_COLUMN_F16] = { "f16", 2, FLOAT, 10, 5 },
    [LEAT_COLUMN_BF16] = { "bf16", 2, FLOAT, 7, 8 },
    [LEAT_COLUMN_F32] = { "f32", 4, FLOAT, 23, 8 },
    [LEAT_COLUMN_CATEGORY] = { "category", 2, UNSIGNED, 0, 0 },
    [LEAT_COLUMN_I8] = { "i8", 1, SIGNED, 0, 0 },
    [LEAT_COLUMN_I16] = { "i16", 2, SIGNED, 0, 0 },
    [LEAT_COLUMN_U64] = { "u64", 8, UNSIGNED, 0, 0 },
    [LEAT_COLUMN_F64] = { "f64", 8, FLOAT, 52, 11 },
};
#define TYPES (sizeof types / sizeof types[0])

uint32_t column_type_bytes(uint32_t type)
{
    return type < TYPES ? types[type].bytes : 0;
}

const char *leat_column_type_name(uint32_t type)
{
    return type < TYPES ? types[type].name : NULL;
}

/* Reads the width after a type: nothing, or x and a number. */
static bool read_width(const char *text, uint32_t *width)
{
    *width = *text ? 0 : 1;
    if (!*text)
        return true;
    if (*text++ != 'x' || *text == '0')
        return false;
    for (; *text >= '0' && *text <= '9' && *width <= LEAT_COLUMN_MAX_WIDTH; text++)
        *width = 10 * *width + (uint32_t)(*text - '0');
    return !*text && *width >= 1 && *width <= LEAT_COLUMN_MAX_WIDTH;
}

enum leat_status leat_column_type_read(const char *text, uint32_t *type, uint32_t *width, struct leat_error *err)
{
    for (uint32_t t = LEAT_COLUMN_U8; t <= LEAT_COLUMN_CATEGORY; t++) {
        size_t length = strlen(types[t].name);

        if (strncmp(text, types[t].name, length) == 0 && read_width(text + length, width)) {
            *type = t;
            return LEAT_OK;
        }
    }
    return status_argument(err, "type",
                           "unknown type of a column %.100s: use u8, u16, u32, i32, i64, f16, bf16, f32 or category, "
                           "and x with a width up to %u for several values per entry, as in u32x8",
                           text, LEAT_COLUMN_MAX_WIDTH);
}

/* ---- Floats ------------------------------------------------------------------------------------------------------ */

/* Returns the bits of a float. Infinity and NaN stay what they are. */
static uint64_t encode_float(double value, const struct type *t)
{
    uint64_t bits, fraction, made, half;
    uint32_t drop = 52 - t->fraction;
    int64_t exponent, top = (1 << t->exponent) - 1;

    memcpy(&bits, &value, sizeof bits);
    fraction = bits & (((uint64_t)1 << 52) - 1);
    exponent = (int64_t)(bits >> 52 & 0x7ff);
    made = bits >> 63 << (t->fraction + t->exponent);
    if (exponent == 0x7ff) /* a NaN stays one even if all bits that are left of it are 0 */
        return made | (uint64_t)top << t->fraction | fraction >> drop | (uint64_t)(fraction > 0) << (t->fraction - 1);
    exponent += top / 2 - 1023;
    if (exponent >= top)
        return made | (uint64_t)top << t->fraction;
    if (exponent <= 0) { /* a subnormal number, or 0 */
        fraction |= (uint64_t)1 << 52;
        drop = 1 - exponent < 54 - (int64_t)drop ? drop + (uint32_t)(1 - exponent) : 54;
        exponent = 0;
    }
    half = (uint64_t)1 << (drop - 1);
    made |= ((uint64_t)exponent << t->fraction) + (fraction >> drop);
    fraction &= 2 * half - 1;
    return made + (fraction > half || (fraction == half && (made & 1))); /* a carry goes on into the exponent */
}

static double decode_float(uint64_t bits, const struct type *t)
{
    uint64_t fraction = bits & (((uint64_t)1 << t->fraction) - 1);
    int top = (1 << t->exponent) - 1, exponent = (int)(bits >> t->fraction) & top;
    double value;

    if (exponent == top)
        value = fraction ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = ldexp((double)fraction, 1 - top / 2 - (int)t->fraction);
    else
        value = ldexp((double)(fraction | (uint64_t)1 << t->fraction), exponent - top / 2 - (int)t->fraction);
    return bits >> (t->fraction + t->exponent) & 1 ? -value : value;
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

struct number {
    bool is_float, negative;
    uint64_t magnitude; /* of an integer */
    double value;       /* of a float */
};

/* Reads the bytes of this machine's number, the lowest first. */
static uint64_t load_bits(const uint8_t *at, uint32_t bytes)
{
    uint64_t bits = 0;

    for (uint32_t i = 0; i < bytes; i++)
        bits |= (uint64_t)at[BYTES_BIG_ENDIAN ? bytes - 1 - i : i] << 8 * i;
    return bits;
}

/* Reads a stored value, whose lowest byte comes first. */
static uint64_t load_bits_le(const uint8_t *at, uint32_t bytes)
{
    uint64_t bits = 0;

    for (uint32_t i = 0; i < bytes; i++)
        bits |= (uint64_t)at[i] << 8 * i;
    return bits;
}

static struct number load(const uint8_t *at, const struct type *t)
{
    struct number n = { .magnitude = load_bits(at, t->bytes) };

    if (t->kind == SIGNED && n.magnitude >> (8 * t->bytes - 1) & 1) {
        n.negative = true;
        n.magnitude = (~n.magnitude + 1) & (UINT64_MAX >> (64 - 8 * t->bytes));
    }
    if (t->kind != FLOAT)
        return n;
    n.is_float = true;
    if (t->bytes == 8)
        memcpy(&n.value, &n.magnitude, sizeof n.value);
    else
        n.value = decode_float(n.magnitude, t);
    return n;
}

/* Turns a float that is an integer into one; returns false for another one. */
static bool to_integer(struct number *n)
{
    double size = fabs(n->value);

    if (!(size < 18446744073709551616.0) || floor(size) != size)
        return false;
    n->negative = n->value < 0;
    n->magnitude = (uint64_t)size;
    return true;
}

static bool to_bits(struct number n, const struct type *t, uint64_t *bits)
{
    uint64_t most = UINT64_MAX >> (64 - 8 * t->bytes);

    if (t->kind == FLOAT && n.is_float) {
        *bits = t->bytes == 8 ? n.magnitude : encode_float(n.value, t);
        return !isfinite(n.value) || isfinite(decode_float(*bits, t));
    }
    if (t->kind == FLOAT) { /* an integer must be exact as a float */
        n.value = n.negative ? -(double)n.magnitude : (double)n.magnitude;
        *bits = encode_float(n.value, t);
        return fabs(n.value) < 18446744073709551616.0 && (uint64_t)fabs(n.value) == n.magnitude &&
               decode_float(*bits, t) == n.value;
    }
    if (n.is_float && !to_integer(&n))
        return false;
    *bits = n.negative ? ~n.magnitude + 1 : n.magnitude;
    if (t->kind == SIGNED)
        return n.magnitude <= most / 2 + n.negative;
    return n.magnitude <= most && !(n.negative && n.magnitude > 0);
}

uint64_t column_convert(void *out, uint32_t to, const void *values, uint32_t from, uint64_t count)
{
    const struct type *t = &types[to], *f = &types[from];
    const uint8_t *read = values;
    uint8_t *write = out;

    if (t->kind == f->kind && t->bytes == f->bytes && t->fraction == f->fraction && !BYTES_BIG_ENDIAN) {
        memcpy(out, values, (size_t)count * t->bytes);
        return count;
    }
    for (uint64_t i = 0; i < count; i++, read += f->bytes, write += t->bytes) {
        uint64_t bits;

        if (!to_bits(load(read, f), t, &bits))
            return i;
        bits = bytes_le64(bits);
        memcpy(write, &bits, t->bytes);
    }
    return count;
}

uint64_t leat_column_convert(void *out, uint32_t to, const void *values, uint32_t from, uint64_t count)
{
    return column_convert(out, to, values, from, count);
}

void column_show(char text[48], const void *value, uint32_t type)
{
    struct number n = load(value, &types[type]);

    if (n.is_float)
        snprintf(text, 48, "%.9g", n.value);
    else
        snprintf(text, 48, "%s%" PRIu64, n.negative ? "-" : "", n.magnitude);
}

/* ---- Decimals and places ----------------------------------------------------------------------------------------- */

/* Returns true if a decimal reads back as a float with these bits. */
static bool reads_back(const char *made, uint64_t bits, const struct type *t)
{
    return encode_float(t->fraction == 23 ? (double)strtof(made, NULL) : strtod(made, NULL), t) == bits;
}

/* Makes the last digit one greater: above a power of two, the decimal that is next to the nearest one may read back. */
static void step_up(char *made)
{
    char *at = strchr(made, 'e') - 1;

    for (; at > made && (*at < '0' || *at >= '9'); at--)
        *at = *at == '9' ? '0' : *at;
    if (*at >= '0' && *at < '9')
        ++*at;
}

/* Writes "-1.25e+03" as "-125e1": the point is that of the locale. */
static void drop_point(char text[48], const char *made)
{
    const char *exponent = strchr(made, 'e');
    size_t length = 0;
    int after = -1, power = 0;

    for (const char *at = made; at < exponent; at++)
        if (*at == '-' || (*at >= '0' && *at <= '9')) {
            text[length++] = *at;
            after += *at != '-';
        }
    for (const char *at = exponent + 2; *at; at++) /* behind the sign */
        power = 10 * power + (*at - '0');
    if (exponent[1] == '-')
        power = -power;
    if (text[*text == '-'] == '0')
        snprintf(text, 48, "0");
    else
        snprintf(text + length, 48 - length, "e%d", power - after);
}

bool column_decimal(char text[48], const void *value, uint32_t type)
{
    const struct type *t = &types[type];
    uint64_t bits = load_bits_le(value, t->bytes);
    char made[48];
    double number;

    if (t->kind != FLOAT) {
        bool negative = t->kind == SIGNED && bits >> (8 * t->bytes - 1);

        if (negative)
            bits = (~bits + 1) & (UINT64_MAX >> (64 - 8 * t->bytes));
        snprintf(text, 48, "%s%" PRIu64, negative ? "-" : "", bits);
        return true;
    }
    number = decode_float(bits, t);
    if (!isfinite(number))
        return false;
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(made, sizeof made, "%.*e", digits - 1, number);
        if (reads_back(made, bits, t))
            break;
        step_up(made);
        if (reads_back(made, bits, t))
            break;
    }
    drop_point(text, made);
    return true;
}

uint64_t column_place(const void *value, uint32_t type)
{
    const struct type *t = &types[type];
    uint64_t bits = load_bits_le(value, t->bytes), top = (uint64_t)1 << (8 * t->bytes - 1);

    if (t->kind == UNSIGNED)
        return bits;
    return t->kind == FLOAT && (bits & top) ? ~bits & (2 * top - 1) : bits ^ top;
}

void column_at_place(uint8_t value[8], uint64_t place, uint32_t type)
{
    const struct type *t = &types[type];
    uint64_t top = (uint64_t)1 << (8 * t->bytes - 1);

    if (t->kind == FLOAT && !(place & top))
        place = ~place;
    else if (t->kind != UNSIGNED)
        place ^= top;
    bytes_store64(value, place);
}

void column_finite_places(uint32_t type, uint64_t *first, uint64_t *last)
{
    const struct type *t = &types[type];
    uint64_t top = (uint64_t)1 << (8 * t->bytes - 1);

    *first = 0;
    *last = 2 * top - 1;
    if (t->kind != FLOAT)
        return;
    *last = top + ((((uint64_t)1 << t->exponent) - 1) << t->fraction) - 1;
    *first = 2 * top - 1 - *last;
}
