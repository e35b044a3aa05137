/*
 * records.h: parses and builds the records of an index that are not plain numbers: inputs, the tokenizer, metadata
 * (FORMAT.md). Pure: no files.
 */
#ifndef LEAT_RECORDS_H
#define LEAT_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "leat.h"

struct records_input {
    uint64_t path_offset, path_bytes; /* in the input paths */
    uint64_t bytes, documents, tokens, rejects;
    uint8_t hash[16];
};

void records_store_input(uint8_t out[64], const struct records_input *input);
void records_load_input(struct records_input *input, const uint8_t in[64]);

/* The fixed part of the tokenizer section. False: its sizes do not fit a section of `section_bytes`. */
struct records_tokenizer {
    uint64_t name_bytes, pattern_bytes, file_bytes;
    bool is_file;
};
void records_store_tokenizer(uint8_t out[32], const struct records_tokenizer *t);
bool records_load_tokenizer(struct records_tokenizer *t, const uint8_t in[32], uint64_t section_bytes);

/* Reads the pair at *at of a metadata section, whose bytes are `text`; moves *at past it. False: malformed, or
 * its key is not greater than the one in *pair (whose key is NULL before the first). */
bool records_next_pair(struct leat_metadata_pair *pair, const uint8_t *text, uint64_t bytes, uint64_t *at);

#endif
