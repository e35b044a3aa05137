/*
 * writer_model.h: what a dataset must be after a sequence of writer calls, kept in plain arrays; and comparing it with
 * what can be read of a finished one.
 */
#ifndef LEAT_TESTS_FUZZ_WRITER_MODEL_H
#define LEAT_TESTS_FUZZ_WRITER_MODEL_H

#include <stdint.h>

#include "leat.h"

/* Calls that would go beyond these are not made. */
#define MODEL_TOKENS    150000u
#define MODEL_DOCUMENTS 2000u
#define MODEL_INPUTS    64u
#define MODEL_PAIRS     32u
#define MODEL_TEXT      40u /* of a path, id, key or value */

struct model_document {
    uint64_t start, input, offset, line, id_bytes;
    char id[MODEL_TEXT];
    uint8_t hash[16];
};

struct model_input {
    char path[MODEL_TEXT];
    uint64_t bytes, rejects;
    uint8_t hash[16];
};

struct model_pair {
    char key[MODEL_TEXT], value[MODEL_TEXT];
};

struct model {
    uint32_t tokens[MODEL_TOKENS];
    struct model_document documents[MODEL_DOCUMENTS];
    struct model_input inputs[MODEL_INPUTS];
    struct model_pair pairs[MODEL_PAIRS]; /* in any order */
    uint64_t token_count, document_count, input_count, pair_count;
    uint64_t document_start; /* of the open document or the next one */
    int document_open;
};

/* A copy of what counts of it. */
void model_copy(struct model *to, const struct model *from);

/* The token is put at the end; LEAT_NONE: nothing. */
void model_put(struct model *m, uint64_t token);

/* Ends the open document, or one without a token; begin and end token are the caller's. `origin` may be NULL. */
void model_end_document(struct model *m, const struct leat_origin *origin, const struct leat_writer_options *options);

/* value NULL: removes. */
void model_set_pair(struct model *m, const char *key, const char *value);

/* Everything that can be read is as in the model, and verify finds nothing wrong. Ends the process if not. */
void model_compare(const struct model *m, const struct leat_dataset *d, const struct leat_writer_options *options);

/* Writes the model in the plainest way: whole documents, no checkpoint. */
void model_write(const struct model *m, const char *name, const struct leat_writer_options *options);

#endif
