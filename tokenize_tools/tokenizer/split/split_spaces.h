/*
 * split_spaces.h: Metaspace, alone or after WhitespaceSplit, for whole batches and a model whose tokens are written
 * with spaces for marks (normalize/spaced.h): pretokens begin with the spaces that would be marks, and follow each
 * other without gaps.
 */
#ifndef LEAT_TOKENIZER_SPLIT_SPACES_H
#define LEAT_TOKENIZER_SPLIT_SPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Writes a chunk of a text with spaces where it has marks. `words`: white space is removed, and each word that does not
 * begin with a mark gets a space; *in_word says whether the chunk goes on with a word, and then whether what follows
 * does. Writes at most bytes + 1 bytes; returns how many.
 */
size_t split_spaces_write(uint8_t *to, const uint8_t *text, size_t bytes, bool words, bool *in_word);

/* Finds the spaces after text[*at], before text[bytes], at most `room`, and moves *at to the last one. Returns their
 * number. */
size_t split_spaces(const uint8_t *text, size_t bytes, size_t *at, uint32_t *places, size_t room);

#endif
