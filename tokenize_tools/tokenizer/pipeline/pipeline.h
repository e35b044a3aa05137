/*
 * pipeline.h: a tokenizer ready to encode, made from a spec. It never changes; encoder.h does the work.
 *
 * The room pipeline/ puts the stations of a text together: the tokenizer, encoder and decoder of leat_pack.h. A
 * station itself belongs to its own room.
 *
 * A *pipeline* is the stations of a text in a tokenizer: normalizer, pre-tokenizer, model.
 */
#ifndef LEAT_TOKENIZER_PIPELINE_H
#define LEAT_TOKENIZER_PIPELINE_H

#include "tokenizer/decode/decoder.h"
#include "tokenizer/normalize/normalizer.h"
#include "tokenizer/normalize/sentencepiece_normalizer.h"
#include "tokenizer/normalize/spaced.h"
#include "tokenizer/spec/model.h"
#include "tokenizer/spec/spec.h"
#include "tokenizer/split/pretokenizer.h"
#include "tokenizer/split/string_finder.h"

struct pipeline {
    struct tokenizer_spec *spec;
    enum spaced_prefix prefix;     /* SPACED_NOT if texts go through the normalizer and the pre-tokenizer */
    struct tokenizer_spec *spaced; /* the model's spec, if it is written with spaces; else NULL */
    struct model *model;
    struct normalizer *normalizer;
    struct sentencepiece_normalizer *sentencepiece; /* NULL unless SPEC_SENTENCEPIECE */
    struct pretokenizer *pretokenizer;
    struct decoder *decoder;
    struct string_finder *raw, *normalized; /* added tokens, by place in spec->added */
};

/* Makes a pipeline, which takes the spec over, also on failure. */
enum leat_status pipeline_make(struct pipeline **out, struct tokenizer_spec *spec, struct leat_error *err);
void pipeline_free(struct pipeline *e);

#endif
