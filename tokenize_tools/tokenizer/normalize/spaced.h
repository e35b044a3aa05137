/*
 * spaced.h: vocabularies that write a space as U+2581 (sentencepiece's way), read with plain spaces. Their normalizers
 * only replace spaces by this mark, and may put one before the text. So a model whose tokens are written with spaces
 * can take the text as it is for the normalized one, and nothing is copied.
 *
 * A mark in the text becomes a space, since the model does not tell the two apart. No text contains a token that holds
 * a space, because normalizing leaves no spaces.
 */
#ifndef LEAT_TOKENIZER_SPACED_H
#define LEAT_TOKENIZER_SPACED_H

#include <stdbool.h>

#include "base/buffer.h"
#include "tokenizer/spec/spec.h"

/* The prefix of a segment. */
enum spaced_prefix {
    SPACED_NOT,    /* the tokenizer is not of this kind */
    SPACED_NONE,   /* no prefix */
    SPACED_ALWAYS, /* a space */
    SPACED_UNLESS, /* a space, unless the segment begins with one */
    SPACED_FIRST   /* a space at the beginning of the text, unless it begins with one */
};

enum spaced_prefix spaced_find(const struct tokenizer_spec *spec);

/* Makes the spec for the model. It has copies of the tokens' texts, and shares the rest with `spec`, which must
 * outlive it. */
enum leat_status spaced_make(struct tokenizer_spec **out, const struct tokenizer_spec *spec, struct leat_error *err);
void spaced_free(struct tokenizer_spec *spaced);

/* Returns true if the text has a mark. */
bool spaced_has_mark(const uint8_t *text, size_t bytes);

/* Appends the text with spaces for marks. */
enum leat_status spaced_replace(struct buffer *out, const uint8_t *text, size_t bytes, struct leat_error *err);

/* Writes a text with spaces for marks. Returns the number of bytes written. */
size_t spaced_put(uint8_t *to, const uint8_t *text, size_t bytes);

/* Returns true if the pre-tokenizers may leave spaces in place of marks (pretokenizer_write_spaces()), because no token
 * has both. */
bool spaced_after_pretokenizer(const struct tokenizer_spec *spec);

/* Returns true if sentencepiece's normalizer may leave spaces in place of marks, because no token has both. */
bool spaced_after_normalizer(const struct tokenizer_spec *spec);

#endif
