/*
 * held.h: the text that a stage of encoding holds back because what follows may still change what becomes of it. A
 * stage gets text in stretches, joins each to what it holds, does what is certain, and keeps the rest. Where nothing is
 * held and nothing need be kept no text is copied: so it is with a text that comes whole.
 */
#ifndef LEAT_TOKENIZER_HELD_H
#define LEAT_TOKENIZER_HELD_H

#include <stdbool.h>

#include "base/buffer.h"

/* All zero but perhaps text.bound: nothing is held. */
struct held {
    struct buffer text;
    size_t begin;  /* of what is held in `text` */
    size_t enough; /* so much must be there before another look is worth it */
};

/* Forgets what is held. */
void held_clear(struct held *h);
void held_free(struct held *h);

/* Gives much memory that nothing is held in back. */
void held_trim(struct held *h);

/* Puts what is held before the stretch, which then lies here. *ready: there is enough; else the stage is to return, and
 * all of it is kept already. `last`: nothing follows. */
enum leat_status held_join(struct held *h, const uint8_t **text, size_t *bytes, bool last, bool *ready,
                           struct leat_error *err);

/*
 * Keeps what is left of the text that held_join() gave, from `used` on. The text stays where it is until the next
 * held_join(). The next look comes when half as much again is there: a text that comes byte by byte, and cannot be cut,
 * is looked at as often as its length has digits.
 */
enum leat_status held_keep(struct held *h, const uint8_t *text, size_t bytes, size_t used, struct leat_error *err);

#endif
