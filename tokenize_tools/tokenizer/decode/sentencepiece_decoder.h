/*
 * sentencepiece_decoder.h: from a sentencepiece model's ids back to text, as its own Decode does, but that control
 * pieces are shown by their names.
 */
#ifndef LEAT_TOKENIZER_SENTENCEPIECE_DECODER_H
#define LEAT_TOKENIZER_SENTENCEPIECE_DECODER_H

#include <stdbool.h>

#include "base/buffer.h"
#include "tokenizer/spec/spec.h"

/* Zeroed at first, but for the spec, which must outlive it. */
struct sentencepiece_decoder {
    const struct tokenizer_spec *spec;
    bool after_text;   /* a space at the beginning of a piece is part of the text, not the one put before it */
    struct buffer run; /* bytes of single-byte pieces in a row */
};

/* Appends what a token stands for; what single bytes stand for is known, and appended, when their run ends. */
enum leat_status sentencepiece_decoder_add(struct sentencepiece_decoder *d, const struct spec_token *token,
                                           struct buffer *out, struct leat_error *err);

/* Ends a run of bytes: after the last token. */
enum leat_status sentencepiece_decoder_end(struct sentencepiece_decoder *d, struct buffer *out, struct leat_error *err);

/* Frees what is in it. */
void sentencepiece_decoder_free(struct sentencepiece_decoder *d);

#endif
