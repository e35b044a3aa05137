/* test_units.c: numbers as people write them are read exactly or refused; numbers for people look as documented. */
#include "cli/units.h"

#include <math.h>

#include "t.h"

static uint64_t parsed(const char *text, bool bytes)
{
    uint64_t value = 12345;
    const char *why = NULL;

    T_CHECK(units_parse(text, bytes, &value, &why));
    return value;
}

static bool refused(const char *text, bool bytes, const char *reason)
{
    uint64_t value;
    const char *why = "";

    return !units_parse(text, bytes, &value, &why) && strstr(why, reason) != NULL;
}

static void test_parse(void)
{
    T_EQ(parsed("0", false), 0);
    T_EQ(parsed("12", false), 12);
    T_EQ(parsed("007", false), 7);
    T_EQ(parsed("1K", false), 1000);
    T_EQ(parsed("1k", false), 1000);
    T_EQ(parsed("2M", false), 2000000);
    T_EQ(parsed("3G", false), 3000000000u);
    T_EQ(parsed("15T", false), 15000000000000u);
    T_EQ(parsed("1P", false), 1000000000000000u);
    T_EQ(parsed("1Ki", false), 1024);
    T_EQ(parsed("64Mi", false), (uint64_t)64 << 20);
    T_EQ(parsed("2Gi", false), (uint64_t)2 << 30);
    T_EQ(parsed("1Ti", false), (uint64_t)1 << 40);
    T_EQ(parsed("2GiB", true), (uint64_t)2 << 30);
    T_EQ(parsed("2GB", true), 2000000000u);
    T_EQ(parsed("512B", true), 512);
    T_EQ(parsed("512", true), 512);
    T_EQ(parsed("18446744073709551615", false), UINT64_MAX);
    T_EQ(parsed("16383Pi", false), (uint64_t)16383 << 50);
}

static void test_decimals(void)
{
    T_EQ(parsed("1.5G", false), 1500000000u);
    T_EQ(parsed("1.5Ki", false), 1536);
    T_EQ(parsed("0.001K", false), 1);
    T_EQ(parsed("1.000", false), 1);
    T_EQ(parsed("0.5Gi", true), (uint64_t)1 << 29);
    T_EQ(parsed("1.10K", false), 1100);
    T_EQ(parsed("1.0000000000000000000000K", false), 1000);
    T_CHECK(refused("1.5", false, "whole"));
    T_CHECK(refused("1.0001K", false, "whole"));
    T_CHECK(refused("0.1Ki", false, "whole"));
    T_CHECK(refused("1.0000000000000000000001T", false, "whole"));
}

static void test_refusals(void)
{
    static const char *const garbage[] = { "",    " ",     "-1",  "+1",    " 1",   "1 ",  "K",
                                           ".5",  "1.",    "1.K", "1KK",   "1Kib", "1i",  "0x10",
                                           "1e3", "1,000", "1iB", "1.2.3", "B",    "1BB", "1KiBx" };

    for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
        T_CHECK(refused(garbage[i], false, "not a number"));
        T_CHECK(refused(garbage[i], true, "not a number"));
    }
    T_CHECK(refused("1B", false, "not a number"));
    T_CHECK(refused("18446744073709551616", false, "2^64"));
    T_CHECK(refused("99999999999999999999999", false, "2^64"));
    T_CHECK(refused("16384Pi", false, "2^64"));
    T_CHECK(refused("18446744073709551.616K", false, "2^64"));
}

static void test_ranges(void)
{
    uint64_t first, last;
    const char *why;
    bool single;

    T_CHECK(units_parse_range("7", &first, &last, &single, &why));
    T_CHECK(single && first == 7 && last == 8);
    T_CHECK(units_parse_range("3:5", &first, &last, &single, &why));
    T_CHECK(!single && first == 3 && last == 5);
    T_CHECK(units_parse_range("0:1M", &first, &last, &single, &why));
    T_EQ(last, 1000000);
    T_CHECK(units_parse_range("4:", &first, &last, NULL, &why));
    T_CHECK(first == 4 && last == UINT64_MAX);
    T_CHECK(units_parse_range(":4", &first, &last, NULL, &why));
    T_CHECK(first == 0 && last == 4);
    T_CHECK(units_parse_range("5:5", &first, &last, NULL, &why));
    T_CHECK(!units_parse_range("5:4", &first, &last, NULL, &why));
    T_CHECK(!units_parse_range("a:4", &first, &last, NULL, &why));
    T_CHECK(!units_parse_range("1:2:3", &first, &last, NULL, &why));
    T_CHECK(!units_parse_range("-1", &first, &last, NULL, &why));
    T_CHECK(!units_parse_range("", &first, &last, NULL, &why));
    /* of this one it was said that it is larger than itself */
    T_CHECK(!units_parse_range("18446744073709551615", &first, &last, NULL, &why));
    T_STR(why, "is too large; the last number is 2^64 - 2");
    T_CHECK(!units_parse_range("18446744073709551616", &first, &last, NULL, &why));
    T_STR(why, "is larger than 2^64 - 1");
    T_CHECK(units_parse_range("18446744073709551614", &first, &last, NULL, &why) && last == UINT64_MAX);
}

static void test_printing(void)
{
    static const unsigned char hash[3] = { 0x00, 0xab, 0xff };

    T_STR(units_bytes(0).text, "0 bytes");
    T_STR(units_bytes(1).text, "1 byte");
    T_STR(units_bytes(1023).text, "1023 bytes");
    T_STR(units_bytes(1024).text, "1.0 KiB");
    T_STR(units_bytes(1048575).text, "1.0 MiB");
    T_STR(units_bytes(3435973837u).text, "3.2 GiB");
    T_STR(units_bytes(UINT64_MAX).text, "16.0 EiB");
    T_STR(units_count(0).text, "0");
    T_STR(units_count(999).text, "999");
    T_STR(units_count(1000).text, "1,000");
    T_STR(units_count(1234567).text, "1,234,567");
    T_STR(units_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
    T_STR(units_mean(0).text, "0.0");
    T_STR(units_mean(10.25).text, "10.3");
    T_STR(units_mean(2597).text, "2,597.0"); /* leat info gave it without the comma */
    T_STR(units_mean(999.96).text, "1,000.0");
    T_STR(units_mean((double)NAN).text, "-");
    T_STR(units_rate(2.1e9, "B").text, "2.10 GB/s");
    T_STR(units_rate(35e6, "tokens").text, "35.0 M tokens/s");
    T_STR(units_rate(12, "B").text, "12.0 B/s");
    T_STR(units_rate(INFINITY, "B").text, "-");
    T_STR(units_duration(0.5e-9).text, "0.5 ns");
    T_STR(units_duration(850e-6).text, "850 us");
    T_STR(units_duration(3.2).text, "3.2 s");
    T_STR(units_duration(125).text, "2 min 05 s");
    T_STR(units_duration(59.97).text, "1 min 00 s");
    T_STR(units_duration(11400).text, "3 h 10 min");
    T_STR(units_duration(90000).text, "1 d 01 h");
    T_STR(units_duration(NAN).text, "-");
    T_STR(units_share(43, 100).text, "43.0 %");
    T_STR(units_share(1, 0).text, "0.0 %");
    T_STR(units_date(1714564800).text, "2024-05-01T12:00:00Z");
    T_CHECK(strlen(units_date(UINT64_MAX).text) > 0);
    T_STR(units_hex(hash, 3).text, "00abff");
}

int main(void)
{
    test_parse();
    test_decimals();
    test_refusals();
    test_ranges();
    test_printing();
    return t_end();
}
