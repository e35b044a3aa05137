/* pretokenizer_internal.h: what pretokenizer_make.c makes of a spec's list, and pretokenizer.c runs: steps; and the
 * memory for that. */
#ifndef LEAT_TOKENIZER_PRETOKENIZER_INTERNAL_H
#define LEAT_TOKENIZER_PRETOKENIZER_INTERNAL_H

#include <string.h>

#include "base/tiny.h"
#include "pretokenizer.h"
#include "tokenizer/unicode/byte_alphabet.h"

/* A change of the text comes before the splitter of its step. */
enum change {
    CHANGE_NOTHING,
    CHANGE_PREFIX,    /* a space, unless the text begins with one */
    CHANGE_METASPACE, /* spaces become the mark, and a mark may be put before */
    CHANGE_BYTES      /* bytes become characters of the byte alphabet, since steps follow that see them */
};

struct step {
    enum change change;
    bool splits;
    struct splitter splitter;
    struct pattern *pattern;               /* owned */
    const struct spec_pre_tokenizer *spec; /* of CHANGE_METASPACE */
};

struct pretokenizer {
    struct step *steps;
    uint32_t count;
    bool words;  /* all that the steps do is to remove white space, and to isolate punctuation if there are two */
    bool spaces; /* Metaspace, perhaps after WhitespaceSplit; pretokens begin with spaces instead of marks */
    bool unmaps; /* pretokens come out as characters of the byte alphabet, and the model wants bytes */
    struct byte_alphabet alphabet;
};

/* ---- Running ---- */

/* A splitter counts bytes in 31 bits, because models use the 32nd as a flag (MODEL_FIXED). Longer segments go through
 * in windows, which grow for a pretoken that needs it. */
#define WINDOW_BYTES ((size_t)TINY_OR(64, 1 << 30))
#define WINDOW_LIMIT ((size_t)INT32_MAX)

/* Pretokens that a scanner gives at a time, when they go to the model together. */
#define SCAN_ROOM 4096

/* One level of the way through the steps: where it stands in the text that it was given. */
struct level {
    struct buffer changed;
    struct split_run run;
    struct pattern_run *pattern_run;
    const uint8_t *text;
    size_t bytes, used;               /* of it so much is done with */
    size_t first;                     /* bytes at its beginning that come from the first character of the whole */
    bool last;                        /* it ends here */
    bool needs_all;                   /* of the step's pattern */
    bool open, more, ended;           /* a window is; its splitter has more to give; nothing comes after it */
    size_t window_bytes;              /* at most, of the next window */
    struct scan_window window;        /* lies in the text */
    struct split_pretoken *pretokens; /* SPLIT_ROOM; NULL: the step does not split */
    size_t count, next;               /* of the pretokens; the one to take next */
    uint32_t above;                   /* the level whose pretoken the text is */
};

struct pretokenizer_scratch {
    uint32_t count;
    size_t window_bytes; /* of the first window of a segment */
    struct bound *bound;
    pretokenizer_take_pretokens *batches, *words; /* may be NULL */
    struct held held;    /* of a segment that comes in chunks, what the first splitter is not done with */
    size_t first;        /* bytes at the beginning of what is held that come from the text's first character */
    bool begun;          /* something of the segment has come */
    bool in_word;        /* what has come of it ends in a word (split_spaces.h) */
    struct buffer bytes; /* of an unmapped pretoken */
    struct level levels[];
};

struct way {
    const struct pretokenizer *p;
    struct pretokenizer_scratch *s;
    pretokenizer_take *take;
    void *context;
};

static inline bool pretokenizer_begins_with(const uint8_t *text, size_t bytes, const struct spec_string *s)
{
    return bytes >= s->length && memcmp(text, s->bytes, s->length) == 0;
}

/* ---- pretokenizer_words.c ---- */

/* Take a chunk of a segment; `begins`: its first. */
enum leat_status pretokenizer_run_words(struct way *w, const uint8_t *text, size_t bytes, bool last,
                                        struct leat_error *err);
enum leat_status pretokenizer_run_spaces(struct way *w, const uint8_t *text, size_t bytes, bool begins, bool first,
                                         bool last, struct leat_error *err);

#endif
