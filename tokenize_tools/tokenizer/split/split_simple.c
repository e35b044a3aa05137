/*
 * split_simple.c: the pre-tokenizers that find characters by kind: Digits, Punctuation, WhitespaceSplit, Whitespace,
 * UnicodeScripts. Whitespace is an expression of Rust's regex crate, the others ask about single characters
 * (char_tests.h).
 */
#include "split.h"
#include "tokenizer/unicode/char_tests.h"

static struct splitter by_character(uint8_t tests, enum split_behavior behavior)
{
    return (struct splitter) { .matcher = SPLIT_BY_CHARACTER, .behavior = behavior, .tests = tests };
}

struct splitter split_digits(bool individual)
{
    return by_character(CHAR_NUMERIC, individual ? SPLIT_ISOLATED : SPLIT_CONTIGUOUS);
}

struct splitter split_punctuation(enum split_behavior behavior)
{
    return by_character(CHAR_PUNCTUATION, behavior);
}

struct splitter split_whitespace(void)
{
    return by_character(CHAR_WHITESPACE, SPLIT_REMOVED);
}

struct splitter split_whitespace_words(void)
{
    return (struct splitter) { .matcher = SPLIT_BY_WORDS, .behavior = SPLIT_REMOVED, .invert = true };
}

struct splitter split_scripts(void)
{
    return (struct splitter) { .matcher = SPLIT_BY_SCRIPT, .behavior = SPLIT_REMOVED };
}
