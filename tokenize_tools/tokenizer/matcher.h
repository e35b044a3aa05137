/*
 * matcher.h: where a string or a regular expression of a spec matches in a whole text, match by match.
 */
#ifndef LEAT_TOKENIZER_MATCHER_H
#define LEAT_TOKENIZER_MATCHER_H

#include <stdbool.h>

#include "pattern_pcre.h"
#include "spec.h"

struct matcher {
    struct spec_string string; /* length 0: a regular expression, or an empty string, which matches nowhere */
    struct pattern *pattern;
};

enum leat_status matcher_make(struct matcher *m, const struct spec_pattern *pattern, enum spec_dialect dialect,
                              struct leat_error *err);
void matcher_free(struct matcher *m);

#define MATCHER_SPANS 256

/* One pass over a text, which must stay. */
struct matcher_pass {
    const struct matcher *matcher;
    const uint8_t *text;
    size_t bytes, at;
    struct pattern_run *run;
    struct pattern_span spans[MATCHER_SPANS];
    size_t span, span_count;
    bool last; /* no spans after these */
};

enum leat_status matcher_begin(struct matcher_pass *pass, const struct matcher *m, const uint8_t *text, size_t bytes,
                               struct leat_error *err);

/* The next match, *found true; or the end of the text. Matches may be empty. LEAT_E_TOKEN: the expression takes too
 * many steps on this text. */
enum leat_status matcher_next(struct matcher_pass *pass, size_t *begin, size_t *end, bool *found,
                              struct leat_error *err);
void matcher_end(struct matcher_pass *pass);

#endif
