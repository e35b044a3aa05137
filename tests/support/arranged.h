/*
 * arranged.h: what leat_merge() must make of datasets, in the plainest way: all documents in arrays, equal texts found
 * by comparing each with all before it, fractions as 128-bit products, qsort. Written by the writer, so that bytes can
 * be compared.
 */
#ifndef LEAT_TESTS_ARRANGED_H
#define LEAT_TESTS_ARRANGED_H

#include "leat_pack.h"

struct arranged_document {
    uint32_t *ids; /* without begin and end token */
    uint8_t *mask; /* of these; NULL: none is stored */
    uint64_t count, input, offset, line, id_bytes, key, number;
    char *id;
    uint8_t hash[16];
};

struct arranged_input {
    struct leat_input facts;
    char *path;
};

/* A dataset in memory. Metadata is the caller's business. */
struct arranged {
    struct leat_writer_options options;
    struct leat_stored_tokenizer *tokenizer;
    uint8_t fingerprint[16];
    struct arranged_document *documents;
    uint64_t document_count;
    struct arranged_input *inputs;
    uint64_t input_count;
};

/* Appends all that a dataset (or list) holds to what there is, call by call for each document. */
void arranged_load(struct arranged *a, const char *name);
void arranged_free(struct arranged *a);

/* Returns how many went. */
uint64_t arranged_dedup(struct arranged *a);

/* Writes a dataset once more by the writer, all that it holds. */
void arranged_again(const char *name, const char *from);

/* Writes the documents whose hash falls to split `which` (count: the rest; no splits: all), shuffled if `seed` is not
 * NULL, with these pairs of metadata (key, value, ..., NULL). */
void arranged_write(const struct arranged *a, const char *name, const struct leat_split *splits, size_t count,
                    size_t which, const uint64_t *seed, const char *const *pairs);

#endif
