/*
 * decoder.h: turns ids back into text. The decoders of a spec work on the tokens' texts one after another, as in the
 * reference; for vocabularies of tiktoken, ids become bytes at once.
 *
 * The room decode/ turns ids into text. Nothing in it encodes.
 */
#ifndef LEAT_TOKENIZER_DECODER_H
#define LEAT_TOKENIZER_DECODER_H

#include "base/buffer.h"
#include "tokenizer/spec/spec.h"

struct decoder;

/* Makes a decoder. `spec` must outlive it, and its added tokens must have the names that the pipeline gives them. */
enum leat_status decoder_make(struct decoder **out, const struct tokenizer_spec *spec, struct leat_error *err);
void decoder_free(struct decoder *d);

/*
 * Appends the bytes of the ids, and special tokens by their names. They need not be valid UTF-8: a text may be cut
 * inside a character. Returns LEAT_E_RANGE for an id that the vocabulary does not have, LEAT_E_VOCABULARY if the file
 * makes far more text of the ids than vocabularies do. The buffer must have no bound of its own.
 */
enum leat_status decoder_run(const struct decoder *d, const uint32_t *ids, size_t count, struct buffer *out,
                             struct leat_error *err);

#endif
