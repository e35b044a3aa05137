#include "utf8.h"

#include <stdbool.h>

#include "bytes64.h"

#define SHORT 256

static bool continues(uint8_t b)
{
    return (b & 0xc0) == 0x80;
}

/* Returns true if b may follow this first byte: excludes overlong forms, surrogates and values above U+10FFFF. */
static bool second_fits(uint8_t first, uint8_t b)
{
    switch (first) {
    case 0xe0:
        return b >= 0xa0 && b <= 0xbf;
    case 0xed:
        return b >= 0x80 && b <= 0x9f;
    case 0xf0:
        return b >= 0x90 && b <= 0xbf;
    case 0xf4:
        return b >= 0x80 && b <= 0x8f;
    default:
        return continues(b);
    }
}

/* Returns the length of a character that begins with this byte, which is not ASCII; 0: no character does. */
static size_t length_of(uint8_t first)
{
    if (first < 0xc2 || first > 0xf4)
        return 0;
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

size_t utf8_character(const uint8_t *text, size_t size)
{
    size_t length = length_of(text[0]);

    if (length == 0 || length > size || !second_fits(text[0], text[1]))
        return 0;
    if (length > 2 && !continues(text[2]))
        return 0;
    return length > 3 && !continues(text[3]) ? 0 : length;
}

size_t utf8_malformed_part(const uint8_t *text, size_t size)
{
    size_t length = length_of(text[0]), have = 2;

    if (length == 0 || size < 2 || !second_fits(text[0], text[1]))
        return 1;
    while (have < length && have < size && continues(text[have]))
        have++;
    return have;
}

size_t utf8_valid_prefix_plain(const uint8_t *text, size_t size)
{
    size_t at = 0;

    for (;;) {
        at += utf8_ascii_prefix(text + at, size - at);
        /* after a character that is not ASCII, more of them mostly follow */
        while (at < size && text[at] >= 0x80) {
            size_t length = utf8_character(text + at, size - at);

            if (length == 0)
                return at;
            at += length;
        }
        if (at == size)
            return at;
    }
}

/* Fastest first. The row of words is slower than the plain one on text that is not ASCII. */
static const struct utf8_row rows[] = {
#if defined(__x86_64__)
    { "avx512", CPU_AVX512, utf8_valid_prefix_avx512 },
    { "avx2", CPU_AVX2, utf8_valid_prefix_avx2 },
#elif BYTES64_HAVE_NEON
    { "neon", CPU_PLAIN, utf8_valid_prefix_neon },
#endif
    { "words", CPU_PLAIN, utf8_valid_prefix_words },
    { "plain", CPU_PLAIN, utf8_valid_prefix_plain },
};

const struct utf8_row *utf8_row(size_t number)
{
    return number < sizeof rows / sizeof rows[0] ? &rows[number] : NULL;
}

size_t utf8_valid_prefix(const uint8_t *text, size_t size)
{
    const struct utf8_row *row = rows;
    size_t ascii;

    if (size == 0) /* an empty text may be NULL, and nothing must be added to that */
        return 0;
    /* asking for the CPU pays only for longer texts */
    for (enum cpu_level level = size < SHORT ? CPU_PLAIN : cpu_level(); row->needs > level;)
        row++;
    if (row->needs > CPU_PLAIN)
        return row->valid_prefix(text, size);
    ascii = utf8_ascii_prefix(text, size);
    if (size - ascii < SHORT)
        return ascii + utf8_valid_prefix_plain(text + ascii, size - ascii);
    return ascii + row->valid_prefix(text + ascii, size - ascii);
}

size_t utf8_open_end(const uint8_t *text, size_t size)
{
    for (size_t back = 1; back <= 3 && back <= size; back++) {
        const uint8_t *first = text + size - back;

        if (continues(*first))
            continue;
        return *first >= 0x80 && length_of(*first) > back && utf8_malformed_part(first, back) == back ? back : 0;
    }
    return 0;
}

uint64_t utf8_malformed(const uint8_t *text, size_t size)
{
    uint64_t count = 0;

    for (size_t at = utf8_valid_prefix(text, size); at < size; count++) {
        at += utf8_malformed_part(text + at, size - at);
        at += utf8_valid_prefix(text + at, size - at);
    }
    return count;
}
