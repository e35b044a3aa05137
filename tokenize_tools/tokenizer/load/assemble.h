/*
 * assemble.h: makes one tokenizer.json of vocab.json, merges.txt and the files beside them, for byte-level BPE, as
 * GPT2Tokenizer and Qwen2Tokenizer of transformers 5.23.0 read these files. It encodes a text like the file that these
 * classes write. A dataset stores it, and needs no other file.
 */
#ifndef LEAT_TOKENIZER_ASSEMBLE_H
#define LEAT_TOKENIZER_ASSEMBLE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/jsontree.h"
#include "leat.h"
#include "tokenizer/spec/spec.h"

struct assemble_source {
    const char *path; /* path of vocab.json */
    const uint8_t *bytes;
    uint64_t size;
    const uint8_t *merges; /* merges.txt; NULL if it is missing */
    uint64_t merges_size;
    /* Objects of tokenizer_config.json, special_tokens_map.json and added_tokens.json; NULL if a file is missing. */
    const struct jsontree *config, *map, *added;
    bool qwen2; /* true for the pattern and tokens of Qwen2Tokenizer, false for those of GPT2Tokenizer */
};

/* Appends the file to *json, which the caller frees. Returns LEAT_E_VOCABULARY, LEAT_E_UNSUPPORTED, LEAT_E_NO_FILE
 * (merges.txt is missing) or LEAT_E_NO_MEMORY. */
enum leat_status assemble(struct buffer *json, const struct assemble_source *source, struct leat_error *err);

/* Appends an encoding (load_encoding()) of a loaded *.tiktoken, whose lines are `ranks`, with its special tokens. */
enum leat_status assemble_encoding(struct buffer *json, const struct tokenizer_spec *spec, const uint8_t *ranks,
                                   uint64_t size, struct leat_error *err);

#endif
