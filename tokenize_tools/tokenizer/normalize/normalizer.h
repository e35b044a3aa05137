/*
 * normalizer.h: the normalizers of a spec, one after the other. Each first looks how much of the text it would leave
 * unchanged; a text that none of them changes is not copied.
 *
 * A text may come in chunks. Each step then does what no further text can change and holds the rest back, so the
 * results of the chunks make up that of the whole.
 *
 * The room normalize/ has what changes a text before it is cut, a file for each kind of normalizer. The tables of
 * Unicode belong to unicode/.
 */
#ifndef LEAT_TOKENIZER_NORMALIZER_H
#define LEAT_TOKENIZER_NORMALIZER_H

#include "charsmap.h"
#include "images.h"
#include "tokenizer/spec/spec.h"
#include "tokenizer/split/held.h"
#include "tokenizer/split/matcher.h"

struct normalizer;

/* Where a step stands in a text. */
struct normalizer_state {
    struct held held;
    struct pattern_run *run; /* of a replaced expression */
    bool begun;              /* something of the text has come */
    bool after_match;        /* what comes next begins after a match */
    /* Only if the normalizer follows the text's first character: */
    size_t first;     /* bytes at the beginning of what is held that come from it */
    bool of_first;    /* the text begins where the whole does */
    bool after_first; /* and what comes next follows its first character, or begins it */
    unsigned awaited; /* how often what came was not enough to tell where it ends */
    struct charsmap_places places;
};

/* A thread's memory: two buffers that take turns, and the steps' states. */
struct normalizer_scratch {
    struct buffer buffers[2];
    struct normalizer_state *states;
    uint32_t count;
    struct pattern_steps *steps;
    /* For Metaspace's "first": how many bytes at the beginning of what comes in, and of what is given, come from the
     * first character of the whole text. The caller sets it before each run. */
    size_t first;
    struct images images; /* images.of NULL: the steps go through the text one after another */
};

/* `steps`: where the steps of expressions, and what is written, are counted. `bound`, where memory is, may be NULL.
 * Freeing is right also after a failure. */
enum leat_status normalizer_scratch_make(struct normalizer_scratch *s, const struct normalizer *n, struct bound *bound,
                                         struct pattern_steps *steps, struct leat_error *err);
void normalizer_scratch_free(struct normalizer_scratch *s);

/* Forgets a text that has not come to its end. */
void normalizer_scratch_clear(struct normalizer_scratch *s);

/* Frees memory that holds nothing, if it is much; what normalizer_run() gave is then gone. */
void normalizer_scratch_trim(struct normalizer_scratch *s);

/* `spec` must outlive it. */
enum leat_status normalizer_make(struct normalizer **out, const struct tokenizer_spec *spec, struct leat_error *err);
void normalizer_free(struct normalizer *n);

/*
 * Takes a text, or a chunk of it, and sets *text and *bytes to what is certain of the result: the text itself, or
 * something in the scratch, which stays there until the next call. `last`: the text ends here. Valid UTF-8 in and out.
 */
enum leat_status normalizer_run(const struct normalizer *n, struct normalizer_scratch *s, const uint8_t **text,
                                size_t *bytes, bool last, struct leat_error *err);

#endif
