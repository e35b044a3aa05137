/* decoder_internal.h: what decoder.c makes, and the decoders of decoder_steps.c, which work on lists of texts. */
#ifndef LEAT_TOKENIZER_DECODER_INTERNAL_H
#define LEAT_TOKENIZER_DECODER_INTERNAL_H

#include "decoder.h"
#include "tokenizer/containers/text_list.h"
#include "tokenizer/split/matcher.h"
#include "tokenizer/unicode/byte_alphabet.h"

struct decoder {
    const struct tokenizer_spec *spec;
    struct matcher *matchers; /* one a decoder; used by Replace and BPEDecoder */
    struct byte_alphabet alphabet;
    uint32_t *places;              /* of the text of each id in spec->tokens; SPEC_NONE. NULL: ids are searched for */
    uint32_t *added;               /* likewise in spec->added */
    struct charsmap *denormalizer; /* sentencepiece; NULL: none */
};

/* Decoder `i` of the spec: from one list to another, which is empty before. */
enum leat_status decoder_step(const struct decoder *d, uint32_t i, const struct text_list *from, struct text_list *to,
                              struct pattern_steps *steps, struct leat_error *err);

#endif
