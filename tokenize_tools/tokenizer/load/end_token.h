/*
 * end_token.h: finds the token that ends a document, and the one that begins it. The end token is never guessed. It
 * comes from tokenizer_config.json beside the vocabulary; else from a table of vocabularies (by fingerprint) and
 * families (by the ids of their markers); else it is the one token that the post-processor of a tokenizer.json puts
 * after each text; else it is unknown, with candidates for the user to choose.
 *
 * The begin token is the one token that the post-processor puts before each text, unless it puts another token than the
 * end token after it. So a document is the reference's ids of its text, and the end token: Llama, Mistral and Gemma are
 * trained on documents that begin with their begin token, and preprocess_data.py of Megatron writes it, too.
 */
#ifndef LEAT_TOKENIZER_END_TOKEN_H
#define LEAT_TOKENIZER_END_TOKEN_H

#include "base/jsontree.h"
#include "leat.h"
#include "tokenizer/spec/fingerprint.h"
#include "tokenizer/spec/spec.h"

#define END_TOKEN_CANDIDATES 8

struct end_token {
    uint32_t id;    /* SPEC_NONE if unknown */
    uint32_t begin; /* begin token; SPEC_NONE if there is none */
    /* tokens with names of an end token, the likely ones first, if the end token is unknown */
    uint32_t candidates[END_TOKEN_CANDIDATES];
    uint32_t candidate_count;
};

/*
 * Finds both tokens. `config` is the parsed tokenizer_config.json, or NULL. If its "eos_token", a string or an object
 * with "content", names a token that the vocabulary lacks, the end token is unknown.
 */
void end_token_find(struct end_token *out, const struct tokenizer_spec *spec, const uint8_t print[FINGERPRINT_BYTES],
                    const struct jsontree *config);

#endif
