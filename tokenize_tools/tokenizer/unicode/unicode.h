/*
 * unicode.h: the classes of code points that tokenizers use. scripts/gen_unicode.py makes the tables (unicode_tables.h)
 * from the reference libraries themselves.
 *
 * The references may differ in a class, and in the version of Unicode: tiktoken's regex engine (Rust) is one *edition*
 * here, Oniguruma inside Hugging Face's tokenizers another, and a tokenizer uses the edition of its file's reference.
 * In the current versions both have the same Unicode and differ only in \w; later ones may differ more.
 *
 * The room unicode/ has tables of characters, and functions that need only them: classes, graphemes, normal forms. It
 * knows no tokenizer.
 */
#ifndef LEAT_TOKENIZER_UNICODE_H
#define LEAT_TOKENIZER_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* Bits of a code point's class. */
enum {
    UNICODE_LU = 1 << 0,
    UNICODE_LL = 1 << 1,
    UNICODE_LT = 1 << 2,
    UNICODE_LM = 1 << 3,
    UNICODE_LO = 1 << 4,
    UNICODE_M = 1 << 5, /* Mn, Mc, Me */
    UNICODE_N = 1 << 6, /* Nd, Nl, No */
    UNICODE_P = 1 << 7,
    UNICODE_S = 1 << 8,
    UNICODE_SPACE = 1 << 9, /* \s */
    UNICODE_HAN = 1 << 10,  /* \p{Han}: the script */
    UNICODE_WORD = 1 << 11, /* \w */
    UNICODE_ND = 1 << 12,   /* \p{Nd} */
    UNICODE_L = UNICODE_LU | UNICODE_LL | UNICODE_LT | UNICODE_LM | UNICODE_LO
};

enum unicode_edition {
    UNICODE_RUST = 0,      /* tiktoken, and the parts of tokenizers that use Rust's own tables */
    UNICODE_ONIGURUMA = 1, /* regular expressions of a tokenizer.json */
    UNICODE_EDITIONS
};

/* A two-step table of classes: class = blocks[index[c >> 8]][c & 255]. */
struct unicode_classes {
    const uint8_t *index; /* [0x1100] */
    const uint16_t (*blocks)[256];
};
extern const struct unicode_classes unicode_classes[UNICODE_EDITIONS];

/* Returns the class bits of a code point; 0 beyond U+10FFFF. */
static inline uint16_t unicode_class(const struct unicode_classes *u, uint32_t c)
{
    return c <= 0x10ffff ? u->blocks[u->index[c >> 8]][c & 255] : 0;
}

/* Returns the code point that begins at text[0], and sets *bytes to its length; text must be valid UTF-8, not at its
 * end. */
static inline uint32_t unicode_decode(const uint8_t *text, size_t *bytes)
{
    uint32_t c = text[0];

    if (c < 0x80) {
        *bytes = 1;
        return c;
    }
    if (c < 0xe0) {
        *bytes = 2;
        return (c & 0x1f) << 6 | (text[1] & 0x3fu);
    }
    if (c < 0xf0) {
        *bytes = 3;
        return (c & 0x0f) << 12 | (text[1] & 0x3fu) << 6 | (text[2] & 0x3fu);
    }
    *bytes = 4;
    return (c & 0x07) << 18 | (text[1] & 0x3fu) << 12 | (text[2] & 0x3fu) << 6 | (text[3] & 0x3fu);
}

/* ---- Tests of single characters ---------------------------------------------------------------------------------- */

/* The tests of characters that Hugging Face's tokenizers does outside of regular expressions. The answers come from
 * Rust's standard library and from tables of an earlier Unicode, so they are not the classes above: for example, a
 * digit of Unicode 17 is numeric here but not \p{N} there, and few recent punctuation marks are known here. */
enum {
    CHAR_NUMERIC = 1 << 0,     /* Digits */
    CHAR_PUNCTUATION = 1 << 1, /* Punctuation, BertPreTokenizer; all of ASCII's, also $ + < = > ^ ` | ~ */
    CHAR_WHITESPACE = 1 << 2,  /* Strip, WhitespaceSplit, BertPreTokenizer */
    CHAR_MARK = 1 << 3,        /* StripAccents */
    CHAR_CONTROL = 1 << 4,     /* BertNormalizer with clean_text drops it */
    CHAR_NONSPACING = 1 << 5   /* BertNormalizer with strip_accents drops it, after NFD */
};

/* Returns the bits of a character; 0 beyond U+10FFFF. */
uint8_t char_tests(uint32_t c);

/* The table of these bits, for loops over characters up to U+10FFFF: bits = blocks[index[c >> 8]][c & 255]. */
struct char_test_table {
    const uint8_t *index;
    const uint8_t (*blocks)[256];
};
extern const struct char_test_table char_test_table;

/* Returns the number of a character's script, as the pre-tokenizer UnicodeScripts has it, to be compared only. It is 0
 * for characters that join any script: a space, and characters without a script. */
uint8_t char_script(uint32_t c);

/* ---- The byte alphabet ------------------------------------------------------------------------------------------- */

/* GPT-2's way to write bytes as printable characters: '!' to '~', U+00A1 to U+00AC and U+00AE to U+00FF stand for
 * themselves, the other 68 bytes, in order, for U+0100 to U+0143. */

#define BYTE_ALPHABET_CODES 0x144u

struct byte_alphabet {
    int16_t byte_of[BYTE_ALPHABET_CODES]; /* bytes by code point; -1 if it is not in the alphabet */
    uint16_t code_of[256];
};

void byte_alphabet_init(struct byte_alphabet *a);

/* Appends bytes as characters of the alphabet. */
enum leat_status byte_alphabet_append(struct buffer *out, const struct byte_alphabet *a, const uint8_t *bytes,
                                      size_t count, struct leat_error *err);

/*
 * Undoes the mapping. `out` has room for `length` bytes; *bytes is set to the number written. Returns false if a
 * character is not in the alphabet; then `out` is half written. `text` is valid UTF-8.
 */
bool byte_alphabet_decode(const struct byte_alphabet *a, uint8_t *out, uint32_t *bytes, const uint8_t *text,
                          uint32_t length);

#endif
