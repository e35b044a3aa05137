/* tokenizer.h: leat._leat.Tokenizer. This room has tokenizers, their encoders, and texts that many threads encode;
 * it knows no datasets. */
#ifndef LEAT_PYTHON_TOKENIZER_H
#define LEAT_PYTHON_TOKENIZER_H

#include <leat_pack.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/module.h"
#include "text/many_ids.h"
#include "text/text.h"

/* ---- Encoders (encoding.c) ---- */

/* A pool of encoders that wait for their next text. They are expensive to make, and each serves one thread at a
 * time. The GIL guards the pool, so that a fork finds it in order. */
#define TEXT_POOL_MAX 64
struct text_encoders {
    struct leat_encoder *waiting[2][TEXT_POOL_MAX]; /* the encoders of [1] turn strings of special tokens into these
                                                       tokens */
    unsigned count[2];
};
enum leat_status text_encoders_take(struct text_encoders *pool, const struct leat_tokenizer *t, bool special,
                                    struct leat_encoder **out, struct leat_error *err);
void text_encoders_give(struct text_encoders *pool, bool special, struct leat_encoder *e);
void text_encoders_free(struct text_encoders *pool);

/* Returns true if an encoder failed because a signal handler has raised. The caller has Python's lock. */
bool text_encoders_stopped(enum leat_status status);

/* ---- The object ---- */

struct text_tokenizer {
    PyObject_HEAD struct leat_tokenizer *tokenizer;
    struct text_encoders encoders;
};

/* Returns the tokenizer of a leat._leat.Tokenizer, or NULL with TypeError for any other object. */
struct text_tokenizer *text_tokenizer_of(PyObject *object);

/* Gets the facts and the stored form of a tokenizer; the object may also be None. Returns false with an exception
 * set on failure. */
bool text_tokenizer_facts(PyObject *object, struct leat_tokenizer_info *info, struct leat_stored_tokenizer *stored,
                          bool *given);

int text_tokenizer_register(PyObject *module);

/* ---- Many texts, encoded by several threads (encoding.c) ---- */

struct text_batch_result {
    struct many_ids ids; /* ids of all texts, one after the other */
    uint64_t *counts;    /* number of ids of each text */
    uint64_t *specials;  /* number of strings of special tokens in each text */
};

/* Encodes texts with at most `threads` threads, without the GIL. result->ids has no ids yet, and perhaps memory of the
 * caller's; the other members are set. Returns -1 with an exception on failure, also for KeyboardInterrupt. */
int text_batch_run(struct text_tokenizer *t, const struct text_view *texts, size_t count, bool special,
                   unsigned threads, struct text_batch_result *result);
void text_batch_free(struct text_batch_result *result);

#endif
