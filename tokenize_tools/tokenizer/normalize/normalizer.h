/*
 * normalizer.h: the normalizers of a spec, one after the other. Each first looks how much of the text it would leave
 * unchanged; a text that none of them changes is not copied.
 *
 * A text may come in chunks. Each step then does the part that later text cannot change, and holds the rest back, so
 * the results of the chunks make up the result of the whole text.
 *
 * The room normalize/ changes a text before it is cut, with a file for each kind of normalizer. The tables of Unicode
 * belong to unicode/.
 */
#ifndef LEAT_TOKENIZER_NORMALIZER_H
#define LEAT_TOKENIZER_NORMALIZER_H

#include "charsmap.h"
#include "images.h"
#include "tokenizer/spec/spec.h"
#include "tokenizer/split/held.h"
#include "tokenizer/split/matcher.h"

struct normalizer;

/* The state of a step in a text. */
struct normalizer_state {
    struct held held;
    struct pattern_run *run; /* run of an expression that is replaced */
    bool begun;              /* true after the first bytes of the text */
    bool after_match;        /* true if the next chunk begins after a match */
    /* The members below are used only if the normalizer tracks the first character of the whole text. */
    size_t first;     /* bytes at the beginning of the held text that come from the first character */
    bool of_first;    /* true if this text begins the whole text */
    bool after_first; /* true if the next bytes follow the first character, or begin it */
    unsigned awaited; /* number of chunks that did not show where the first character ends */
    struct charsmap_places places;
};

/* A thread's memory: two buffers that are used in turn, and the steps' states. */
struct normalizer_scratch {
    struct buffer buffers[2];
    struct normalizer_state *states;
    uint32_t count;
    struct pattern_steps *steps;
    /* Number of bytes at the beginning of the text that come from the first character of the whole text, for
     * Metaspace's "first". The caller sets it before each run, and the run sets it for the result. */
    size_t first;
    struct images images; /* images.of is NULL if the steps go through the text one after another */
};

/* Makes a thread's memory, which `bound` counts unless it is NULL. `steps` counts the steps of expressions, and the
 * bytes written. normalizer_scratch_free() must follow, on failure too. */
enum leat_status normalizer_scratch_make(struct normalizer_scratch *s, const struct normalizer *n, struct bound *bound,
                                         struct pattern_steps *steps, struct leat_error *err);
void normalizer_scratch_free(struct normalizer_scratch *s);

/* Drops a text that has not come to its end. */
void normalizer_scratch_clear(struct normalizer_scratch *s);

/* Frees memory that holds nothing, if it is large, including the last result of normalizer_run(). */
void normalizer_scratch_trim(struct normalizer_scratch *s);

/* Makes a normalizer. `spec` must outlive it. */
enum leat_status normalizer_make(struct normalizer **out, const struct tokenizer_spec *spec, struct leat_error *err);
void normalizer_free(struct normalizer *n);

/*
 * Takes a text, or a chunk of it, and sets *text and *bytes to the part of the result that later text cannot change:
 * the text itself, or bytes in the scratch, which stay until the next call. `last` says that the text ends here. Text
 * and result are valid UTF-8.
 */
enum leat_status normalizer_run(const struct normalizer *n, struct normalizer_scratch *s, const uint8_t **text,
                                size_t *bytes, bool last, struct leat_error *err);

#endif
