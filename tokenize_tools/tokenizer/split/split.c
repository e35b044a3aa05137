/*
 * split.c: makes pretokens of spans. A matcher gives spans in order and without gaps: matches, and the text between
 * them. The behaviours are a fold over these spans, as in tokenizers' NormalizedString::split(): joins() decides
 * whether a span joins the pretoken before it, so one pretoken is held back until the span after it is known. At the
 * end of a window that is not final, the held pretoken goes back, and the next window begins with it.
 */
#include "split.h"

#include <string.h>

#include "tokenizer/unicode/unicode.h"

#define SPANS (SPLIT_ROOM - 1)

/* ---- Matchers --------------------------------------------------------------------------------------------------- */

/* Appends a span that ends at `end`, and moves the matcher's place there. */
static void append_span(struct split_run *run, struct pattern_span *spans, size_t *count, size_t end, bool match)
{
    spans[(*count)++] = (struct pattern_span) { (uint32_t)run->at, (uint32_t)end, match };
    run->at = end;
}

static size_t character_bytes(uint8_t first)
{
    return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

static enum pattern_result by_scanner(struct split_run *run, struct pattern_span *spans, size_t *count)
{
    uint32_t ends[SPANS];
    size_t at = run->at, n = scan_next(&run->splitter->scanner, &run->window, &at, ends, SPANS);

    for (size_t i = 0; i < n; i++)
        append_span(run, spans, count, ends[i], true);
    return n == SPANS ? PATTERN_MORE : PATTERN_DONE;
}

/* Returns the place at which the string occurs next, or NULL. */
static const uint8_t *find_string(const struct splitter *s, const uint8_t *p, const uint8_t *end)
{
    while ((size_t)(end - p) >= s->string_bytes) {
        p = memchr(p, s->string[0], (size_t)(end - p) - s->string_bytes + 1);
        if (!p || memcmp(p, s->string, s->string_bytes) == 0)
            return p;
        p++;
    }
    return NULL;
}

/* Gives spans for an empty string, which matches between all characters, as an empty expression would. */
static enum pattern_result by_empty_string(struct split_run *run, struct pattern_span *spans, size_t *count)
{
    while (*count + 2 <= SPANS) {
        if (run->at == 0 && !run->before_match && *count == 0) {
            append_span(run, spans, count, 0, true);
            run->before_match = true;
        } else if (run->at < run->window.length) {
            append_span(run, spans, count, run->at + character_bytes(run->window.text[run->at]), false);
            append_span(run, spans, count, run->at, true);
        } else {
            return PATTERN_DONE;
        }
    }
    return PATTERN_MORE;
}

static enum pattern_result by_string(struct split_run *run, struct pattern_span *spans, size_t *count)
{
    const struct splitter *s = run->splitter;
    const uint8_t *text = run->window.text, *end = text + run->window.length, *found;

    if (s->string_bytes == 0)
        return by_empty_string(run, spans, count);
    while (*count + 2 <= SPANS) {
        found = find_string(s, text + run->at, end);
        if (!found) {
            if (run->window.final && run->at < run->window.length)
                append_span(run, spans, count, run->window.length, false);
            return PATTERN_DONE;
        }
        if (found > text + run->at)
            append_span(run, spans, count, (size_t)(found - text), false);
        append_span(run, spans, count, run->at + s->string_bytes, true);
    }
    return PATTERN_MORE;
}

/* Returns the kind of run that a character belongs to: 0 between matches; each character of kind 3 is a match of its
 * own. */
static unsigned kind_of(const struct splitter *s, uint32_t c)
{
    unsigned class;

    if (s->matcher == SPLIT_BY_CHARACTER)
        return char_tests(c) & s->tests ? 3 : 0;
    class = unicode_class(&unicode_classes[UNICODE_RUST], c);
    return class & UNICODE_WORD ? 1 : class & UNICODE_SPACE ? 0 : 2;
}

static enum pattern_result by_kind(struct split_run *run, struct pattern_span *spans, size_t *count)
{
    const uint8_t *text = run->window.text;

    while (*count < SPANS) {
        size_t end = run->at, bytes;
        unsigned kind = 0, next = 0;

        while (end < run->window.length) {
            next = kind_of(run->splitter, unicode_decode(text + end, &bytes));
            if (end == run->at)
                kind = next;
            else if (next != kind)
                break;
            end += bytes;
            if (kind == 3)
                break;
        }
        if (end == run->at || (end == run->window.length && kind != 3 && !run->window.final))
            return PATTERN_DONE;
        append_span(run, spans, count, end, kind != 0);
    }
    return PATTERN_MORE;
}

/* Gives spans by script. A pretoken begins with a character of a script, and goes on as long as no other script
 * comes. Only text before the first such character begins otherwise, which the reference drops. */
static enum pattern_result by_script(struct split_run *run, struct pattern_span *spans, size_t *count)
{
    const uint8_t *text = run->window.text;

    while (*count < SPANS) {
        size_t end = run->at, bytes;
        uint8_t script = 0, next;

        while (end < run->window.length) {
            next = char_script(unicode_decode(text + end, &bytes));
            if (end == run->at)
                script = next;
            else if (next != 0 && next != script)
                break;
            end += bytes;
        }
        if (end == run->at || (end == run->window.length && script != 0 && !run->window.final))
            return PATTERN_DONE;
        append_span(run, spans, count, end, script == 0);
    }
    return PATTERN_MORE;
}

static enum pattern_result next_spans(struct split_run *run, struct pattern_span *spans, size_t *count)
{
    *count = 0;
    switch (run->splitter->matcher) {
    case SPLIT_BY_SCANNER:
        return by_scanner(run, spans, count);
    case SPLIT_BY_PATTERN:
        return pattern_next(run->pattern_run, spans, SPANS, count);
    case SPLIT_BY_STRING:
        return by_string(run, spans, count);
    case SPLIT_BY_SCRIPT:
        return by_script(run, spans, count);
    default:
        return by_kind(run, spans, count);
    }
}

/* ---- Behaviours ------------------------------------------------------------------------------------------------- */

/* Returns true if a span with flag `match` joins the pretoken that is held. */
static bool joins(const struct split_run *run, bool match)
{
    switch (run->splitter->behavior) {
    case SPLIT_MERGED_WITH_PREVIOUS:
        return match && !run->previous_match;
    case SPLIT_MERGED_WITH_NEXT:
        return !match && run->previous_match;
    case SPLIT_CONTIGUOUS:
        return match == run->previous_match;
    default:
        return false;
    }
}

static void take_span(struct split_run *run, const struct pattern_span *span, struct split_pretoken *pretokens,
                      size_t *count)
{
    enum split_behavior behavior = run->splitter->behavior;
    bool match = span->match != run->splitter->invert, empty = span->begin == span->end;

    if (behavior == SPLIT_ISOLATED || behavior == SPLIT_REMOVED) {
        if (!empty && !(match && behavior == SPLIT_REMOVED))
            pretokens[(*count)++] = (struct split_pretoken) { span->begin, span->end };
    } else if (run->holds && joins(run, match)) {
        run->held.end = span->end;
    } else {
        if (run->holds && run->held.end > run->held.begin)
            pretokens[(*count)++] = run->held;
        run->holds = true;
        run->held = (struct split_pretoken) { span->begin, span->end };
        run->held_before = run->before_match;
        run->held_previous = run->previous_match;
    }
    run->previous_match = match;
    run->before_match = span->match;
    run->at = span->end;
}

enum pattern_result split_begin(struct split_run *run, const struct splitter *splitter,
                                const struct scan_window *window)
{
    run->splitter = splitter;
    run->window = *window;
    run->at = 0;
    run->holds = false;
    run->held = (struct split_pretoken) { 0, 0 };
    if (splitter->matcher == SPLIT_BY_PATTERN)
        return pattern_begin(run->pattern_run, window, run->before_match);
    return PATTERN_DONE;
}

enum pattern_result split_next(struct split_run *run, struct split_pretoken *pretokens, size_t *count)
{
    struct pattern_span spans[SPANS];
    size_t n;
    enum pattern_result result = next_spans(run, spans, &n);

    *count = 0;
    for (size_t i = 0; i < n; i++)
        take_span(run, &spans[i], pretokens, count);
    if (result == PATTERN_DONE && run->window.final && run->holds) {
        if (run->held.end > run->held.begin)
            pretokens[(*count)++] = run->held;
        run->holds = false;
    }
    return result;
}

size_t split_resume(struct split_run *run)
{
    if (!run->holds)
        return run->at;
    run->holds = false;
    run->before_match = run->held_before;
    run->previous_match = run->held_previous;
    return run->held.begin;
}

/* ---- Splitters by kinds of characters ---------------------------------------------------------------------------- */

/* Makes a splitter by kinds of characters. Whitespace is an expression of Rust's regex crate; the others test single
 * characters (unicode.h). */

static struct splitter by_character(uint8_t tests, enum split_behavior behavior)
{
    return (struct splitter) { .matcher = SPLIT_BY_CHARACTER, .behavior = behavior, .tests = tests };
}

struct splitter split_digits(bool individual)
{
    return by_character(CHAR_NUMERIC, individual ? SPLIT_ISOLATED : SPLIT_CONTIGUOUS);
}

struct splitter split_punctuation(enum split_behavior behavior)
{
    return by_character(CHAR_PUNCTUATION, behavior);
}

struct splitter split_whitespace(void)
{
    return by_character(CHAR_WHITESPACE, SPLIT_REMOVED);
}

struct splitter split_whitespace_words(void)
{
    return (struct splitter) { .matcher = SPLIT_BY_WORDS, .behavior = SPLIT_REMOVED, .invert = true };
}

struct splitter split_scripts(void)
{
    return (struct splitter) { .matcher = SPLIT_BY_SCRIPT, .behavior = SPLIT_REMOVED };
}
