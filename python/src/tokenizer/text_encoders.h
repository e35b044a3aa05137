/* text_encoders.h: a tokenizer's encoders between two texts. */
#ifndef LEAT_PYTHON_TEXT_ENCODERS_H
#define LEAT_PYTHON_TEXT_ENCODERS_H

#include <leat_pack.h>
#include <stdatomic.h>
#include <stdbool.h>

/*
 * Encoders that wait for their next text: they are dear to make and a thread's own. The GIL guards the pool, so that a
 * fork finds it in order.
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

/* What ends a text that takes long, for encoders that this thread uses from now on: the flag, once it is set. NULL: a
 * signal handler that raises an exception, which the thread's call must then leave set (text_encoders_stopped()). */
void text_encoders_stop_by(const atomic_bool *flag);

/* With Python's lock: whether an encoder's failure is such an exception. */
bool text_encoders_stopped(enum leat_status status);

#endif
