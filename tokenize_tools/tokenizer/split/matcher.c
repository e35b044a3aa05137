/* matcher.c: finds strings and runs of one character itself, and expressions by PCRE2. */
#include "matcher.h"

#include <string.h>

#include "base/status.h"

/* Finds expressions for runs of an ASCII character, such as " {2,}" and " +", which need no expression engine. */
static void find_run(struct matcher *m, const struct spec_string *text)
{
    const uint8_t *b = text->bytes;
    bool counted =
        text->length == 5 && b[1] == '{' && b[2] >= '1' && b[2] <= '0' + MATCHER_RUN && b[3] == ',' && b[4] == '}';

    if ((!counted && (text->length != 2 || b[1] != '+')) || b[0] >= 0x80 || strchr("\\.[](){}*+?|^$", b[0]))
        return;
    m->run_bytes = counted ? b[2] - '0' : 1;
    memset(m->run, b[0], m->run_bytes);
}

enum leat_status matcher_make(struct matcher *m, const struct spec_pattern *pattern, enum spec_dialect dialect,
                              const char *whose, struct leat_error *err)
{
    enum leat_status s;

    *m = (struct matcher) { 0 };
    if (!pattern->regex) {
        m->string = pattern->text;
        return LEAT_OK;
    }
    find_run(m, &pattern->text);
    if (m->run_bytes > 0)
        return LEAT_OK;
    s = pattern_compile(&m->pattern, (const char *)pattern->text.bytes, pattern->text.length,
                        dialect == SPEC_ONIGURUMA ? SCAN_ONIGURUMA : SCAN_RUST, err);
    return s == LEAT_OK || s == LEAT_E_NO_MEMORY ? s : status_before(err, s, "%s", whose);
}

void matcher_free(struct matcher *m)
{
    pattern_free(m->pattern);
    m->pattern = NULL;
}

enum leat_status matcher_run_make(struct pattern_run **run, const struct matcher *m, struct bound *bound,
                                  struct pattern_steps *steps, struct leat_error *err)
{
    *run = NULL;
    if (!m->pattern)
        return LEAT_OK;
    *run = pattern_run_new(m->pattern);
    if (!*run)
        return status_no_memory(err, 0);
    pattern_run_bound(*run, bound);
    pattern_run_steps(*run, steps);
    return LEAT_OK;
}

enum leat_status matcher_begin(struct matcher_pass *pass, const struct matcher *m, struct pattern_run *run,
                               const struct scan_window *chunk, bool after_match, struct leat_error *err)
{
    pass->matcher = m;
    pass->chunk = *chunk;
    pass->at = pass->span = pass->span_count = 0;
    pass->last = run && !chunk->final && pattern_needs_all(m->pattern);
    pass->run = run;
    if (!run || pass->last)
        return LEAT_OK;
    if (chunk->length >= UINT32_MAX)
        return status_set(err, LEAT_E_PRETOKEN, "a regular expression cannot cut a text of 4 GiB or more");
    return pattern_status(run, pattern_begin(run, chunk, after_match), chunk->length, err);
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
        s = pattern_status(pass->run, r, pass->chunk.length, err);
        if (s != LEAT_OK)
            return s;
    }
}

#define PAIR_BLOCK ((size_t)64)

/* Returns true if two of these bytes stand side by side in a block, or at its end. Compilers make vectors of this
 * loop. */
static bool pair_in_block(const uint8_t *text, uint8_t byte)
{
    uint8_t any = 0;

    for (size_t i = 0; i < PAIR_BLOCK; i++)
        any |= (uint8_t)(-(text[i] == byte) & -(text[i + 1] == byte));
    return any != 0;
}

/* Returns the first place of the string that is looked for. memmem() goes byte by byte, so pairs, with which " {2,}"
 * begins, are first looked for in blocks. */
static const uint8_t *find_bytes(const struct matcher *m, const uint8_t *text, size_t bytes)
{
    size_t at = 0;

    if (m->run_bytes == 0)
        return memmem(text, bytes, m->string.bytes, m->string.length);
    while (m->run_bytes == 2 && bytes - at > PAIR_BLOCK && !pair_in_block(text + at, m->run[0]))
        at += PAIR_BLOCK;
    return memmem(text + at, bytes - at, m->run, m->run_bytes);
}

enum leat_status matcher_next(struct matcher_pass *pass, size_t *begin, size_t *end, bool *found,
                              struct leat_error *err)
{
    const struct matcher *m = pass->matcher;
    const uint8_t *text = pass->chunk.text, *at;
    size_t bytes = pass->chunk.length;

    *found = false;
    if (pass->run)
        return next_match(pass, begin, end, found, err);
    at = find_bytes(m, text + pass->at, bytes - pass->at);
    if (!at)
        return LEAT_OK;
    *begin = (size_t)(at - text);
    *end = *begin + (m->run_bytes ? m->run_bytes : m->string.length);
    while (m->run_bytes && *end < bytes && text[*end] == m->run[0])
        ++*end;
    *found = !m->run_bytes || pass->chunk.final || *end < bytes;
    if (*found)
        pass->at = *end;
    return LEAT_OK;
}

/*
 * Bytes that may be written for a text: at first, and more per byte or id. Ordinary tokenizers write some tens of
 * bytes per byte or id. Without a limit, a thousand replacements that follow 24 which double a text went through 16
 * GiB for one letter.
 */
#define WRITE_FIRST ((uint64_t)64 << 20)
#define WRITE_EACH  1024u
#define STOP_BYTES  ((uint64_t)1 << 20) /* bytes written between two questions whether to stop */

void matcher_take(struct pattern_steps *steps, uint64_t count)
{
    steps->may_write += WRITE_EACH * count;
}

enum leat_status matcher_wrote(struct pattern_steps *steps, uint64_t bytes, struct leat_error *err)
{
    uint64_t before = steps->written;

    steps->written += bytes;
    if (steps->stop && before / STOP_BYTES != steps->written / STOP_BYTES && steps->stop(steps->context))
        return status_set(err, LEAT_E_STOPPED, "the work was stopped");
    if (steps->written > WRITE_FIRST && steps->written - WRITE_FIRST > steps->may_write)
        return status_set(err, LEAT_E_TEXT, "the tokenizer's replacements take too many steps on this text");
    return LEAT_OK;
}

size_t matcher_used(const struct matcher_pass *pass)
{
    size_t length = pass->matcher->string.length, bytes = pass->chunk.length, certain;
    const uint8_t *text = pass->chunk.text;

    if (pass->chunk.final)
        return bytes;
    if (pass->run) {
        certain = pattern_needs_all(pass->matcher->pattern) ? 0 : pattern_certain(pass->run);
    } else if (pass->matcher->run_bytes > 0) {
        for (certain = bytes; certain > pass->at && text[certain - 1] == pass->matcher->run[0];)
            certain--;
    } else {
        certain = bytes < length ? 0 : bytes - length + 1;
        while (certain > 0 && certain < bytes && (text[certain] & 0xc0) == 0x80)
            certain--;
    }
    return certain > pass->at ? certain : pass->at;
}
