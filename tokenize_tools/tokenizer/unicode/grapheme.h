/*
 * grapheme.h: grapheme clusters (UAX 29, extended), as Hugging Face's tokenizers finds them.
 *
 * Only clusters of less than six bytes make a difference there (charsmap.h), and rules that cannot affect those are
 * left out: two regional indicators are two clusters here.
 */
#ifndef LEAT_TOKENIZER_GRAPHEME_H
#define LEAT_TOKENIZER_GRAPHEME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns true if the character is plain: there is a boundary between any two plain characters. */
bool grapheme_is_plain(uint32_t c);

/* Returns the length of the cluster that begins at text[0]; text must be valid UTF-8 and not empty. */
size_t grapheme_length(const uint8_t *text, size_t size);

#endif
