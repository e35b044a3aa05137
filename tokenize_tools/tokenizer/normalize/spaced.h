/*
 * spaced.h: vocabularies that write a space as U+2581 (sentencepiece's way), read with plain spaces. Their normalizers
 * do nothing but put the mark where spaces are, and perhaps one before the text; so the text itself, as it is, can be
 * taken for the normalized one by a model whose tokens are written with spaces: nothing need be copied.
 *
 * A mark that stands in the text becomes a space, which it then is for the model too. Tokens that hold a space are not
 * met in any text, since normalizing leaves none.
 */
#ifndef LEAT_TOKENIZER_SPACED_H
#define LEAT_TOKENIZER_SPACED_H

#include <stdbool.h>

#include "base/buffer.h"
#include "tokenizer/spec/spec.h"

/* What comes before a segment. */
enum spaced_prefix {
    SPACED_NOT,    /* the tokenizer is not of this kind */
    SPACED_NONE,   /* nothing */
    SPACED_ALWAYS, /* a space */
    SPACED_UNLESS, /* a space, unless it begins with one */
    SPACED_FIRST   /* the same, but only at the beginning of the text */
};

enum spaced_prefix spaced_find(const struct tokenizer_spec *spec);

/* The spec for the model: the tokens' texts are its own, all else is `spec`'s, which must outlive it. */
enum leat_status spaced_make(struct tokenizer_spec **out, const struct tokenizer_spec *spec, struct leat_error *err);
void spaced_free(struct tokenizer_spec *spaced);

/* Whether a mark stands in the text. */
bool spaced_has_mark(const uint8_t *text, size_t bytes);

/* Appends the text with spaces for marks. */
enum leat_status spaced_replace(struct buffer *out, const uint8_t *text, size_t bytes, struct leat_error *err);

#endif
