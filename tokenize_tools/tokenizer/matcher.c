/* matcher.c: see matcher.h. */
#include "matcher.h"

#include <string.h>

#include "base/status.h"

enum leat_status matcher_make(struct matcher *m, const struct spec_pattern *pattern, enum spec_dialect dialect,
                              struct leat_error *err)
{
    *m = (struct matcher) { 0 };
    if (!pattern->regex) {
        m->string = pattern->text;
        return LEAT_OK;
    }
    return pattern_compile(&m->pattern, (const char *)pattern->text.bytes, pattern->text.length,
                           dialect == SPEC_ONIGURUMA ? SCAN_ONIGURUMA : SCAN_RUST, err);
}

void matcher_free(struct matcher *m)
{
    pattern_free(m->pattern);
    m->pattern = NULL;
}

static enum leat_status of_result(enum pattern_result r, struct leat_error *err)
{
    if (r == PATTERN_GAVE_UP)
        return status_set(err, LEAT_E_TEXT,
                          "the tokenizer's regular expression takes too many steps on this text: it is refused");
    return r == PATTERN_NO_MEMORY ? status_no_memory(err, 0) : LEAT_OK;
}

enum leat_status matcher_begin(struct matcher_pass *pass, const struct matcher *m, const uint8_t *text, size_t bytes,
                               struct leat_error *err)
{
    struct scan_window window = { .text = text, .length = bytes, .final = true };

    pass->matcher = m;
    pass->text = text;
    pass->bytes = bytes;
    pass->at = pass->span = pass->span_count = 0;
    pass->last = false;
    pass->run = NULL;
    if (!m->pattern)
        return LEAT_OK;
    if (bytes >= UINT32_MAX)
        return status_set(err, LEAT_E_UNSUPPORTED, "a text of 4 GiB and more cannot be cut by a regular expression");
    pass->run = pattern_run_new(m->pattern);
    if (!pass->run)
        return status_no_memory(err, bytes);
    return of_result(pattern_begin(pass->run, &window, false), err);
}

static enum leat_status next_match(struct matcher_pass *pass, size_t *begin, size_t *end, bool *found,
                                   struct leat_error *err)
{
    for (;;) {
        enum leat_status s;

        for (; pass->span < pass->span_count; pass->span++)
            if (pass->spans[pass->span].match) {
                *begin = pass->spans[pass->span].begin;
                *end = pass->spans[pass->span++].end;
                *found = true;
                return LEAT_OK;
            }
        if (pass->last)
            return LEAT_OK;
        pass->span = 0;
        enum pattern_result r = pattern_next(pass->run, pass->spans, MATCHER_SPANS, &pass->span_count);
        pass->last = r == PATTERN_DONE;
        if ((s = of_result(r, err)) != LEAT_OK)
            return s;
    }
}

enum leat_status matcher_next(struct matcher_pass *pass, size_t *begin, size_t *end, bool *found,
                              struct leat_error *err)
{
    const struct spec_string *string = &pass->matcher->string;
    const uint8_t *at;

    *found = false;
    if (pass->run)
        return next_match(pass, begin, end, found, err);
    if (string->length == 0)
        return LEAT_OK;
    at = memmem(pass->text + pass->at, pass->bytes - pass->at, string->bytes, string->length);
    if (at) {
        *begin = (size_t)(at - pass->text);
        *end = pass->at = *begin + string->length;
        *found = true;
    }
    return LEAT_OK;
}

void matcher_end(struct matcher_pass *pass)
{
    pattern_run_free(pass->run);
    pass->run = NULL;
}
