/*
 * lowercase.h: lower case, character for character as Hugging Face's tokenizers computes it, which has Rust's tables.
 * Text must be valid UTF-8.
 */
#ifndef LEAT_TOKENIZER_LOWERCASE_H
#define LEAT_TOKENIZER_LOWERCASE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "leat.h"

/* The length of the prefix that lower case leaves as it is. */
size_t lowercase_prefix(const uint8_t *text, size_t size);

/*
 * Appends the text in lower case: Rust's char::to_lowercase() on each character, so that no character depends on those
 * around it (the final sigma is not treated apart), and U+0130 becomes two.
 */
enum leat_status lowercase_append(struct buffer *out, const uint8_t *text, size_t size, struct leat_error *err);

#endif
