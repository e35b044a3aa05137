/*
 * matcher.h: finds the matches of a spec's string or regular expression in a text, one by one. The text may come in
 * chunks: a match that the next chunk could change is not given, but found again with that chunk.
 */
#ifndef LEAT_TOKENIZER_MATCHER_H
#define LEAT_TOKENIZER_MATCHER_H

#include <stdbool.h>

#include "tokenizer/pattern/pattern_pcre.h"
#include "tokenizer/spec/spec.h"

/* The longest run that an expression can ask for without an expression engine. */
#define MATCHER_RUN 8

struct matcher {
    struct spec_string string; /* length 0: a regular expression */
    struct pattern *pattern;
    /* an expression for a run of at least so many of an ASCII character: these; 0: it is another */
    uint8_t run[MATCHER_RUN];
    size_t run_bytes;
};

/* `whose` ("normalizer Replace") names it in the sentence about an expression that cannot be used. */
enum leat_status matcher_make(struct matcher *m, const struct spec_pattern *pattern, enum spec_dialect dialect,
                              const char *whose, struct leat_error *err);
void matcher_free(struct matcher *m);

#define MATCHER_SPANS 256

/* One pass over a text, or over a chunk, which must stay. */
struct matcher_pass {
    const struct matcher *matcher;
    struct scan_window chunk; /* final: the text ends with it */
    size_t at;
    struct pattern_run *run;
    struct pattern_span spans[MATCHER_SPANS];
    size_t span, span_count;
    bool last; /* no spans after these */
};

/* A thread's memory for passes of this matcher; *run is NULL where none is needed. `bound` and `steps`, where memory
 * and steps are counted, may be NULL. */
enum leat_status matcher_run_make(struct pattern_run **run, const struct matcher *m, struct bound *bound,
                                  struct pattern_steps *steps, struct leat_error *err);

/* `after_match`: the chunk before ended with a match at this one's beginning. */
enum leat_status matcher_begin(struct matcher_pass *pass, const struct matcher *m, struct pattern_run *run,
                               const struct scan_window *chunk, bool after_match, struct leat_error *err);

/* Finds the next match. *found is false if no further match is certain. Matches may be empty. LEAT_E_TEXT: the
 * expression takes too many steps on this text. */
enum leat_status matcher_next(struct matcher_pass *pass, size_t *begin, size_t *end, bool *found,
                              struct leat_error *err);

/*
 * What normalizers or decoders write for a text is counted with its steps, for each may make it longer for the next:
 * matcher_take() when bytes of a text, or ids, come; matcher_wrote() after each normalizer or decoder, with what it
 * passes on. LEAT_E_TEXT: that is too much for what has come; LEAT_E_STOPPED: the steps' `stop` said so.
 */
void matcher_take(struct pattern_steps *steps, uint64_t count);
enum leat_status matcher_wrote(struct pattern_steps *steps, uint64_t bytes, struct leat_error *err);

/* After the last match: how much of the chunk is done with. The next chunk must begin there. */
size_t matcher_used(const struct matcher_pass *pass);

#endif
