/*
 * sentencepiece_normalizer.h: what sentencepiece does to a text before its model sees it: its compiled map, white space
 * (extra ones removed, each written as U+2581, one put before), and its user-defined pieces, which nothing changes.
 */
#ifndef LEAT_TOKENIZER_SENTENCEPIECE_NORMALIZER_H
#define LEAT_TOKENIZER_SENTENCEPIECE_NORMALIZER_H

#include <stdbool.h>

#include "buffer.h"
#include "spec.h"

struct sentencepiece_normalizer;

/* Lies in the buffer that was given. */
struct sentencepiece_text {
    const uint8_t *bytes;
    size_t size;
};

/* `spec` must outlive it. */
enum leat_status sentencepiece_normalizer_make(struct sentencepiece_normalizer **out, const struct tokenizer_spec *spec,
                                               struct leat_error *err);
void sentencepiece_normalizer_free(struct sentencepiece_normalizer *n);

/* Valid UTF-8 in and out. */
enum leat_status sentencepiece_normalizer_run(const struct sentencepiece_normalizer *n, struct buffer *buffer,
                                              const uint8_t *text, size_t bytes, struct sentencepiece_text *out,
                                              struct leat_error *err);

/* The first user-defined piece at or after `from` in a normalized text, and its id. */
bool sentencepiece_next(const struct sentencepiece_normalizer *n, const struct sentencepiece_text *text, size_t from,
                        size_t *start, size_t *end, uint32_t *id);

#endif
