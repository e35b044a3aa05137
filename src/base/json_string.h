/* json_string.h: single escapes of JSON strings, and the numbers in them. */
#ifndef LEAT_BASE_JSON_STRING_H
#define LEAT_BASE_JSON_STRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bytes.h"
#include "utf8.h"

static const char json_letters[] = "\"\\/bfnrt", json_meanings[] = "\"\\/\b\f\n\r\t";

/* Returns the character that a backslash and this letter stand for; 0 for u, and for a letter that forms no escape. */
static inline char json_escape_meaning(char letter)
{
    const char *found = letter ? strchr(json_letters, letter) : NULL;

    return found ? json_meanings[found - json_letters] : 0;
}

/* Returns the letter that stands for a character after a backslash; 0 if none does. */
static inline char json_escape_letter(char meaning)
{
    const char *found = meaning ? strchr(json_meanings, meaning) : NULL;

    return found ? json_letters[found - json_meanings] : 0;
}

/* White space as RFC 8259 defines it. */
static inline bool json_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static inline bool json_is_hex(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* Returns the number that four hexadecimal digits write, decoding all four at once. They must be digits. */
static inline uint32_t json_four_digits(const char *p)
{
    uint32_t c = bytes_load32(p); /* the first digit lowest */
    uint32_t v = (c & 0x0f0f0f0fu) + 9 * (c >> 6 & 0x01010101u);

    v = (v << 4 | v >> 8) & 0x00ff00ffu; /* pairs of digits, in bytes 0 and 2 */
    return (v << 8 | v >> 16) & 0xffffu;
}

/* Returns the code point of the escape \u (or of two, a surrogate pair) at *p, which is valid and ends before `end`,
 * and passes over it. U+FFFD for a surrogate that is not part of a pair. */
static inline uint32_t json_take_code(const char **p, const char *end)
{
    uint32_t code = json_four_digits(*p + 2), low;

    *p += 6;
    if (code < 0xd800 || code > 0xdfff)
        return code;
    if (code <= 0xdbff && end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u') {
        low = json_four_digits(*p + 2);
        if (low >= 0xdc00 && low <= 0xdfff) {
            *p += 6;
            return 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00));
        }
    }
    return 0xfffd;
}

/* Passes over a character of a string or an escape, which is valid, and writes its bytes, four at most; returns how
 * many. */
static inline size_t json_take_bytes(const char **p, const char *end, char *out)
{
    const char *at = *p;

    if (*at == '\\' && at[1] == 'u')
        return utf8_encode((uint8_t *)out, json_take_code(p, end));
    *out = *at == '\\' ? json_escape_meaning(at[1]) : *at;
    *p += 1 + (*at == '\\');
    return 1;
}

#endif
