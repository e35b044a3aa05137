/*
 * by_character.h: normalizers that look at one character at a time, whatever stands around it: StripAccents, and the
 * parts of a BertNormalizer.
 */
#ifndef LEAT_TOKENIZER_BY_CHARACTER_H
#define LEAT_TOKENIZER_BY_CHARACTER_H

#include "base/buffer.h"
#include "tokenizer/spec/spec.h"

/* The length of the prefix that stays as it is: `bytes`, if all of the text does. */
size_t by_character_prefix(enum spec_normalizer_kind kind, const uint8_t *text, size_t bytes);

/* Appends what becomes of a text, valid UTF-8. */
enum leat_status by_character_append(struct buffer *out, enum spec_normalizer_kind kind, const uint8_t *text,
                                     size_t bytes, struct leat_error *err);

#endif
