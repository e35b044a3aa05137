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

/* Finds ends of words in text[*at..bytes), at most `room`, and moves *at to the last one. Where the text ends is not an
 * end: that word may go on. Returns their number. */
size_t split_words(const uint8_t *text, size_t bytes, bool punctuation, size_t *at, uint32_t *ends, size_t room);

/* How much white space a text begins with. */
size_t split_words_space(const uint8_t *text, size_t bytes);

/* ---- Metaspace --------------------------------------------------------------------------------------------------- */

/*
 * Writes a chunk of a text with spaces where it has marks. `words`: white space is removed, and each word that does not
 * begin with a mark gets a space; *in_word says whether the chunk goes on with a word, and then whether what follows
 * does. Writes at most bytes + 1 bytes; returns how many.
 */
size_t split_spaces_write(uint8_t *to, const uint8_t *text, size_t bytes, bool words, bool *in_word);

/* Finds the spaces after text[*at], before text[bytes], at most `room`, and moves *at to the last one. Returns their
 * number. */
size_t split_spaces(const uint8_t *text, size_t bytes, size_t *at, uint32_t *places, size_t room);

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* 64 bytes of a text as masks, bit i for byte i. */
struct split_words_block {
    uint64_t high, leads;   /* bytes beyond ASCII, and the first ones of characters among them */
    uint64_t spaces, marks; /* of ASCII: white space, and what BertPreTokenizer takes for punctuation */
};

/* Of text[0..64). */
typedef void split_words_masks(const uint8_t *text, struct split_words_block *out);

/* Which of text[0..64) are U+0020. */
typedef uint64_t split_words_blanks(const uint8_t *text);

struct split_words_kernel {
    split_words_masks *masks;
    split_words_blanks *blanks;
};

/* Those of the fastest level that this CPU has. Constant memory. */
const struct split_words_kernel *split_words_block(void);

#endif
