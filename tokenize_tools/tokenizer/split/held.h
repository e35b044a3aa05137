/*
 * held.h: the text that a station of the encoder holds back because later text may change what becomes of it. A station
 * gets text in chunks, joins each to what it holds, does what is certain, and keeps the rest. If nothing is held and
 * nothing has to be kept, no text is copied; a text that comes whole never is.
 */
#ifndef LEAT_TOKENIZER_HELD_H
#define LEAT_TOKENIZER_HELD_H

#include <stdbool.h>

#include "base/buffer.h"

/* A chunk of a text, or of a stretch of it, on its way through the stations. */
struct text_chunk {
    const uint8_t *text;
    size_t bytes;
    size_t first; /* so many bytes at its beginning come from the first character of the whole text */
    bool last;    /* the text, or the stretch, ends here */
};

/* All zero but perhaps text.bound: nothing is held. */
struct held {
    struct buffer text;
    size_t begin;  /* of what is held in `text` */
    size_t enough; /* so much must be there before another look is worth it */
};

/* Forgets what is held. */
void held_clear(struct held *h);
void held_free(struct held *h);

/* Frees the memory if there is much of it and nothing is held in it. */
void held_trim(struct held *h);

/* Joins the stretch to what is held; `held` then has both. *ready: there is enough for another look; otherwise the
 * station must return, and all of it is kept already. `last`: nothing follows. */
enum leat_status held_join(struct held *h, const uint8_t **text, size_t *bytes, bool last, bool *ready,
                           struct leat_error *err);

/*
 * Keeps what is left of the text that held_join() gave, from `used` on. The text stays where it is until the next
 * held_join(). The next look comes when half as much again is there, so a text that comes byte by byte and cannot be
 * cut is looked at a number of times that grows with the logarithm of its length.
 */
enum leat_status held_keep(struct held *h, const uint8_t *text, size_t bytes, size_t used, struct leat_error *err);

#endif
