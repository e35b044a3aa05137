/*
 * assemble.h: one tokenizer.json of vocab.json, merges.txt and what lies beside them, for byte-level BPE as
 * GPT2Tokenizer and Qwen2Tokenizer of transformers 5.23.0 read these files. It encodes as the file that these classes
 * write (but for pairs of texts); a dataset stores it, and needs no other.
 */
#ifndef LEAT_TOKENIZER_ASSEMBLE_H
#define LEAT_TOKENIZER_ASSEMBLE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/jsontree.h"
#include "leat.h"
#include "tokenizer/spec/spec.h"

struct assemble_source {
    const char *path; /* of vocab.json */
    const uint8_t *bytes;
    uint64_t size;
    const uint8_t *merges; /* merges.txt; NULL: missing */
    uint64_t merges_size;
    /* Objects; NULL: missing. tokenizer_config.json, special_tokens_map.json, added_tokens.json */
    const struct jsontree *config, *map, *added;
    bool qwen2; /* Qwen2Tokenizer's pattern and tokens; else GPT2Tokenizer's */
};

/* Appends the file to *json, which the caller frees. Returns LEAT_E_VOCABULARY, LEAT_E_UNSUPPORTED, LEAT_E_NO_FILE
 * (merges.txt is missing) or LEAT_E_NO_MEMORY. */
enum leat_status assemble(struct buffer *json, const struct assemble_source *source, struct leat_error *err);

/* Appends an encoding (load_encoding()) that says what a loaded *.tiktoken, of which these are the lines, and its
 * special tokens say. */
enum leat_status assemble_encoding(struct buffer *json, const struct tokenizer_spec *spec, const uint8_t *ranks,
                                   uint64_t size, struct leat_error *err);

#endif
