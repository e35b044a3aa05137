/*
 * decoder.h: from ids back to text. The decoders of a spec work on the tokens' texts one after the other, as in the
 * reference; vocabularies of tiktoken go straight from ids to bytes.
 *
 * The room decode/ turns ids into text, and has nothing that encodes.
 */
#ifndef LEAT_TOKENIZER_DECODER_H
#define LEAT_TOKENIZER_DECODER_H

#include "base/buffer.h"
#include "tokenizer/normalize/normalizer.h"
#include "tokenizer/spec/spec.h"

struct decoder;

/* `spec` must outlive it; `normalizer` is the spec's. */
enum leat_status decoder_make(struct decoder **out, const struct tokenizer_spec *spec,
                              const struct normalizer *normalizer, struct leat_error *err);
void decoder_free(struct decoder *d);

/*
 * Appends the bytes that the ids stand for, special tokens by their names. They need not be valid UTF-8: a text may be
 * cut inside a character. LEAT_E_RANGE names an id that the vocabulary does not have.
 */
enum leat_status decoder_run(const struct decoder *d, const uint32_t *ids, size_t count, struct buffer *out,
                             struct leat_error *err);

#endif
