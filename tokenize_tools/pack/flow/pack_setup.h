/*
 * pack_setup.h: what does not change during a run, for all threads to read; and the one encoder that may take much
 * memory, which they share.
 */
#ifndef LEAT_PACK_SETUP_H
#define LEAT_PACK_SETUP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "corpus/inputs.h"
#include "corpus/record/judge.h"
#include "corpus/streams/byte_stream.h"
#include "leat_pack.h"
#include "mask/token_trace.h"
#include "render/render.h"

struct pack_setup {
    const struct leat_pack_options *options;
    const char *output; /* temporary files lie in its folder */
    const struct leat_tokenizer *tokenizer;
    struct input_list inputs;    /* none for a program that gives its own texts */
    struct record_fields fields; /* that are wanted of each record */
    struct record_judges judges; /* of the records */
    bool look_first;             /* nobody has looked whether the records of the first input have the fields */
    bool only_input;             /* that one is all of the run */
    bool by;                     /* before each id, and a zero byte, stands the value that chooses its dataset */
    bool spans;                  /* records say which stretches of their texts are learned */
    bool chat;                   /* records are conversations, which are rendered so: */
    const struct leat_renderers *renderers;
    const struct render_plan *render_plan;
    struct renderer **first_renderer; /* that was started already; NULL there: a thread has it. Under long_lock */
    bool whole_records;               /* a record is never taken in chunks: it has at most whole_bytes */
    bool special, reject_invalid, allow_binary;
    bool ids_wide; /* four bytes per token, not two */
    bool masks;    /* the dataset stores a mask; then: */
    struct token_texts token_texts;
    unsigned threads;
    struct input_stop stop; /* set by the flow, for all streams and texts */

    /* How memory is divided, by pack_setup_memory(). */
    uint64_t unit_bytes;          /* of text in a unit */
    uint64_t unit_cost;           /* of memory that a unit may come to while it is encoded */
    uint64_t whole_bytes;         /* whatever the bound */
    uint64_t long_bytes;          /* a longer record is taken in chunks */
    uint64_t flight_bytes;        /* of memory for all units */
    uint64_t span_bytes;          /* of text that is decompressed ahead at once */
    uint64_t word_bytes;          /* for what all threads have met */
    uint64_t pretoken_bytes;      /* for a pretoken that cannot be cut, in a thread's own encoder */
    uint64_t long_pretoken_bytes; /* the same in the shared one */
    uint64_t window_bytes;        /* for decompressing the input whose turn it is */
    uint64_t ahead_bytes;         /* that decompressing another may take more while a unit is made of it */
    uint64_t fetch_bytes;         /* for ranges of one object on a server */
    uint64_t long_chat_bytes;     /* for rendering one conversation, and for its text and ids, that needs more */
    uint64_t max_rendered;        /* bytes of a rendered text, whatever the bound */
    struct render_limits render_limits, long_render_limits; /* of a thread's conversations, and of such a one */
    bool grouped;                                           /* the bound is what control groups leave */
    uint64_t bound, held;                                   /* on all of the process, and what it held at first */
    unsigned threads_asked;                                 /* `threads`, before there was too little memory for them */

    pthread_mutex_t long_lock; /* its holder uses these */
    struct leat_encoder *long_encoder, *long_chat_encoder;
};

/* Fills in the fields about memory, for a bound on all of the process. LEAT_E_ARGUMENT if it is too small. */
enum leat_status pack_setup_memory(struct pack_setup *s, uint64_t bound, struct leat_error *err);

/* The same again, once the inputs are known: those on servers are fetched ahead. */
enum leat_status pack_setup_fetching(struct pack_setup *s, struct leat_error *err);

/* LEAT_E_STOPPED if the run is to stop: for what reads an input long without a stream. */
enum leat_status pack_setup_check_stop(const struct pack_setup *s, const char *name, struct leat_error *err);

/* Says that an input needs more than window_bytes to be decompressed, for `what`, and which bound is enough for it. */
enum leat_status pack_setup_refuse(const struct pack_setup *s, const char *name, uint64_t needs, const char *what,
                                   struct leat_error *err);

/* The same for a stream and its window. */
enum leat_status pack_setup_refuse_stream(const struct pack_setup *s, const struct byte_stream *stream,
                                          struct leat_error *err);

/* The same for leat_encoder_options. */
uint32_t pack_setup_stop(void *setup);

/* The shared encoder, made at its first use; long_lock must be held. */
enum leat_status pack_setup_long_encoder(struct pack_setup *s, struct leat_encoder **out, struct leat_error *err);

/* The same, for whole conversations: it finds special tokens. */
enum leat_status pack_setup_long_chat_encoder(struct pack_setup *s, struct leat_encoder **out, struct leat_error *err);

#endif
