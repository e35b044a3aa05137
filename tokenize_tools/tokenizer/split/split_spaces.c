/* split_spaces.c: see split_spaces.h. */
#include "split_spaces.h"

#include <string.h>

#include "split_words_block.h"
#include "tokenizer/spec/spec.h"
#include "tokenizer/unicode/char_tests.h"
#include "tokenizer/unicode/unicode.h"

/* First bytes of characters that may be white space or a mark. */
static bool is_odd(uint8_t byte, bool words)
{
    return byte == (uint8_t)SPEC_MARK[0] || (words && (byte <= ' ' || (byte >= 0xc2 && byte <= 0xe3)));
}

static bool is_space(const uint8_t *text, size_t *length)
{
    return (char_tests(unicode_decode(text, length)) & CHAR_WHITESPACE) != 0;
}

static bool is_mark(const uint8_t *text, size_t bytes)
{
    return bytes >= SPEC_MARK_BYTES && memcmp(text, SPEC_MARK, SPEC_MARK_BYTES) == 0;
}

/* Copies what comes before the next byte that a mark begins with; moves *at there. */
static uint8_t *put_unmarked(uint8_t *to, const uint8_t *text, size_t bytes, size_t *at)
{
    const uint8_t *found = memchr(text + *at, (uint8_t)SPEC_MARK[0], bytes - *at);
    size_t count = found ? (size_t)(found - text) - *at : bytes - *at;

    memcpy(to, text + *at, count);
    *at += count;
    return to + count;
}

size_t split_spaces_write(uint8_t *to, const uint8_t *text, size_t bytes, bool words, bool *in_word)
{
    uint8_t *begin = to;
    bool odd[256];

    for (unsigned b = 0; b < 256; b++)
        odd[b] = is_odd((uint8_t)b, words);
    for (size_t at = 0, length; at < bytes;) {
        bool mark;

        if (!words)
            to = put_unmarked(to, text, bytes, &at);
        for (; at < bytes && !odd[text[at]] && (*in_word || !words); at++)
            *to++ = text[at];
        if (at == bytes)
            break;
        mark = is_mark(text + at, bytes - at);
        if (words && is_space(text + at, &length)) {
            *in_word = false;
            at += length;
            continue;
        }
        if (mark || (words && !*in_word))
            *to++ = ' ';
        *in_word = true;
        if (mark)
            at += SPEC_MARK_BYTES;
        else
            *to++ = text[at++];
    }
    return (size_t)(to - begin);
}

size_t split_spaces(const uint8_t *text, size_t bytes, size_t *at, uint32_t *places, size_t room)
{
    split_words_blanks *blanks = split_words_block()->blanks;
    size_t count = 0, i = *at + 1;

    for (; i < bytes && bytes - i >= 64 && count < room; i += 64)
        for (uint64_t found = blanks(text + i); found && count < room; found &= found - 1)
            places[count++] = (uint32_t)i + (uint32_t)__builtin_ctzll(found);
    /* without a branch: about every sixth byte is a space */
    for (; i < bytes && count < room; i++) {
        places[count] = (uint32_t)i;
        count += text[i] == ' ';
    }
    if (count > 0)
        *at = places[count - 1];
    return count;
}
