/*
 * test_parquet_decimal.c: numbers of Parquet as text: the decimal with the fewest digits that is read as the number
 * again. Some are given by hand, all powers of two and random numbers are compared with a search for fewer digits. In
 * nested columns they are as Python prints them.
 */
#include <math.h>

#include "base/bytes.h"
#include "corpus/parquet/value_text.h"
#include "t.h"

static void text_of(bool is_float, double value, bool python, char text[DECIMAL_TEXT])
{
    uint8_t bytes[8];
    float narrow = (float)value;
    uint64_t wide_bits;
    uint32_t bits;

    memcpy(&bits, &narrow, 4);
    memcpy(&wide_bits, &value, 8);
    if (is_float)
        bytes_store32(bytes, bits);
    else
        bytes_store64(bytes, wide_bits);
    (python ? decimal_of_python : decimal_of)(is_float, bytes, text);
}

static size_t digits_of(const char *text)
{
    size_t count = 0, zeros = 0;

    for (const char *at = text; *at && *at != 'e'; at++)
        if (*at >= '0' && *at <= '9') {
            zeros = *at == '0' ? zeros + 1 : 0;
            count++;
        }
    return count > zeros ? count - zeros : 1;
}

/* It is read as the value, and neither neighbour with a digit less is. */
static void check(double value)
{
    char text[DECIMAL_TEXT], shorter[64];
    size_t digits;

    text_of(false, value, false, text);
    T_CHECK(strtod(text, NULL) == value);
    digits = digits_of(text);
    if (digits < 2)
        return;
    for (double toward = -1; toward <= 1; toward += 2) {
        double step = pow(10, floor(log10(fabs(value))) - (double)(digits - 2)) / 2;

        snprintf(shorter, sizeof shorter, "%.*e", (int)digits - 2, value + toward * step);
        if (strtod(shorter, NULL) == value)
            T_FAIL("%s has more digits than %s", text, shorter);
    }
}

/* Numbers of usual sizes are made in integers: as the C library makes them, from few digits to many. */
static void check_usual(bool is_float, double value)
{
    int digits = is_float ? 6 : 15;
    char text[DECIMAL_TEXT], want[DECIMAL_TEXT];

    if (is_float)
        value = (double)(float)value;
    do
        snprintf(want, sizeof want, "%.*e", digits++ - 1, value);
    while (is_float ? strtof(want, NULL) != (float)value : strtod(want, NULL) != value);
    text_of(is_float, value, false, text);
    T_STR(text, want);
}

/* As Python prints them: json.dumps(struct.unpack(...)). */
static void check_python(void)
{
    static const struct {
        bool is_float;
        double value;
        const char *text;
    } known[] = { { false, 0, "0.0" },
                  { false, -0.0, "-0.0" },
                  { false, 3, "3.0" },
                  { false, -2.5, "-2.5" },
                  { false, 0.0001, "0.0001" },
                  { false, 0.00001, "1e-05" },
                  { false, -0.0000123, "-1.23e-05" },
                  { false, 1234567890123456, "1234567890123456.0" },
                  { false, 1e15, "1000000000000000.0" },
                  { false, 1e16, "1e+16" },
                  { false, 12345678901234568, "1.2345678901234568e+16" },
                  { false, 5e-324, "5e-324" },
                  { false, 1.7976931348623157e308, "1.7976931348623157e+308" },
                  { true, 0.1, "0.10000000149011612" },
                  { true, 1e-45, "1.401298464324817e-45" },
                  { true, (double)NAN, "NaN" },
                  { false, (double)-INFINITY, "-Infinity" },
                  { true, (double)INFINITY, "Infinity" } };
    char text[DECIMAL_TEXT];

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        text_of(known[i].is_float, known[i].value, true, text);
        T_STR(text, known[i].text);
    }
}

int main(void)
{
    static const struct {
        bool is_float;
        double value;
        const char *text;
    } known[] = { { false, 0, "0.00000000000000e+00" },
                  { false, -2.5, "-2.50000000000000e+00" },
                  { false, 0.1, "1.00000000000000e-01" },
                  { false, 0.1 + 0.2, "3.0000000000000004e-01" },
                  { false, 5e-324, "5e-324" },
                  { false, 1.7976931348623157e308, "1.7976931348623157e+308" },
                  { false, 6.3866889905111034e+293, "6.386688990511104e+293" },
                  { true, 0.1, "1.00000e-01" },
                  { true, 16777216, "1.6777216e+07" },
                  { true, 1e-45, "1e-45" },
                  { false, (double)NAN, "NaN" },
                  { true, (double)INFINITY, "Infinity" } };
    uint64_t random = t_seed();
    char text[DECIMAL_TEXT];

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        text_of(known[i].is_float, known[i].value, false, text);
        T_STR(text, known[i].text);
    }
    check_python();
    for (int power = -300; power < 300; power++)
        check(ldexp(1, power));
    for (int i = 0; i < 20000; i++)
        check((double)(int64_t)t_random(&random) * 1e-9);
    for (int i = 0; i < 20000; i++) {
        /* of all exponents that are usual, and beside them; and decimals with few digits */
        double some = ldexp(1 + (double)(t_random(&random) >> 12) * 0x1p-52, (int)(t_random(&random) % 70) - 14);

        check_usual(i % 2 == 0, i % 3 == 0 ? -some : some);
        check_usual(i % 2 == 0, (double)(t_random(&random) % 1000000) / 1000);
    }
    return t_end();
}
