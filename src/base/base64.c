#include "base64.h"

#define NO 255 /* no digit */
/* clang-format off */
static const uint8_t digits[128] = {
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, 62, NO, NO, NO, 63,
    52, 53, 54, 55, 56, 57, 58, 59, 60, 61, NO, NO, NO, NO, NO, NO,
    NO, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
    15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, NO, NO, NO, NO, NO,
    NO, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40,
    41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, NO, NO, NO, NO, NO,
};
/* clang-format on */
#undef NO

/* Returns the value of a digit; at least 64 for any other character, '=' too. */
static inline unsigned digit(uint8_t c)
{
    return c < 128 ? digits[c] : 255u;
}

bool base64_decode(uint8_t *out, size_t *bytes, const uint8_t *text, size_t length)
{
    uint8_t *to = out;

    *bytes = 0;
    if (length == 1 && text[0] == '=')
        return true;
    if (length % 4 != 0)
        return false;
    for (size_t i = 0; i < length; i += 4) {
        unsigned a = digit(text[i]), b = digit(text[i + 1]), c = digit(text[i + 2]), d = digit(text[i + 3]);

        if ((a | b | c | d) < 64) {
            *to++ = (uint8_t)(a << 2 | b >> 4);
            *to++ = (uint8_t)(b << 4 | c >> 2);
            *to++ = (uint8_t)(c << 6 | d);
            continue;
        }
        if (i + 4 != length || (a | b) >= 64 || text[i + 3] != '=' || (c >= 64 && text[i + 2] != '='))
            return false;
        *to++ = (uint8_t)(a << 2 | b >> 4);
        if (c < 64)
            *to++ = (uint8_t)(b << 4 | c >> 2);
    }
    *bytes = (size_t)(to - out);
    return true;
}

void base64_encode(char *out, const uint8_t *from, size_t bytes)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < bytes; i += 3) {
        uint32_t three = (uint32_t)from[i] << 16 | (i + 1 < bytes ? (uint32_t)from[i + 1] << 8 : 0) |
                         (i + 2 < bytes ? from[i + 2] : 0);

        *out++ = letters[three >> 18];
        *out++ = letters[three >> 12 & 63];
        *out++ = i + 1 < bytes ? letters[three >> 6 & 63] : '=';
        *out++ = i + 2 < bytes ? letters[three & 63] : '=';
    }
    *out = '\0';
}
