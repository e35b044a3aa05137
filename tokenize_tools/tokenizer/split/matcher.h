/*
 * matcher.h: finds the matches of a spec's string or regular expression in a text, one by one. The text may come in
 * chunks: a match that the next chunk could change is not given, but found again with that chunk.
 */
#ifndef LEAT_TOKENIZER_MATCHER_H
#define LEAT_TOKENIZER_MATCHER_H

#include <stdbool.h>

#include "tokenizer/pattern/pattern_pcre.h"
#include "tokenizer/spec/spec.h"

/* Length of the longest run that an expression can ask for without an expression engine. */
#define MATCHER_RUN 8

struct matcher {
    struct spec_string string; /* string; empty for a regular expression */
    struct pattern *pattern;
    /* the characters of an expression for a run of at least run_bytes of one ASCII character; else run_bytes is 0 */
    uint8_t run[MATCHER_RUN];
    size_t run_bytes;
};

/* Makes a matcher. `whose` ("normalizer Replace") names it in the error about an expression that cannot be used. */
enum leat_status matcher_make(struct matcher *m, const struct spec_pattern *pattern, enum spec_dialect dialect,
                              const char *whose, struct leat_error *err);
void matcher_free(struct matcher *m);

#define MATCHER_SPANS 256

/* One pass over a text, or over a chunk, which must stay. */
struct matcher_pass {
    const struct matcher *matcher;
    struct scan_window chunk; /* chunk.final is true if the text ends with it */
    size_t at;
    struct pattern_run *run;
    struct pattern_span spans[MATCHER_SPANS];
    size_t span, span_count;
    bool last; /* true if no spans follow */
};

/* Makes a thread's memory for passes of this matcher; *run is NULL if it needs none. `bound` counts memory, and `steps`
 * steps; both may be NULL. */
enum leat_status matcher_run_make(struct pattern_run **run, const struct matcher *m, struct bound *bound,
                                  struct pattern_steps *steps, struct leat_error *err);

/* Begins a pass. `after_match` says that a match ended at the start of this chunk. */
enum leat_status matcher_begin(struct matcher_pass *pass, const struct matcher *m, struct pattern_run *run,
                               const struct scan_window *chunk, bool after_match, struct leat_error *err);

/* Finds the next match, which may be empty. *found is false if no further match is certain. Returns LEAT_E_TEXT if the
 * expression takes too many steps on this text. */
enum leat_status matcher_next(struct matcher_pass *pass, size_t *begin, size_t *end, bool *found,
                              struct leat_error *err);

/*
 * Count the bytes that normalizers or decoders write for a text, since each may make it longer for the next.
 * matcher_take() is called when bytes of a text, or ids, come; matcher_wrote() after each normalizer or decoder, with
 * the bytes that it passes on. matcher_wrote() returns LEAT_E_TEXT if these are too many for the text, LEAT_E_STOPPED
 * if the steps' `stop` says so.
 */
void matcher_take(struct pattern_steps *steps, uint64_t count);
enum leat_status matcher_wrote(struct pattern_steps *steps, uint64_t bytes, struct leat_error *err);

/* Returns, after the last match, the place at which the next chunk must begin. */
size_t matcher_used(const struct matcher_pass *pass);

#endif
