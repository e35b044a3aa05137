/*
 * pattern_pcre.h: the general path: PCRE2 runs every expression that has no scanner of its own (scan.h).
 *
 * PCRE2 never sees Unicode. All characters that the expression's classes and literals do not tell apart are one
 * *symbol* of one byte; a text is turned into symbols, and the expression into one over bytes. So a class is defined by
 * leat's tables (not by those of the installed PCRE2), is a bit map of 32 bytes however many ranges it has, and is as
 * fast as a class of ASCII.
 *
 * A text for which an expression needs too many steps, or too much memory, is rejected: PATTERN_GAVE_UP.
 */
#ifndef LEAT_TOKENIZER_PATTERN_PCRE_H
#define LEAT_TOKENIZER_PATTERN_PCRE_H

#include "base/buffer.h"
#include "leat.h"
#include "tokenizer/scan/scan.h"

struct pattern;     /* compiled; never changes, so threads share it */
struct pattern_run; /* one thread's scratch memory, and its place in a window */

struct pattern_span {
    uint32_t begin, end; /* byte offsets in the window; equal for an empty match */
    bool match;          /* false for the text between two matches */
};

enum pattern_result {
    PATTERN_DONE,     /* no more spans are certain in this window (scan.h) */
    PATTERN_MORE,     /* `room` spans were given: call again */
    PATTERN_GAVE_UP,  /* too many steps: the record must be rejected */
    PATTERN_STOPPED,  /* the steps' `stop` demanded it */
    PATTERN_NO_MEMORY /* an allocation failed */
};

/*
 * The steps that all expressions may still take for a text. Each byte that is matched adds steps, so that a long text
 * may take longer; but the steps that are left never exceed those at the start. A step is an item of the expression
 * that is tried, or eight characters that an item skips. Ordinary matches are not counted: see pattern_pcre.c.
 */
struct pattern_steps {
    uint64_t left;
    uint32_t (*stop)(void *context); /* asked now and then; a nonzero result is PATTERN_STOPPED. May be NULL */
    void *context;
    uint64_t taken; /* steps of all texts, for tests */
    /* bytes that normalizers or decoders have written for the text, and that they may write: see matcher_wrote() */
    uint64_t written, may_write;
};

/* Begins a text. */
void pattern_steps_begin(struct pattern_steps *s);

/*
 * Compiles a pattern (valid UTF-8), which is not kept. Returns LEAT_E_UNSUPPORTED if a part of it cannot be translated,
 * which `err` names with its place, or this build has no PCRE2; or LEAT_E_NO_MEMORY.
 */
enum leat_status pattern_compile(struct pattern **out, const char *pattern, size_t bytes, enum scan_dialect dialect,
                                 struct leat_error *err);
void pattern_free(struct pattern *p);

/* Returns true if matches depend on the text before them, so that each window must be a whole segment. */
bool pattern_needs_all(const struct pattern *p);

/* Makes a run of a pattern, which must outlive it. Returns NULL if there is no memory. */
struct pattern_run *pattern_run_new(const struct pattern *p);
void pattern_run_free(struct pattern_run *run);

/* Sets the bound that counts its memory, before its first window. */
void pattern_run_bound(struct pattern_run *run, struct bound *bound);

/* Turns a result for a window of `bytes` bytes into a status, and fills the error. A run that gave up is LEAT_E_TEXT;
 * PATTERN_NO_MEMORY is LEAT_E_PRETOKEN if the bound has no room for the window, else LEAT_E_NO_MEMORY. */
enum leat_status pattern_status(const struct pattern_run *run, enum pattern_result r, size_t bytes,
                                struct leat_error *err);

/* Sets the steps that all runs for one text share. Without them, each window is a text. */
void pattern_run_steps(struct pattern_run *run, struct pattern_steps *steps);

/*
 * Begins a window at its first byte. The window's text must stay until the last pattern_next(). `after_match` says that
 * the span before it was a match that ended here. Returns PATTERN_DONE, PATTERN_GAVE_UP (for a window that is not
 * final, of a pattern that needs all) or PATTERN_NO_MEMORY. Takes one byte of memory per character.
 */
enum pattern_result pattern_begin(struct pattern_run *run, const struct scan_window *window, bool after_match);

/* Gives up to `room` further spans, in order and without gaps, as find_iter of Rust and Oniguruma does. An empty span
 * never follows a match or an empty span at its place. */
enum pattern_result pattern_next(struct pattern_run *run, struct pattern_span *spans, size_t room, size_t *count);

/* Returns, after PATTERN_DONE of a window that is not final, the place before which no further match can begin,
 * whatever text follows. */
size_t pattern_certain(const struct pattern_run *run);

#endif
