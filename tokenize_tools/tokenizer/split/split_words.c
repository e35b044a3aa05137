/* split_words.c: see split_words.h. */
#include "split_words.h"

#include "tokenizer/unicode/char_tests.h"
#include "tokenizer/unicode/unicode.h"

enum kind { LETTER, SPACE, MARK };

static inline enum kind kind_of(uint32_t c, bool punctuation)
{
    uint8_t tests = char_tests(c);

    return tests & CHAR_WHITESPACE ? SPACE : punctuation && tests & CHAR_PUNCTUATION ? MARK : LETTER;
}

size_t split_words(const uint8_t *text, size_t bytes, bool punctuation, size_t *at, uint32_t *ends, size_t room)
{
    uint8_t kinds[128];
    size_t count = 0, length = 1;
    enum kind before = SPACE;

    for (unsigned c = 0; c < 128; c++)
        kinds[c] = (uint8_t)kind_of(c, punctuation);
    for (size_t i = *at; i < bytes && count < room; i += length) {
        enum kind kind;

        length = 1;
        kind = text[i] < 0x80 ? kinds[text[i]] : kind_of(unicode_decode(text + i, &length), punctuation);
        /* without a branch: about every fifth byte ends a word */
        ends[count] = (uint32_t)i;
        count += (before == MARK || (kind != LETTER && before == LETTER)) && i > *at;
        before = kind;
    }
    if (count > 0)
        *at = ends[count - 1];
    return count;
}

size_t split_words_space(const uint8_t *text, size_t bytes)
{
    size_t at = 0, length;

    while (at < bytes && char_tests(unicode_decode(text + at, &length)) & CHAR_WHITESPACE)
        at += length;
    return at;
}
