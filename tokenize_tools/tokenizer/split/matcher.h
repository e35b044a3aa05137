/*
 * matcher.h: where a string or a regular expression of a spec matches in a text, match by match. The text may come in
 * chunks: matches that the next chunk could change are then not given, but found again with it.
 */
#ifndef LEAT_TOKENIZER_MATCHER_H
#define LEAT_TOKENIZER_MATCHER_H

#include <stdbool.h>

#include "tokenizer/pattern/pattern_pcre.h"
#include "tokenizer/spec/spec.h"

struct matcher {
    struct spec_string string; /* length 0: a regular expression */
    struct pattern *pattern;
};

/* `whose`, "normalizer Replace", for the sentence about an expression that cannot be used. */
enum leat_status matcher_make(struct matcher *m, const struct spec_pattern *pattern, enum spec_dialect dialect,
                              const char *whose, struct leat_error *err);
void matcher_free(struct matcher *m);

#define MATCHER_SPANS 256

/* One pass over a text, or over a chunk, which must stay. */
struct matcher_pass {
    const struct matcher *matcher;
    const uint8_t *text;
    size_t bytes, at;
    bool open; /* the text goes on after this chunk */
    struct pattern_run *run;
    struct pattern_span spans[MATCHER_SPANS];
    size_t span, span_count;
    bool last; /* no spans after these */
};

/* A thread's memory for passes of this matcher; *run is NULL where none is needed. */
enum leat_status matcher_run_make(struct pattern_run **run, const struct matcher *m, struct bound *bound,
                                  struct leat_error *err);

/* `open`: more text follows. `after_match`: the chunk before ended with a match at this one's beginning. */
enum leat_status matcher_begin(struct matcher_pass *pass, const struct matcher *m, struct pattern_run *run,
                               const uint8_t *text, size_t bytes, bool open, bool after_match, struct leat_error *err);

/* The next match, *found true; or no more are certain. Matches may be empty. LEAT_E_TEXT: the expression takes too
 * many steps on this text. */
enum leat_status matcher_next(struct matcher_pass *pass, size_t *begin, size_t *end, bool *found,
                              struct leat_error *err);

/* After the last match: how much of the chunk is done with. The next one must begin there. */
size_t matcher_used(const struct matcher_pass *pass);

#endif
