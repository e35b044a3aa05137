/*
 * split_words.h: BertPreTokenizer and WhitespaceSplit for whole batches: white space is removed, and each punctuation
 * mark stands alone if `punctuation`. Instead of being removed, white space joins the word after it, so that words
 * follow each other without gaps.
 */
#ifndef LEAT_TOKENIZER_SPLIT_WORDS_H
#define LEAT_TOKENIZER_SPLIT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Finds ends of words in text[*at..bytes), at most `room`, and moves *at to the last one. Where the text ends is not an
 * end: that word may go on. Returns their number. */
size_t split_words(const uint8_t *text, size_t bytes, bool punctuation, size_t *at, uint32_t *ends, size_t room);

/* How much white space a text begins with. */
size_t split_words_space(const uint8_t *text, size_t bytes);

#endif
