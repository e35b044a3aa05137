/*
 * engine.h: a tokenizer ready to encode, made from a spec. It never changes; encoder.h does the work.
 */
#ifndef LEAT_TOKENIZER_ENGINE_H
#define LEAT_TOKENIZER_ENGINE_H

#include "decoder.h"
#include "model.h"
#include "normalizer.h"
#include "pretokenizer.h"
#include "sentencepiece_normalizer.h"
#include "spaced.h"
#include "spec.h"
#include "string_finder.h"

struct engine {
    struct tokenizer_spec *spec;
    enum spaced_prefix prefix;     /* SPACED_NOT: texts go through the normalizer and the pre-tokenizer */
    struct tokenizer_spec *spaced; /* else the model's spec */
    struct model *model;
    struct normalizer *normalizer;
    struct sentencepiece_normalizer *sentencepiece; /* NULL but for SPEC_SCORES */
    struct pretokenizer *pretokenizer;
    struct decoder *decoder;
    struct string_finder *raw, *normalized; /* added tokens, by place in spec->added */
};

/* Takes the spec over, also on failure. */
enum leat_status engine_make(struct engine **out, struct tokenizer_spec *spec, struct leat_error *err);
void engine_free(struct engine *e);

#endif
