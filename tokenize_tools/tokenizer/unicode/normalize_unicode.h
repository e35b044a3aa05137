/*
 * normalize_unicode.h: the four normal forms of Unicode (UAX 15), and lower case, as Hugging Face's tokenizers computes
 * them, with the tables of its libraries: normal forms with those of Unicode 9.0, so that marks and composed characters
 * of later editions do not change; lower case with Rust's.
 *
 * For both, one function says how much of the text does not change: if that is all of it, nothing need be copied. The
 * other appends the changed text to a buffer. Both take time in proportion to the text, and no memory except the
 * buffer's. Text must be valid UTF-8.
 */
#ifndef LEAT_TOKENIZER_NORMALIZE_UNICODE_H
#define LEAT_TOKENIZER_NORMALIZE_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "leat.h"

enum normalize_form { NORMALIZE_NFC, NORMALIZE_NFD, NORMALIZE_NFKC, NORMALIZE_NFKD, NORMALIZE_FORMS };

/*
 * Returns the length of a prefix that is in the form already and ends at a boundary: normalizing the rest alone gives
 * the rest of the normalized text. It is `size` only if all of the text is in the form; in rare cases it is smaller
 * then, too.
 */
size_t normalize_prefix(enum normalize_form form, const uint8_t *text, size_t size);

/* Appends the text in the form. On failure (LEAT_E_NO_MEMORY) part of it may have been appended. */
enum leat_status normalize_append(struct buffer *out, enum normalize_form form, const uint8_t *text, size_t size,
                                  struct leat_error *err);

/* Returns true if a text may be cut before this character, so that the parts' normal forms make up that of the
 * whole. */
bool normalize_boundary_before(enum normalize_form form, uint32_t c);

/*
 * Sets *bytes to how many bytes at the beginning of the text's form come from its first `first` bytes, as the
 * reference counts it: the characters of a decomposition that move after others stand with the character before
 * them, and a composed character stands where the first of its characters does. `bound`, for its memory, may be
 * NULL.
 */
enum leat_status normalize_first(size_t *bytes, enum normalize_form form, const uint8_t *text, size_t size,
                                 size_t first, struct bound *bound, struct leat_error *err);

/* ---- Lower case -------------------------------------------------------------------------------------------------- */

/* Returns the length of the prefix that lower case leaves as it is. */
size_t lowercase_prefix(const uint8_t *text, size_t size);

/*
 * Appends the text in lower case: Rust's char::to_lowercase() on each character, so that no character depends on those
 * around it (the final sigma is not treated apart), and U+0130 becomes two.
 */
enum leat_status lowercase_append(struct buffer *out, const uint8_t *text, size_t size, struct leat_error *err);

#endif
