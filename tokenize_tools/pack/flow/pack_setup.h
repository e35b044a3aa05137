/* pack_setup.h: the setup of a run, which does not change while it runs, for all threads to read; and the one
 * encoder that may take much memory, which they share. */
#ifndef LEAT_PACK_SETUP_H
#define LEAT_PACK_SETUP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "corpus/inputs.h"
#include "corpus/record/column_spec.h"
#include "corpus/record/judge.h"
#include "corpus/streams/byte_stream.h"
#include "leat_pack.h"
#include "mask/token_trace.h"
#include "render/render.h"

struct pack_setup {
    const struct leat_pack_options *options;
    const char *output; /* path of the output, in whose folder temporary files lie */
    const struct leat_tokenizer *tokenizer;
    struct input_list inputs;    /* inputs; none for a program that gives its own texts */
    struct record_fields fields; /* fields that are wanted of each record */
    struct record_judges judges; /* of the records */
    struct column_specs columns; /* that documents bring values for */
    bool look_first;             /* true if nobody has looked whether the records of the first input have the fields */
    bool only_input;             /* true if the run has only this input */
    bool by;                     /* true if the value that chooses a document's dataset, and a zero byte, stand
                                    before its id */
    bool spans;                  /* true if records say which stretches of their texts are learned */
    bool chat;                   /* true if records are conversations; the two members below render them */
    const struct leat_renderers *renderers;
    const struct render_plan *render_plan;
    struct renderer **first_renderer; /* a renderer that was started already; NULL after a thread has taken it; under
                                         long_lock */
    bool pairs;                       /* true if records are pairs of a prompt and its completion */
    uint64_t max_tokens;              /* most tokens of a document, without begin and end token; 0: no limit */
    bool splits;                      /* true if a longer conversation becomes several */
    bool whole_records;               /* true if a record is never taken in chunks: then it has at most whole_bytes */
    bool special, reject_invalid, allow_binary;
    bool ids_wide; /* true if tokens have four bytes, false if they have two */
    bool masks;    /* true if the dataset stores a mask, for which token_texts is needed */
    struct token_texts token_texts;
    unsigned threads;
    struct input_stop stop; /* set by the flow, for all streams and texts */

    /* How pack_setup_memory() divides the memory. */
    uint64_t unit_bytes;          /* bytes of text in a unit */
    uint64_t unit_cost;           /* memory that a unit may take while it is encoded */
    uint64_t whole_bytes;         /* whatever the bound */
    uint64_t long_bytes;          /* bytes of a record above which it is taken in chunks */
    uint64_t flight_bytes;        /* memory for all units */
    uint64_t span_bytes;          /* bytes of text that are decompressed ahead at once */
    uint64_t word_bytes;          /* memory for the pretokens that all threads have met */
    uint64_t pretoken_bytes;      /* memory in a thread's own encoder for a pretoken that cannot be cut */
    uint64_t long_pretoken_bytes; /* memory in the shared encoder for such a pretoken */
    uint64_t window_bytes;        /* memory for decompressing the input whose turn it is */
    uint64_t ahead_bytes;         /* memory that decompressing another input may take in addition while a unit is
                                     made of it */
    uint64_t fetch_bytes;         /* memory for ranges of one object on a server */
    uint64_t long_chat_bytes;     /* memory for a conversation that needs more than a thread has: for rendering it,
                                     and for its text and ids */
    uint64_t max_rendered;        /* limit of a rendered text in bytes, whatever the bound */
    struct render_limits render_limits, long_render_limits; /* limits of a thread's conversations, and of one that
                                                               needs more */
    bool grouped;                                           /* true if control groups set the bound */
    uint64_t bound, held;                                   /* bound on the memory of the process, and what the
                                                               process held at first */
    unsigned threads_asked;                                 /* number of threads that was asked for, before memory
                                                               limited it */

    pthread_mutex_t long_lock; /* held while the members below are used */
    struct leat_encoder *long_encoder, *long_chat_encoder;
};

/* Sets the members about memory, for a bound on the memory of the process. Returns LEAT_E_ARGUMENT if it is too
 * small. */
enum leat_status pack_setup_memory(struct pack_setup *s, uint64_t bound, struct leat_error *err);

/* Divides the memory again once the inputs are known, since those on servers are fetched ahead. */
enum leat_status pack_setup_fetching(struct pack_setup *s, struct leat_error *err);

/* Returns LEAT_E_STOPPED if the run is to stop. Functions that read an input for long without a stream call it. */
enum leat_status pack_setup_check_stop(const struct pack_setup *s, const char *name, struct leat_error *err);

/* Reports that an input needs more than window_bytes to be decompressed, for `what`, and which bound is enough for
 * it. */
enum leat_status pack_setup_refuse(const struct pack_setup *s, const char *name, uint64_t needs, const char *what,
                                   struct leat_error *err);

/* Reports it of a stream and its window. */
enum leat_status pack_setup_refuse_stream(const struct pack_setup *s, const struct byte_stream *stream,
                                          struct leat_error *err);

/* Returns nonzero if the run is to stop, for leat_encoder_options. */
uint32_t pack_setup_stop(void *setup);

/* Gets the shared encoder, which is made at its first use; long_lock must be held. */
enum leat_status pack_setup_long_encoder(struct pack_setup *s, struct leat_encoder **out, struct leat_error *err);

/* Gets the shared encoder for whole conversations, which finds special tokens. */
enum leat_status pack_setup_long_chat_encoder(struct pack_setup *s, struct leat_encoder **out, struct leat_error *err);

#endif
