/*
 * fingerprint.h: a tokenizer's identity: two with the same fingerprint give the same ids for every text.
 *
 * It is XXH3-128 (seed 0; stored low half first, each half little-endian) over these little-endian numbers and bytes:
 *
 *   "leat tokenizer 1" and a zero byte
 *   u32 model, dialect, byte_level, unknown, byte_fallback, fuse_unknown, ignore_merges   (as in spec.h)
 *   strings unknown_text, continuing_prefix, word_suffix                  (a string: u32 length, then its bytes)
 *   u32 token count; for each token, by id: u32 id, u32 length, u32 type + 256 x foreign; then all tokens' bytes
 *   what the kind of model adds; those of byte pairs (models/byte_pairs.c):
 *       for each score, if the model has scores: u32 bits of the float
 *       u32 merge count; for each: u32 left, right, result
 *     of Unigram (models/unigram.c):
 *       for each token: u32 bits of its score as a float, if the file is sentencepiece's, else u32 low and high half
 *       of the bits of its score as a double
 *     of WordPiece (models/words.c): u32 max_input_chars_per_word; of WordLevel nothing
 *   u32 normalizer count; for each: u32 kind, strip_left, strip_right, regex; strings pattern, content
 *   u32 pre-tokenizer count; for each: u32 kind, behavior, prepend, invert, add_prefix_space, use_regex,
 *       individual_digits, split, regex; strings pattern, replacement
 *   u32 added token count; for each: u32 id, special, single_word, lstrip, rstrip, normalized; string content
 *   u32 add_dummy_prefix (2: after the text), remove_extra_whitespaces, escape_whitespaces; string charsmap
 *
 * Compression, formatting of the JSON, the order of its members, decoders, post-processors and notes do not count.
 * Numbers of spec.h's enums that stand here never change their meaning; a change of this list is a new "tokenizer 2".
 */
#ifndef LEAT_TOKENIZER_FINGERPRINT_H
#define LEAT_TOKENIZER_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

#include "spec.h"

#define FINGERPRINT_BYTES 16

/* Put numbers into the hash, for a model's part of it (struct model_kind). */
struct fingerprint_hash;
void fingerprint_number(struct fingerprint_hash *h, uint32_t number);
void fingerprint_numbers(struct fingerprint_hash *h, const uint32_t *numbers, size_t count);
void fingerprint_floats(struct fingerprint_hash *h, const float *numbers, size_t count); /* their bits */

void fingerprint(uint8_t out[FINGERPRINT_BYTES], const struct tokenizer_spec *spec);

#endif
