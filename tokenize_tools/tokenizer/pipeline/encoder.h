/*
 * encoder.h: a thread's own encoder over a pipeline.
 *
 * A text goes through these stations: malformed UTF-8 is repaired or refused; added tokens of raw text cut it into
 * segments; each segment is normalized; added tokens of normalized text cut it again; the rest goes through the
 * pre-tokenizers, and each pretoken through the model. A sentencepiece model only has a normalizer of its own and its
 * own tokens that cut.
 *
 * A text may come in chunks, cut anywhere. Each station passes on the part that later text cannot change, and holds the
 * rest back (held.h). A long text that comes whole goes through in chunks, too, so that no station copies all of it.
 */
#ifndef LEAT_TOKENIZER_ENCODER_H
#define LEAT_TOKENIZER_ENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat_pack.h"

struct pipeline;
struct encoder;

struct encoder_options {
    bool special;        /* true if strings of special tokens in a text become these tokens, not ordinary text */
    bool reject_invalid; /* true if malformed UTF-8 is LEAT_E_TEXT; else it is replaced, as Python does */
    uint64_t max_bytes;  /* memory that grows with the text; encoder_run()'s ids count after encoder_count_ids() */
    uint32_t (*stop)(void *context); /* called per MiB and while expressions take long; nonzero is LEAT_E_STOPPED */
    void *stop_context;
};

/* Makes an encoder. The pipeline must outlive it. */
enum leat_status encoder_make(struct encoder **out, const struct pipeline *e, const struct encoder_options *options,
                              struct leat_error *err);
void encoder_free(struct encoder *e);

/* Encodes a text. The encoder owns *ids until its next call. */
enum leat_status encoder_run(struct encoder *e, const uint8_t *text, size_t bytes, const uint32_t **ids, size_t *count,
                             struct leat_error *err);

/* Encodes the first *done of some texts, as leat_encoder_encode_texts() does. */
enum leat_status encoder_run_texts(struct encoder *e, const struct leat_text *texts, uint64_t count, uint64_t *done,
                                   const uint32_t **ids, uint64_t *counts, struct leat_error *err);

/*
 * Encode a text in chunks: begin, any number of chunks, end. encoder_chunk() takes the first *used bytes of its chunk.
 * Each call gives the ids that later text cannot change. After a failure only a new text can be begun.
 */
void encoder_begin(struct encoder *e);
enum leat_status encoder_chunk(struct encoder *e, const uint8_t *text, size_t bytes, size_t *used, const uint32_t **ids,
                               size_t *count, struct leat_error *err);
enum leat_status encoder_end(struct encoder *e, const uint32_t **ids, size_t *count, struct leat_error *err);

/* Returns the number of strings of special tokens in the last text, so far. */
uint64_t encoder_special_strings(const struct encoder *e);

/* Stops checking texts, which must be valid UTF-8 from now on (encoder_valid.h). */
void encoder_trust(struct encoder *e);

/* Counts encoder_run()'s ids for max_bytes from now on, too (encoder_valid.h). */
void encoder_count_ids(struct encoder *e);

/* Return, for tests, the bytes of memory that are counted now, and the steps that expressions have taken for all texts,
 * except for matches that are too short to count. */
uint64_t encoder_held(const struct encoder *e);
uint64_t encoder_steps(const struct encoder *e);

#endif
