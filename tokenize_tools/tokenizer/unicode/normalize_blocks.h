/*
 * normalize_blocks.h: the quick check of normalize_unicode.h for 64 bytes at a time. For NFC, vectors tell most inert
 * characters by boxes (char_boxes.h, normalize_boxes.h); of other forms, and with words for vectors, each character
 * beyond ASCII is looked at.
 */
#ifndef LEAT_TOKENIZER_NORMALIZE_BLOCKS_H
#define LEAT_TOKENIZER_NORMALIZE_BLOCKS_H

#include "base/bytes64.h"
#include "base/cpu.h"
#include "normalize_unicode.h"
#include "unicode.h"

/* A text, and what the check knows at a place in it. */
struct normal_check {
    const uint8_t *index; /* to words of characters (normalize_tables.h) */
    const uint16_t (*blocks)[256];
    const uint8_t *inert; /* by first bytes */
    unsigned odd;         /* bits that words of inert characters lack */
    enum normalize_form form;
    const uint8_t *text;
    size_t size;
    size_t marks_end;    /* where the last marks end */
    unsigned last_class; /* of them */
    uint32_t starter;    /* before them */
};

/* Whether this character, which is not inert, and those before it stay as they are. All that are not inert must be
 * asked for in their order. */
bool normal_look(struct normal_check *k, size_t at, uint32_t c, size_t bytes, unsigned word);

/* The same for any; *bytes is its length. */
BYTES_INLINE bool normal_stays(struct normal_check *k, size_t at, size_t *bytes)
{
    uint32_t c = unicode_decode(k->text + at, bytes);
    unsigned word = k->blocks[k->index[c >> 8]][c & 255];

    return !(word & k->odd) || normal_look(k, at, c, *bytes, word);
}

/* Checks the text from *at on, as far as there are blocks. False: the character at *at does not stay. Else the check
 * goes on with the first character that begins at *at or later. */
typedef bool normal_run(struct normal_check *k, size_t *at);

extern normal_run normalize_blocks_avx512, normalize_blocks_avx2, normalize_blocks_neon, normalize_blocks_words;

struct normal_row {
    const char *name;
    enum cpu_level needs;
    normal_run *blocks; /* NULL: character by character, which defines the right answer */
};

/* Fastest first; the last is the plain one. NULL past it. */
const struct normal_row *normal_row(size_t number);

/* normalize_prefix() by a row. */
size_t normal_row_prefix(const struct normal_row *row, enum normalize_form form, const uint8_t *text, size_t size);

#endif
