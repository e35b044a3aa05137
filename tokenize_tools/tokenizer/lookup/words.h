/*
 * words.h: models that know words. WordLevel: a word's own token. WordPiece: the longest token that the word begins
 * with, then the longest for what follows, whose tokens are written with a prefix ("##"), and so on; if nothing fits
 * anywhere, or the word has too many characters, the whole word is unknown.
 */
#ifndef LEAT_TOKENIZER_WORDS_H
#define LEAT_TOKENIZER_WORDS_H

#include <stdbool.h>

#include "tokenizer/containers/id_list.h"
#include "tokenizer/spec/spec.h"

struct lookup_batch;
struct words;

/* What WordPiece has in addition to the tokens (spec->model_data). NULL: WordLevel. */
struct words_data {
    uint32_t max_characters; /* a longer word is unknown */
};

/* Where a word stands that comes in chunks. */
struct words_scratch {
    bool too_long; /* and the rest of it does not matter */
    struct lookup_batch *batch;
};

/* The spec outlives it. */
enum leat_status words_make(struct words **out, const struct tokenizer_spec *spec, struct leat_error *err);
void words_free(struct words *m);

enum leat_status words_scratch_make(struct words_scratch **out, size_t cache_bytes, struct leat_error *err);
void words_scratch_free(struct words_scratch *s);

/* As in spec/model.h. */
enum leat_status words_encode(const struct words *m, const uint8_t *text, size_t bytes, struct id_list *out,
                              struct leat_error *err);
enum leat_status words_encode_chunk(const struct words *m, struct words_scratch *s, const uint8_t *text, size_t bytes,
                                    bool begins, bool last, struct id_list *out, size_t *used, struct leat_error *err);

enum leat_status words_encode_batch(const struct words *m, struct words_scratch *s, const uint8_t *text, size_t bytes,
                                    uint32_t begin, const uint32_t *ends, size_t count, struct id_list *out,
                                    struct leat_error *err);

enum leat_status words_encode_after_space(const struct words *m, struct words_scratch *s, const uint8_t *text,
                                          size_t bytes, uint32_t begin, const uint32_t *ends, size_t count,
                                          struct id_list *out, struct leat_error *err);

#endif
