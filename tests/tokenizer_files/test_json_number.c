/*
 * test_json_number.c: numbers of a tokenizer.json (json_number()), bit by bit. The values are those that
 * tokenizers 0.23.3 made of them as scores of a Unigram model: not always the nearest doubles.
 */
#include "t.h"

#include "tokenizer/notation/json_number.h"

int main(void)
{
    static const struct {
        const char *text;
        double value;
        bool accepted;
    } rows[] = {
        { "0", 0x0.0p+0, true },
        { "-0", -0x0.0p+0, true },
        { "-5", -0x1.4000000000000p+2, true },
        { "18446744073709551615", 0x1.0000000000000p+64, true },
        { "18446744073709551616", 0x1.0000000000000p+64, true },
        { "18446744073709551616.5", 0x1.0000000000000p+64, true },
        { "-10.187000274658203", -0x1.45fbe80000000p+3, true },
        { "-3.5890045166015625", -0x1.cb64800000000p+1, true },
        { "-11.512925464970229", -0x1.7069e2aa2aa5bp+3, true },
        { "0.1", 0x1.999999999999ap-4, true },
        { "-7.2057594037927933e-1", -0x1.70ef54646d497p-1, true },
        { "1e308", 0x1.1ccf385ebc8a0p+1023, true },
        { "1.7976931348623157e308", 0x1.fffffffffffffp+1023, true },
        { "4.9e-324", 0x0.0000000000001p-1022, true },
        { "123456789012345678901234567890e-20", 0x1.26580b487e6b7p+30, true },
        { "0.00000000000000000000000000000012345678901234567890123", 0x1.40831c305489bp-103, true },
        { "1e-400", 0x0.0p+0, true },
        { "2E+5", 0x1.86a0000000000p+17, true },
        { "-1.5e-7", -0x1.421f5f40d8376p-23, true },
        { "99999999999999999999.99999999999999999999", 0x1.5af1d78b58c40p+66, true },
        { "1e309", 0, false },
        { "-1e309", 0, false },
        { "1.8e308", 0, false },
        { "1e99999999999", 0, false },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double value = -1;

        T_EQ(json_number((const uint8_t *)rows[i].text, (uint32_t)strlen(rows[i].text), &value), rows[i].accepted);
        if (rows[i].accepted && memcmp(&value, &rows[i].value, sizeof value) != 0)
            T_FAIL("%s: %a instead of %a", rows[i].text, value, rows[i].value);
    }
    return t_end();
}
