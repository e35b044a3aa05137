/*
 * char_tests.h: tests of single characters in Hugging Face's tokenizers, outside of regular expressions. They come from
 * Rust's standard library and from older tables, so they are not the classes of unicode.h: for example, a digit of
 * Unicode 17 is numeric here but not \p{N} there, and few of the newer punctuation marks are known here.
 */
#ifndef LEAT_TOKENIZER_CHAR_TESTS_H
#define LEAT_TOKENIZER_CHAR_TESTS_H

#include <stdint.h>

enum {
    CHAR_NUMERIC = 1 << 0,     /* Digits */
    CHAR_PUNCTUATION = 1 << 1, /* Punctuation, BertPreTokenizer; all of ASCII's, also $ + < = > ^ ` | ~ */
    CHAR_WHITESPACE = 1 << 2,  /* Strip, WhitespaceSplit, BertPreTokenizer */
    CHAR_MARK = 1 << 3,        /* StripAccents */
    CHAR_CONTROL = 1 << 4,     /* BertNormalizer with clean_text drops it */
    CHAR_NONSPACING = 1 << 5   /* BertNormalizer with strip_accents drops it, after NFD */
};

/* The bits of a character; 0 beyond U+10FFFF. */
uint8_t char_tests(uint32_t c);

/* The same for many characters, all of them up to U+10FFFF: bits = blocks[index[c >> 8]][c & 255]. */
struct char_test_table {
    const uint8_t *index;
    const uint8_t (*blocks)[256];
};
extern const struct char_test_table char_test_table;

/* The script of a character, as the pre-tokenizer UnicodeScripts has it: numbers that can only be compared. 0: it goes
 * with any script, as a space and what no script has. */
uint8_t char_script(uint32_t c);

#endif
