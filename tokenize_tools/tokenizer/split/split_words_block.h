/* split_words_block.h: 64 bytes of a text as masks, bit i for byte i; for split_words.c and split_spaces.c. */
#ifndef LEAT_TOKENIZER_SPLIT_WORDS_BLOCK_H
#define LEAT_TOKENIZER_SPLIT_WORDS_BLOCK_H

#include <stdint.h>

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
