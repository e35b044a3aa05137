/*
 * normalize_blocks.h: the quick check of normalize_unicode.h for 64 bytes at a time. For NFC, vectors find most inert
 * characters by boxes (char_boxes.h, normalize_boxes.h); for other forms, and without vectors, each character beyond
 * ASCII is looked at.
 */
#ifndef LEAT_TOKENIZER_NORMALIZE_BLOCKS_H
#define LEAT_TOKENIZER_NORMALIZE_BLOCKS_H

#include "base/bytes64.h"
#include "base/cpu.h"
#include "normalize_unicode.h"
#include "unicode.h"

/* A text, and the state of the check at a place in it. */
struct normal_check {
    const uint8_t *index; /* index of words of characters (normalize_tables.h) */
    const uint16_t (*blocks)[256];
    const uint8_t *inert; /* inert characters by their first bytes */
    unsigned odd;         /* bits that words of inert characters lack */
    enum normalize_form form;
    const uint8_t *text;
    size_t size;
    size_t marks_end;    /* end of the last marks */
    unsigned last_class; /* class of the last of these marks */
    uint32_t starter;    /* character before these marks */
};

/* Returns true if a character that is not inert, and all before it, do not change. Called for all characters that are
 * not inert, in their order. */
bool normal_look(struct normal_check *k, size_t at, uint32_t c, size_t bytes, unsigned word);

/* Returns true if the character at `at`, and all before it, do not change. Sets *bytes to its length. */
BYTES_INLINE bool normal_stays(struct normal_check *k, size_t at, size_t *bytes)
{
    uint32_t c = unicode_decode(k->text + at, bytes);
    unsigned word = k->blocks[k->index[c >> 8]][c & 255];

    return !(word & k->odd) || normal_look(k, at, c, *bytes, word);
}

/* Checks whole blocks of the text from *at on. Returns false if the character at *at changes; else the check goes on
 * with the first character that begins at *at or later. */
typedef bool normal_run(struct normal_check *k, size_t *at);

extern normal_run normalize_blocks_avx512, normalize_blocks_avx2, normalize_blocks_neon, normalize_blocks_words;

struct normal_row {
    const char *name;
    enum cpu_level needs;
    normal_run *blocks; /* NULL for the plain row, which goes character by character, and defines the right answer */
};

/* Returns row `number`, fastest first; the last is the plain one. NULL past it. */
const struct normal_row *normal_row(size_t number);

/* Does what normalize_prefix() does, by a row. */
size_t normal_row_prefix(const struct normal_row *row, enum normalize_form form, const uint8_t *text, size_t size);

#endif
