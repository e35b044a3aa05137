/*
 * end_token.h: which token ends a document, and which one begins it. Never a guess: what tokenizer_config.json beside
 * the vocabulary says, else what is known of this very vocabulary (by its fingerprint) or of its family (by the ids of
 * its markers), else the one token that the post-processor of a tokenizer.json puts after each text; else unknown, with
 * candidates for the user to choose.
 *
 * Only a post-processor says what begins a document: the one token that it puts before each text, unless it puts
 * another one than the end token after it. So a document is what the reference makes of its text, and the end token:
 * Llama, Mistral and Gemma are trained on documents that begin with their begin token, and preprocess_data.py of
 * Megatron writes it, too.
 */
#ifndef LEAT_TOKENIZER_END_TOKEN_H
#define LEAT_TOKENIZER_END_TOKEN_H

#include "base/jsontree.h"
#include "leat.h"
#include "tokenizer/spec/fingerprint.h"
#include "tokenizer/spec/spec.h"

#define END_TOKEN_CANDIDATES 8

struct end_token {
    uint32_t id;    /* SPEC_NONE: unknown */
    uint32_t begin; /* SPEC_NONE: none */
    /* tokens that are called like an end of document, if unknown; the likely ones first */
    uint32_t candidates[END_TOKEN_CANDIDATES];
    uint32_t candidate_count;
};

/*
 * `config` is the parsed tokenizer_config.json or NULL: its "eos_token", a string or an object with "content", counts
 * if the vocabulary has such a token; if it names one that the vocabulary lacks, the end token is unknown.
 */
void end_token_find(struct end_token *out, const struct tokenizer_spec *spec, const uint8_t print[FINGERPRINT_BYTES],
                    const struct jsontree *config);

#endif
