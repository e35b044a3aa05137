/*
 * tokenizer.h: leat._leat.Tokenizer. The room: tokenizers, their encoders, and texts encoded by many threads; nothing
 * here knows datasets.
 */
#ifndef LEAT_PYTHON_TOKENIZER_H
#define LEAT_PYTHON_TOKENIZER_H

#include <leat_pack.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/module.h"
#include "text/many_ids.h"
#include "text/text.h"

/* ---- Encoders (encoding.c) ---- */

/*
 * Encoders that wait for their next text: they are expensive to make, and one thread uses each. The GIL guards the
 * pool, so that a fork finds it in order.
 */
#define TEXT_POOL_MAX 64
struct text_encoders {
    struct leat_encoder *waiting[2][TEXT_POOL_MAX]; /* by whether strings of special tokens become these */
    unsigned count[2];
};
enum leat_status text_encoders_take(struct text_encoders *pool, const struct leat_tokenizer *t, bool special,
                                    struct leat_encoder **out, struct leat_error *err);
void text_encoders_give(struct text_encoders *pool, bool special, struct leat_encoder *e);
void text_encoders_free(struct text_encoders *pool);

/* With Python's lock: whether an encoder's failure is such an exception. */
bool text_encoders_stopped(enum leat_status status);

/* ---- The object ---- */

struct text_tokenizer {
    PyObject_HEAD struct leat_tokenizer *tokenizer;
    struct text_encoders encoders;
};

/* The tokenizer of a leat._leat.Tokenizer; NULL with TypeError for anything else. */
struct text_tokenizer *text_tokenizer_of(PyObject *object);

/* What is stored of a tokenizer, if one is given; the object may be None. False with an exception set. */
bool text_tokenizer_facts(PyObject *object, struct leat_tokenizer_info *info, struct leat_stored_tokenizer *stored,
                          bool *given);

int text_tokenizer_register(PyObject *module);

/* ---- Many texts, encoded by several threads (encoding.c) ---- */

struct text_batch_result {
    struct many_ids ids; /* of all texts, one after the other */
    uint64_t *counts;    /* ids of each text */
    uint64_t *specials;  /* strings of special tokens in each text */
};

/* Encodes with at most that many threads, without the GIL. -1 with an exception, KeyboardInterrupt too. */
int text_batch_run(struct text_tokenizer *t, const struct text_view *texts, size_t count, bool special,
                   unsigned threads, struct text_batch_result *result);
void text_batch_free(struct text_batch_result *result);

#endif
