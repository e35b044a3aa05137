/*
 * engine.h: a tokenizer ready to encode, made from a spec; and a thread's own encoder over it.
 *
 * The way of a text: malformed UTF-8 is repaired or refused; added tokens that are looked for in raw text cut it into
 * segments; each is normalized; added tokens that are looked for in normalized text cut it again; what is left goes
 * through the pre-tokenizers, and each piece through the model.
 */
#ifndef LEAT_TOKENIZER_ENGINE_H
#define LEAT_TOKENIZER_ENGINE_H

#include <stdbool.h>

#include "buffer.h"
#include "model.h"
#include "spec.h"

struct engine;
struct encoder;

/* Takes the spec over, also on failure. */
enum leat_status engine_make(struct engine **out, struct tokenizer_spec *spec, struct leat_error *err);
void engine_free(struct engine *e);

const struct tokenizer_spec *engine_spec(const struct engine *e);
const struct decoder *engine_decoder(const struct engine *e);

struct encoder_options {
    bool special;        /* strings of special tokens in a text become these tokens; else they are ordinary text */
    bool reject_invalid; /* malformed UTF-8 is LEAT_E_TEXT; else it is replaced, as Python does */
    uint64_t most_bytes; /* of memory for one piece that cannot be cut */
};

/* The engine must outlive it. */
enum leat_status encoder_make(struct encoder **out, const struct engine *e, const struct encoder_options *options,
                              struct leat_error *err);
void encoder_free(struct encoder *e);

/* Encodes a text. *ids and *count are the encoder's until its next call. */
enum leat_status encoder_run(struct encoder *e, const uint8_t *text, size_t bytes, const uint32_t **ids, size_t *count,
                             struct leat_error *err);

/* How many strings of special tokens the last text held. */
uint64_t encoder_special_strings(const struct encoder *e);

#endif
