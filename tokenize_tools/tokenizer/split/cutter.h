/*
 * cutter.h: cuts a text at its added tokens, as Hugging Face's tokenizers does. An added token is a string that is a
 * token wherever it stands, or only as a word of its own, and that may take the white space around it.
 *
 * The text may come in chunks. What no further text can change is handed on at once: tokens, and the stretches between
 * them, which may come in chunks themselves.
 */
#ifndef LEAT_TOKENIZER_CUTTER_H
#define LEAT_TOKENIZER_CUTTER_H

#include "held.h"
#include "string_finder.h"
#include "tokenizer/spec/spec.h"

struct cutter_options {
    const struct string_finder *finder;
    const struct spec_added *added; /* by the finder's numbers; NULL: these are ids, and the strings have no flags */
    bool special;                   /* special tokens are tokens; else they are text, but counted */
    bool lstrip;                    /* some token takes white space before it with it */
};

/* All zero but `options` and held.text.bound: at the beginning of a text. */
struct cutter {
    struct cutter_options options;
    struct held held;  /* from the character before `done` or `from` on, whichever comes first */
    size_t done;       /* up to here the text has been handed on */
    size_t from;       /* up to here tokens have been looked for */
    size_t first;      /* up to here the text comes from the first character of the whole */
    bool open;         /* the stretch between tokens that came last goes on */
    uint64_t specials; /* strings of special tokens so far; the caller's to reset */
};

/* Forgets a text that has not come to its end. */
void cutter_clear(struct cutter *c);

struct cutter_take {
    /* Takes a stretch between tokens, or its next chunk. Empty only to say that it ends. */
    enum leat_status (*text)(void *context, const struct text_chunk *chunk, struct leat_error *err);
    /* A token, and the text that it takes with it. */
    enum leat_status (*token)(void *context, uint32_t id, const uint8_t *text, size_t bytes, struct leat_error *err);
};

/* Takes a text (valid UTF-8), or its next chunk. Returns what `take` returns, if that is not LEAT_OK, or
 * LEAT_E_NO_MEMORY. */
enum leat_status cutter_run(struct cutter *c, const struct text_chunk *chunk, const struct cutter_take *take,
                            void *context, struct leat_error *err);

#endif
