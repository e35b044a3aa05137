/*
 * encoder.h: a thread's own encoder over a pipeline.
 *
 * A text takes this way: malformed UTF-8 is repaired or refused; added tokens that are looked for in raw text cut it
 * into segments; each segment is normalized; added tokens that are looked for in normalized text cut it again; the rest
 * goes through the pre-tokenizers, and each pretoken through the model. A sentencepiece model has a normalizer of its
 * own and its own tokens that cut, and nothing else.
 *
 * A text may come in chunks, cut anywhere. Each station passes on what no further text can change and holds the rest
 * back (held.h); a long text that comes whole goes through in chunks, too, so that no station copies all of it.
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
    bool special;        /* strings of special tokens in a text become these tokens; else they are ordinary text */
    bool reject_invalid; /* malformed UTF-8 is LEAT_E_TEXT; else it is replaced, as Python does */
    uint64_t max_bytes;  /* of memory that goes with the text, but encoder_run()'s ids only after encoder_count_ids() */
    uint32_t (*stop)(void *context); /* asked per MiB and while expressions take long; not 0: LEAT_E_STOPPED; or NULL */
    void *stop_context;
};

/* The pipeline must outlive it. */
enum leat_status encoder_make(struct encoder **out, const struct pipeline *e, const struct encoder_options *options,
                              struct leat_error *err);
void encoder_free(struct encoder *e);

/* Encodes a text. *ids and *count are the encoder's until its next call. */
enum leat_status encoder_run(struct encoder *e, const uint8_t *text, size_t bytes, const uint32_t **ids, size_t *count,
                             struct leat_error *err);

/* Encodes the first *done of some texts, as leat_encoder_encode_texts(). */
enum leat_status encoder_run_texts(struct encoder *e, const struct leat_text *texts, uint64_t count, uint64_t *done,
                                   const uint32_t **ids, uint64_t *counts, struct leat_error *err);

/*
 * The same in chunks: begin, any number of chunks, end. encoder_chunk() takes as much of the text as it does at a time,
 * *used; each call gives the ids that have become certain. After a failure only a new text can be begun.
 */
void encoder_begin(struct encoder *e);
enum leat_status encoder_chunk(struct encoder *e, const uint8_t *text, size_t bytes, size_t *used, const uint32_t **ids,
                               size_t *count, struct leat_error *err);
enum leat_status encoder_end(struct encoder *e, const uint32_t **ids, size_t *count, struct leat_error *err);

/* How many strings of special tokens the last text held, so far. */
uint64_t encoder_special_strings(const struct encoder *e);

/* From now on texts are known to be valid UTF-8, and not checked again (encoder_valid.h). */
void encoder_trust(struct encoder *e);

/* From now on max_bytes holds for encoder_run()'s ids, too (encoder_valid.h). */
void encoder_count_ids(struct encoder *e);

/* For tests: bytes of memory that are counted now, and the steps that expressions have taken for all texts, but for
 * matches that are too short to count. */
uint64_t encoder_held(const struct encoder *e);
uint64_t encoder_steps(const struct encoder *e);

#endif
