/* matcher.c: see matcher.h. */
#include "matcher.h"

#include <string.h>

#include "base/status.h"

enum leat_status matcher_make(struct matcher *m, const struct spec_pattern *pattern, enum spec_dialect dialect,
                              const char *whose, struct leat_error *err)
{
    enum leat_status s;

    *m = (struct matcher) { 0 };
    if (!pattern->regex) {
        m->string = pattern->text;
        return LEAT_OK;
    }
    s = pattern_compile(&m->pattern, (const char *)pattern->text.bytes, pattern->text.length,
                        dialect == SPEC_ONIGURUMA ? SCAN_ONIGURUMA : SCAN_RUST, err);
    return s == LEAT_OK || s == LEAT_E_NO_MEMORY ? s : status_before(err, s, "%s", whose);
}

void matcher_free(struct matcher *m)
{
    pattern_free(m->pattern);
    m->pattern = NULL;
}

static enum leat_status of_result(enum pattern_result r, struct leat_error *err)
{
    if (r == PATTERN_GAVE_UP)
        return status_set(err, LEAT_E_TEXT, "the tokenizer's regular expression takes too many steps on this text");
    return r == PATTERN_NO_MEMORY ? status_no_memory(err, 0) : LEAT_OK;
}

enum leat_status matcher_run_make(struct pattern_run **run, const struct matcher *m, struct bound *bound,
                                  struct leat_error *err)
{
    *run = NULL;
    if (!m->pattern)
        return LEAT_OK;
    *run = pattern_run_new(m->pattern);
    if (!*run)
        return status_no_memory(err, 0);
    pattern_run_bound(*run, bound);
    return LEAT_OK;
}

enum leat_status matcher_begin(struct matcher_pass *pass, const struct matcher *m, struct pattern_run *run,
                               const uint8_t *text, size_t bytes, bool open, bool after_match, struct leat_error *err)
{
    struct scan_window window = { .text = text, .length = bytes, .final = !open };

    pass->matcher = m;
    pass->text = text;
    pass->bytes = bytes;
    pass->at = pass->span = pass->span_count = 0;
    pass->last = run && open && pattern_needs_all(m->pattern);
    pass->open = open;
    pass->run = run;
    if (!run || pass->last)
        return LEAT_OK;
    if (bytes >= UINT32_MAX)
        return status_set(err, LEAT_E_PIECE, "a regular expression cannot cut a text of 4 GiB or more");
    return of_result(pattern_begin(run, &window, after_match), err);
}

static enum leat_status next_match(struct matcher_pass *pass, size_t *begin, size_t *end, bool *found,
                                   struct leat_error *err)
{
    for (;;) {
        enum leat_status s;

        for (; pass->span < pass->span_count; pass->span++)
            if (pass->spans[pass->span].match) {
                *begin = pass->spans[pass->span].begin;
                *end = pass->at = pass->spans[pass->span++].end;
                *found = true;
                return LEAT_OK;
            }
        if (pass->last)
            return LEAT_OK;
        pass->span = 0;
        enum pattern_result r = pattern_next(pass->run, pass->spans, MATCHER_SPANS, &pass->span_count);
        pass->last = r == PATTERN_DONE;
        s = of_result(r, err);
        if (s != LEAT_OK)
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

size_t matcher_used(const struct matcher_pass *pass)
{
    size_t length = pass->matcher->string.length, certain;

    if (!pass->open)
        return pass->bytes;
    if (pass->run) {
        certain = pattern_needs_all(pass->matcher->pattern) ? 0 : pattern_certain(pass->run);
    } else if (length == 0) {
        certain = pass->bytes;
    } else {
        certain = pass->bytes < length ? 0 : pass->bytes - length + 1;
        while (certain > 0 && certain < pass->bytes && (pass->text[certain] & 0xc0) == 0x80)
            certain--;
    }
    return certain > pass->at ? certain : pass->at;
}
