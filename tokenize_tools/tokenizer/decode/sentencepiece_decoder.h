/*
 * sentencepiece_decoder.h: turns a sentencepiece model's ids back into text, as its own Decode does, except that
 * control tokens are shown by their names.
 */
#ifndef LEAT_TOKENIZER_SENTENCEPIECE_DECODER_H
#define LEAT_TOKENIZER_SENTENCEPIECE_DECODER_H

#include <stdbool.h>

#include "base/buffer.h"
#include "tokenizer/spec/spec.h"

/* All zero at first, except the spec, which must outlive it. */
struct sentencepiece_decoder {
    const struct tokenizer_spec *spec;
    bool after_text;   /* a space at the beginning of a token belongs to the text: it is not the dummy prefix */
    struct buffer run; /* bytes of single-byte tokens in a row */
};

/* Appends what a token stands for. Single bytes are appended when their run ends, since only then is it known what they
 * stand for. */
enum leat_status sentencepiece_decoder_add(struct sentencepiece_decoder *d, const struct spec_token *token,
                                           struct buffer *out, struct leat_error *err);

/* Ends a run of bytes: after the last token. */
enum leat_status sentencepiece_decoder_end(struct sentencepiece_decoder *d, struct buffer *out, struct leat_error *err);

/* Frees what is in it. */
void sentencepiece_decoder_free(struct sentencepiece_decoder *d);

#endif
