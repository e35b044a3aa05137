/*
 * split_words.h: pre-tokenizers for whole batches, whose pretokens follow each other without gaps.
 *
 * Words: BertPreTokenizer and WhitespaceSplit. White space is removed, and each punctuation mark stands alone if
 * `punctuation`. Instead of being removed, white space joins the word after it.
 *
 * Metaspace, alone or after WhitespaceSplit, for a model whose tokens are written with spaces for marks
 * (normalize/spaced.h): pretokens begin with the spaces that would be marks.
 */
#ifndef LEAT_TOKENIZER_SPLIT_WORDS_H
#define LEAT_TOKENIZER_SPLIT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Words ------------------------------------------------------------------------------------------------------- */

/* Finds ends of words in text[*at..bytes), at most `room`, and moves *at to the last one. The end of the text is not an
 * end, since its word may go on. Returns their number. */
size_t split_words(const uint8_t *text, size_t bytes, bool punctuation, size_t *at, uint32_t *ends, size_t room);

/* Returns the length of the white space at the beginning of a text. */
size_t split_words_space(const uint8_t *text, size_t bytes);

/* ---- Metaspace --------------------------------------------------------------------------------------------------- */

/*
 * Writes a chunk of a text with spaces in place of marks. With `words`, white space is removed, and each word that does
 * not begin with a mark gets a space; *in_word says whether the chunk begins inside a word, and is set for the next
 * chunk. Writes at most bytes + 1 bytes. Returns their number.
 */
size_t split_spaces_write(uint8_t *to, const uint8_t *text, size_t bytes, bool words, bool *in_word);

/* Finds the spaces after text[*at], before text[bytes], at most `room`, and moves *at to the last one. Returns their
 * number. */
size_t split_spaces(const uint8_t *text, size_t bytes, size_t *at, uint32_t *places, size_t room);

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* 64 bytes of a text as masks, bit i for byte i. */
struct split_words_block {
    uint64_t high, leads;   /* bytes beyond ASCII, and the first ones of characters among them */
    uint64_t spaces, marks; /* ASCII that is white space, and that BertPreTokenizer takes for punctuation */
};

/* Makes the masks of text[0..64). */
typedef void split_words_masks(const uint8_t *text, struct split_words_block *out);

/* Returns a mask of the bytes of text[0..64) that are U+0020. */
typedef uint64_t split_words_blanks(const uint8_t *text);

struct split_words_kernel {
    split_words_masks *masks;
    split_words_blanks *blanks;
};

/* Returns the kernel of the fastest level that this CPU has, in constant memory. */
const struct split_words_kernel *split_words_block(void);

#endif
