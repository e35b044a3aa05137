/*
 * held.h: the text that a station of the encoder holds back because later text may change its result. A station gets
 * text in chunks, joins each to the text that it holds, does the part that is certain, and keeps the rest. If nothing
 * is held and nothing has to be kept, no text is copied; a text that comes whole is never copied.
 */
#ifndef LEAT_TOKENIZER_HELD_H
#define LEAT_TOKENIZER_HELD_H

#include <stdbool.h>

#include "base/buffer.h"

/* A chunk of a text, or of a stretch of it, on its way through the stations. */
struct text_chunk {
    const uint8_t *text;
    size_t bytes;
    size_t first; /* number of bytes at its beginning that come from the first character of the whole text */
    bool last;    /* true if the text, or the stretch, ends here */
};

/* The text that is held; zeroed, except text.bound, if there is none. */
struct held {
    struct buffer text;
    size_t begin;  /* start of the held text in `text` */
    size_t enough; /* number of bytes that must be held before another look is worthwhile */
};

/* Drops the held text. */
void held_clear(struct held *h);
void held_free(struct held *h);

/* Frees the memory if there is much of it and nothing is held in it. */
void held_trim(struct held *h);

/* Joins a chunk to the held text; *text and *bytes become both. Sets *ready if there is enough for another look;
 * otherwise the station must return, and all of it is kept already. `last` says that nothing follows. */
enum leat_status held_join(struct held *h, const uint8_t **text, size_t *bytes, bool last, bool *ready,
                           struct leat_error *err);

/*
 * Keeps the text of held_join() from `used` on. The text stays in its place until the next held_join(). The next look
 * comes when there is half as much again, so a text that comes byte by byte and cannot be cut is looked at a number of
 * times that grows with the logarithm of its length.
 */
enum leat_status held_keep(struct held *h, const uint8_t *text, size_t bytes, size_t used, struct leat_error *err);

#endif
