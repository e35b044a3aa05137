/*
 * chat_number.c: see chat_number.h. The C library converts between digits and doubles; no text with a point is given to
 * it or taken from it, since which character that is depends on the locale.
 */
#include "chat_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS      17 /* enough for any double */
#define POWER_ROOM  24 /* for e and an exponent */
#define DIGITS_ROOM (DIGITS + 2 + POWER_ROOM)

bool chat_is_number(const struct chat_value *v)
{
    return v->kind == CHAT_INT || v->kind == CHAT_BOOL || v->kind == CHAT_FLOAT;
}

bool chat_to_int(const struct chat_value *v, int64_t *number)
{
    *number = v->kind == CHAT_BOOL ? v->truth : v->kind == CHAT_INT ? v->number : 0;
    return v->kind == CHAT_INT || v->kind == CHAT_BOOL;
}

double chat_to_real(const struct chat_value *number)
{
    int64_t i;

    return chat_to_int(number, &i) ? (double)i : number->real;
}

/* Of a float and an integer, which as a double may be another number. */
static int order_mixed(double a, int64_t b)
{
    int64_t whole;

    if (a >= 0x1p63 || a < -0x1p63)
        return a > 0 ? 1 : -1;
    whole = (int64_t)a;
    if (whole != b)
        return whole > b ? 1 : -1;
    return (a > (double)whole) - (a < (double)whole);
}

int chat_number_order(const struct chat_value *a, const struct chat_value *b)
{
    int64_t i, j;
    bool whole = chat_to_int(a, &i), other = chat_to_int(b, &j);

    if (whole && other)
        return (i > j) - (i < j);
    if ((!whole && isnan(a->real)) || (!other && isnan(b->real)))
        return 2;
    if (whole)
        return -order_mixed(b->real, i);
    return other ? order_mixed(a->real, j) : (a->real > b->real) - (a->real < b->real);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits, with POWER_ROOM bytes after them, and the power of ten that they are multiplied with. */
static double make_real(char *digits, long long power)
{
    size_t count = strlen(digits);
    double real;

    snprintf(digits + count, POWER_ROOM, "e%lld", power);
    real = strtod(digits, NULL);
    digits[count] = '\0';
    return real;
}

static double read_real(char *digits, const char *text, size_t bytes)
{
    long long power = 0, given = 0;
    bool point = false, minus = false;
    size_t i = 0;
    char *to = digits;

    for (; i < bytes && (text[i] | 0x20) != 'e'; i++) {
        power -= point;
        if (text[i] != '.')
            *to++ = text[i];
        point = point || text[i] == '.';
    }
    for (i++; i < bytes; i++) {
        minus = minus || text[i] == '-';
        if (is_digit(text[i]) && given < (long long)1 << 40)
            given = given * 10 + (text[i] - '0');
    }
    *to = '\0';
    return make_real(digits, power + (minus ? -given : given));
}

enum leat_status chat_number_read(struct chat_arena *a, const char *text, size_t bytes, struct chat_value *out,
                                  struct leat_error *err)
{
    bool minus = bytes > 0 && *text == '-', fits = true, whole = true;
    int64_t number = 0;
    char *digits;

    for (size_t i = minus; whole && i < bytes; i++) {
        whole = is_digit(text[i]);
        fits = fits && whole && !__builtin_mul_overflow(number, 10, &number) &&
               !__builtin_add_overflow(number, minus ? '0' - text[i] : text[i] - '0', &number);
    }
    if (whole) {
        *out = fits ? chat_int(number) : (struct chat_value) { .kind = CHAT_BIG };
        return LEAT_OK;
    }
    digits = chat_arena_get(a, bytes + 1 + POWER_ROOM, err);
    if (!digits)
        return err->status;
    *out = chat_real(read_real(digits, text, bytes));
    return LEAT_OK;
}

/* The digits of a positive double, rounded to `count`, and where its point is: 0.DIGITS times ten to the result. */
static int take_digits(double real, int count, char digits[DIGITS_ROOM])
{
    char text[64];
    const char *e;
    int n = 0, power = 0;

    snprintf(text, sizeof text, "%.*e", count - 1, real);
    e = strchr(text, 'e');
    for (const char *p = text; p < e; p++)
        if (is_digit(*p))
            digits[n++] = *p;
    digits[n] = '\0';
    for (const char *p = e + 2; is_digit(*p); p++)
        power = 10 * power + (*p - '0');
    return (e[1] == '-' ? -power : power) + 1;
}

/* The next number of as many digits; false after the largest. */
static bool add_one(char *digits)
{
    for (size_t i = strlen(digits); i > 0; i--) {
        if (digits[i - 1] < '9') {
            digits[i - 1]++;
            return true;
        }
        digits[i - 1] = '0';
    }
    return false;
}

/* The fewest digits that are read as this double; so the last one, after others, is not 0. Those nearest to it are not
 * always among them: above a power of two doubles lie further apart than below it, and then the next number up is. */
static int shortest(double real, char digits[DIGITS_ROOM])
{
    int point = 0;

    for (int count = 1; count <= DIGITS; count++) {
        point = take_digits(real, count, digits);
        if (make_real(digits, point - count) == real)
            break;
        if (count < DIGITS && add_one(digits) && make_real(digits, point - count) == real)
            break;
    }
    return point;
}

void chat_real_text(double real, char text[CHAT_REAL_ROOM])
{
    char digits[DIGITS_ROOM];
    const char *sign = signbit(real) ? "-" : "";
    int point, count;

    if (isnan(real) || isinf(real) || real == 0) {
        snprintf(text, CHAT_REAL_ROOM, "%s%s", isnan(real) ? "" : sign,
                 isnan(real) ? "nan"
                 : real == 0 ? "0.0"
                             : "inf");
        return;
    }
    point = shortest(fabs(real), digits);
    count = (int)strlen(digits);
    if (point < -3 || point > 16)
        snprintf(text, CHAT_REAL_ROOM, "%s%c%s%se%c%02d", sign, *digits, count > 1 ? "." : "", digits + 1,
                 point > 0 ? '+' : '-', abs(point - 1));
    else if (point <= 0)
        snprintf(text, CHAT_REAL_ROOM, "%s0.%.*s%s", sign, -point, "000", digits);
    else if (count <= point)
        snprintf(text, CHAT_REAL_ROOM, "%s%s%.*s.0", sign, digits, point - count, "0000000000000000");
    else
        snprintf(text, CHAT_REAL_ROOM, "%s%.*s.%s", sign, point, digits, digits + point);
}
