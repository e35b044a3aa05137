/*
 * cutter.h: cuts a text at its added tokens, as Hugging Face's tokenizers does. An added token is a string that is a
 * token wherever it stands, or only as a word of its own, and that may take the white space around it.
 *
 * The text may come in chunks. The part that later text cannot change is passed on at once: tokens, and the stretches
 * between them, which may come in chunks themselves.
 */
#ifndef LEAT_TOKENIZER_CUTTER_H
#define LEAT_TOKENIZER_CUTTER_H

#include "held.h"
#include "string_finder.h"
#include "tokenizer/spec/spec.h"

struct cutter_options {
    const struct string_finder *finder;
    const struct spec_added *added; /* added tokens by the finder's numbers; NULL if the numbers are ids without
                                       flags */
    bool special;                   /* true if special tokens are tokens; else they are text, and counted */
    bool lstrip;                    /* true if some token takes the white space before it */
};

/* The state of cutting; at the beginning of a text, zeroed except `options` and held.text.bound. */
struct cutter {
    struct cutter_options options;
    struct held held;  /* text from the character before `done` or `from` on, whichever comes first */
    size_t done;       /* end of the text that has been passed on */
    size_t from;       /* end of the text that has been searched for tokens */
    size_t first;      /* end of the text that comes from the first character of the whole text */
    bool open;         /* true if the last stretch between tokens goes on */
    uint64_t specials; /* number of strings of special tokens so far; the caller resets it */
};

/* Drops a text that has not come to its end. */
void cutter_clear(struct cutter *c);

struct cutter_take {
    /* Takes a stretch between tokens, or its next chunk. The chunk is empty only if it ends the stretch. */
    enum leat_status (*text)(void *context, const struct text_chunk *chunk, struct leat_error *err);
    /* Takes a token, and the text that belongs to it. */
    enum leat_status (*token)(void *context, uint32_t id, const uint8_t *text, size_t bytes, struct leat_error *err);
};

/* Takes a text (valid UTF-8), or its next chunk. Returns a failure of `take`, or LEAT_E_NO_MEMORY. */
enum leat_status cutter_run(struct cutter *c, const struct text_chunk *chunk, const struct cutter_take *take,
                            void *context, struct leat_error *err);

#endif
