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
#include "corpus/json/json_fields.h"
#include "leat_pack.h"

struct pack_setup {
    const char *output; /* temporary files lie in its folder */
    const struct leat_tokenizer *tokenizer;
    struct input_list inputs; /* none for a program that gives its own texts */
    struct json_fields fields;
    bool special, reject_invalid, allow_binary;
    bool ids_wide; /* four bytes per token, not two */
    unsigned threads;

    /* How memory is divided, by pack_setup_memory(). */
    uint64_t unit_bytes;          /* of text in a unit */
    uint64_t unit_cost;           /* of memory that a unit may come to while it is encoded */
    uint64_t long_bytes;          /* a longer record is taken in chunks */
    uint64_t flight_bytes;        /* of memory for all units */
    uint64_t pretoken_bytes;      /* for a pretoken that cannot be cut, in a thread's own encoder */
    uint64_t long_pretoken_bytes; /* the same in the shared one */

    pthread_mutex_t long_lock; /* its holder uses long_encoder */
    struct leat_encoder *long_encoder;
};

/* Fills in the fields about memory, for a bound on all of the process. LEAT_E_ARGUMENT if it is too small. */
enum leat_status pack_setup_memory(struct pack_setup *s, uint64_t bound, struct leat_error *err);

/* The shared encoder, made at its first use; long_lock must be held. */
enum leat_status pack_setup_long_encoder(struct pack_setup *s, struct leat_encoder **out, struct leat_error *err);

#endif
