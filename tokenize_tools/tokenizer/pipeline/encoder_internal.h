/*
 * encoder_internal.h: the members of an encoder, for encoder.c and encoder_spaced.c (text for a model with plain
 * spaces) only.
 */
#ifndef LEAT_TOKENIZER_ENCODER_INTERNAL_H
#define LEAT_TOKENIZER_ENCODER_INTERNAL_H

#include "base/tiny.h"
#include "encoder.h"
#include "pipeline.h"
#include "tokenizer/split/cutter.h"

/* Stretches between tokens, and tokens, that are encoded together. */
#define SPANS ((size_t)TINY_OR(3, 512))

struct encoder {
    const struct pipeline *pipeline;
    struct encoder_options options;
    size_t chunk_bytes, cache_bytes;
    struct bound bound;
    struct pattern_steps steps; /* that expressions may still take for this text */
    struct id_list ids;
    struct bound ids_bound; /* of the ids of a whole text */
    bool counts_ids;        /* these count with all else */
    bool trusted;           /* texts are valid UTF-8 */
    bool begun;             /* encoder_chunk() may come */
    uint64_t offset;        /* of `input` in the text */
    struct held input;      /* bytes of a character that is not complete */
    struct buffer repaired;
    struct cutter raw, normalized; /* of sentencepiece's only the second */
    struct normalizer_scratch normalizer;
    struct sentencepiece_state sentencepiece;
    struct pretokenizer_scratch *pretokenizer;
    struct held pretoken; /* of a pretoken that comes in chunks, what cannot be cut */
    bool pretoken_cut;    /* and something of it has been encoded */
    bool spaced_begun;    /* something of a segment has come that is not normalized (spaced.h) */
    struct buffer spaced;
    const uint8_t *run; /* stretches of text and tokens that follow each other, to be encoded together */
    size_t run_bytes, span_count;
    struct model_span spans[SPANS];
    void *model; /* its scratch */
};

/* ---- encoder.c ---- */

/* Takes a pretoken, or its next chunk. */
enum leat_status encoder_take_pretoken(struct encoder *e, const uint8_t *text, size_t bytes, bool last,
                                       struct leat_error *err);

/* ---- encoder_spaced.c ---- */

/* Takes a segment as it stands in the text, or its next chunk. */
enum leat_status encoder_take_spaced(struct encoder *e, const uint8_t *text, size_t bytes, bool first, bool last,
                                     struct leat_error *err);

/* A text, or a chunk of it. Where nothing comes before segments, they and the tokens between them are encoded many at a
 * time. */
enum leat_status encoder_take_runs(struct encoder *e, const uint8_t *text, size_t bytes, bool last,
                                   struct leat_error *err);

#endif
