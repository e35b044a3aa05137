/*
 * pattern_without.c: pattern_pcre.h where leat was built without PCRE2: refuses every expression.
 */
#include "pattern_pcre.h"

#include "base/status.h"

#ifndef LEAT_HAVE_PCRE2

void pattern_steps_begin(struct pattern_steps *s)
{
    s->left = s->written = s->may_write = 0;
}

void pattern_run_steps(struct pattern_run *run, struct pattern_steps *steps)
{
    (void)run;
    (void)steps;
}

enum leat_status pattern_compile(struct pattern **out, const char *pattern, size_t bytes, enum scan_dialect dialect,
                                 struct leat_error *err)
{
    (void)dialect;
    *out = NULL;
    return status_set(err, LEAT_E_UNSUPPORTED,
                      "the tokenizer's pattern (\"%.*s\") needs PCRE2, which this build of leat lacks; install "
                      "libpcre2-dev and rebuild",
                      bytes < 200 ? (int)bytes : 200, pattern);
}

void pattern_free(struct pattern *p)
{
    (void)p;
}

bool pattern_needs_all(const struct pattern *p)
{
    (void)p;
    return true;
}

struct pattern_run *pattern_run_new(const struct pattern *p)
{
    (void)p;
    return NULL;
}

void pattern_run_free(struct pattern_run *run)
{
    (void)run;
}

void pattern_run_bound(struct pattern_run *run, struct bound *bound)
{
    (void)run;
    (void)bound;
}

enum leat_status pattern_run_refuse(const struct pattern_run *run, size_t bytes, struct leat_error *err)
{
    (void)run;
    return status_no_memory(err, bytes);
}

size_t pattern_certain(const struct pattern_run *run)
{
    (void)run;
    return 0;
}

enum pattern_result pattern_begin(struct pattern_run *run, const struct scan_window *window, bool after_match)
{
    (void)run;
    (void)window;
    (void)after_match;
    return PATTERN_GAVE_UP;
}

enum pattern_result pattern_next(struct pattern_run *run, struct pattern_span *spans, size_t room, size_t *count)
{
    (void)run;
    (void)spans;
    (void)room;
    *count = 0;
    return PATTERN_GAVE_UP;
}

#endif
