/*
 * test_decimal.c: decimals are read exactly or refused, print as what reads back, become integers of the same ratios
 * without a common factor, and cut numbers exactly.
 */
#include "order/decimal.h"
#include "t.h"

static struct decimal parse(const char *text)
{
    struct decimal d = { 0, 0 };
    const char *why = "";

    if (!decimal_parse(text, strlen(text), &d, &why))
        T_FAIL("\"%s\" %s", text, why);
    return d;
}

static void test_parse(void)
{
    static const struct {
        const char *text, *printed;
        uint64_t digits;
        int exponent;
    } good[] = {
        { "0", "0", 0, 0 },
        { "000.000", "0", 0, 0 },
        { "0e-99999", "0", 0, 0 },
        { "1", "1", 1, 0 },
        { "0.50", "0.5", 5, -1 },
        { ".5", "0.5", 5, -1 },
        { "5.", "5", 5, 0 },
        { "1e-9", "0.000000001", 1, -9 },
        { "1E+3", "1000", 1, 3 },
        { "120", "120", 12, 1 },
        { "00012.3400", "12.34", 1234, -2 },
        { "0.001e3", "1", 1, 0 },
        { "100e-2", "1", 1, 0 },
        { "1e30", "1000000000000000000000000000000", 1, 30 },
        { "1e-30", "0.000000000000000000000000000001", 1, -30 },
        { "123456789012345678", "123456789012345678", 123456789012345678, 0 },
        { "0.123456789012345678", "0.123456789012345678", 123456789012345678, -18 },
        { "123456789012345678e-30", "0.000000000000123456789012345678", 123456789012345678, -30 },
        { "1000000000000000000000", "1000000000000000000000", 1, 21 },
    };
    static const struct {
        const char *text, *why;
    } bad[] = {
        { "", "is not a decimal" },
        { ".", "is not a decimal" },
        { "-1", "is not a decimal" },
        { "+1", "is not a decimal" },
        { "1e", "is not a decimal" },
        { "1e+", "is not a decimal" },
        { "1.2.3", "is not a decimal" },
        { "1 ", "is not a decimal" },
        { "0x1", "is not a decimal" },
        { "nan", "is not a decimal" },
        { "1e5x", "is not a decimal" },
        { "1234567890123456789", "more than 18" },
        { "1.0000000000000000001", "more than 18" },
        { "1e31", "beyond 10^30" },
        { "1e-31", "beyond 10^30" },
        { "1e999999999999", "beyond" },
        { "1e-999999999999", "beyond" },
    };

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct decimal d = parse(good[i].text);
        char printed[DECIMAL_TEXT];

        T_EQ(d.digits, good[i].digits);
        T_EQ(d.exponent, good[i].exponent);
        T_STR(decimal_print(d, printed), good[i].printed);
        d = parse(printed);
        T_EQ(d.digits, good[i].digits);
        T_EQ(d.exponent, good[i].exponent);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct decimal d;
        const char *why = "";

        if (decimal_parse(bad[i].text, strlen(bad[i].text), &d, &why) || !strstr(why, bad[i].why))
            T_FAIL("\"%s\": %s", bad[i].text, why);
    }
}

/* Up to four weights; expected sum 0: refused. */
static void check_integers(const char *a, const char *b, const char *c, uint64_t x, uint64_t y, uint64_t z)
{
    struct decimal in[3] = { parse(a), parse(b), parse(c) };
    uint64_t out[3], sum;

    if (!decimal_to_integers(in, 3, (uint64_t)1 << 48, out, &sum)) {
        if (x || y || z)
            T_FAIL("%s, %s, %s: refused, their sum being %" PRIu64, a, b, c, sum);
        return;
    }
    T_EQ(out[0], x);
    T_EQ(out[1], y);
    T_EQ(out[2], z);
    T_EQ(sum, x + y + z);
}

static void test_integers(void)
{
    check_integers("0.5", "0.3", "0.2", 5, 3, 2);
    check_integers("50", "30", "20", 5, 3, 2);
    check_integers("0.6", "0.4", "0", 3, 2, 0);
    check_integers("7", "0", "0", 1, 0, 0);
    check_integers("1e-9", "1", "0", 1, 1000000000, 0);
    check_integers("1e-14", "1", "1", 1, 100000000000000, 100000000000000);
    check_integers("1e-15", "1", "0", 0, 0, 0); /* 10^15 and one: beyond 2^48 */
    check_integers("1e30", "1e30", "2e30", 1, 1, 2);
    check_integers("1e-30", "1e30", "0", 0, 0, 0);
    check_integers("281474976710655", "1", "0", 281474976710655, 1, 0);
    check_integers("281474976710656", "1", "0", 0, 0, 0);
    /* only the common factor brings them below 2^48 */
    check_integers("562949953421312", "281474976710656", "281474976710656e3", 2, 1, 1000);
    check_integers("144115188075855872", "144115188075855872e12", "0", 1, 1000000000000, 0);
}

static void test_shares(void)
{
    uint64_t units;

    T_CHECK(decimal_to_units(parse("1"), &units) && units == DECIMAL_UNIT);
    T_EQ(decimal_share(123456789, units), 123456789);
    T_CHECK(decimal_to_units(parse("0.99"), &units));
    T_EQ(decimal_share(100, units), 99);
    T_EQ(decimal_share(99, units), 98);
    T_EQ(decimal_share((uint64_t)1 << 62, units), 4565569158243114024);
    T_CHECK(decimal_to_units(parse("1e-18"), &units) && units == 1);
    T_CHECK(!decimal_to_units(parse("1e-19"), &units));
    T_CHECK(!decimal_to_units(parse("1.00000000000000001"), &units));
    T_CHECK(!decimal_to_units(parse("1e30"), &units));
}

int main(void)
{
    test_parse();
    test_integers();
    test_shares();
    return t_end();
}
