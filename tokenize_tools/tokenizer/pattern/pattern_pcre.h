/*
 * pattern_pcre.h: the general path: PCRE2 runs every expression that no hand-made scanner serves.
 *
 * PCRE2 never sees Unicode. All characters that the expression's classes and literals do not tell apart are one
 * *symbol* of one byte; a text is turned into symbols, and the expression into one over bytes. So a class means what
 * leat's tables say (not those of the installed PCRE2), is a bit map of 32 bytes however many ranges it has, and runs
 * as fast as a class of ASCII.
 *
 * A text for which an expression needs too many steps, or too much memory, is a reject: PATTERN_GAVE_UP.
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
    bool match;          /* else the text between two matches */
};

enum pattern_result {
    PATTERN_DONE,     /* no more spans are certain in this window (scan.h) */
    PATTERN_MORE,     /* `room` spans were given: call again */
    PATTERN_GAVE_UP,  /* too many steps: the record must be rejected */
    PATTERN_STOPPED,  /* the steps' `stop` said so */
    PATTERN_NO_MEMORY /* an allocation failed */
};

/*
 * What all expressions may still do for a text: a store of steps, into which more come with each byte that is done with
 * (so that a long text may take longer), up to what there was at first. A step is an item of the expression that is
 * tried, or eight characters that one passes over. Ordinary matches are made without counting: see pattern_pcre.c.
 */
struct pattern_steps {
    uint64_t left;
    uint32_t (*stop)(void *context); /* asked now and then; not 0: PATTERN_STOPPED. May be NULL */
    void *context;
    uint64_t taken; /* by all texts: for tests */
    /* bytes that normalizers or decoders have written for the text, and may write: see matcher_wrote() */
    uint64_t written, may_write;
};

/* A text begins. */
void pattern_steps_begin(struct pattern_steps *s);

/*
 * LEAT_E_UNSUPPORTED: `err` names what in the pattern has no equal here, and where; or that this build has no PCRE2.
 * LEAT_E_NO_MEMORY. `pattern` (valid UTF-8) is not kept.
 */
enum leat_status pattern_compile(struct pattern **out, const char *pattern, size_t bytes, enum scan_dialect dialect,
                                 struct leat_error *err);
void pattern_free(struct pattern *p);

/* Whether matches depend on the text before them, so that every window must begin where its segment does and be
 * final. */
bool pattern_needs_all(const struct pattern *p);

/* NULL if memory is short. The pattern must outlive it. */
struct pattern_run *pattern_run_new(const struct pattern *p);
void pattern_run_free(struct pattern_run *run);

/* Where its memory is counted, before its first window. */
void pattern_run_bound(struct pattern_run *run, struct bound *bound);

/* What a result means for a window of so many bytes: LEAT_E_TEXT if the run gave up; LEAT_E_STOPPED; for
 * PATTERN_NO_MEMORY LEAT_E_PRETOKEN, if the bound has no room for the window, or LEAT_E_NO_MEMORY; else LEAT_OK. */
enum leat_status pattern_status(const struct pattern_run *run, enum pattern_result r, size_t bytes,
                                struct leat_error *err);

/* Where its steps are counted, with those of other runs for the same text. Without, each window is a text. */
void pattern_run_steps(struct pattern_run *run, struct pattern_steps *steps);

/*
 * Begins a window, from its first byte; the window's text must stay until the last pattern_next(). `after_match`: the
 * span before it was a match that ended here. PATTERN_DONE, PATTERN_GAVE_UP (a window that is not final, of a pattern
 * that needs all) or PATTERN_NO_MEMORY. Takes one byte a character.
 */
enum pattern_result pattern_begin(struct pattern_run *run, const struct scan_window *window, bool after_match);

/* Up to `room` further spans, in order and without gaps, as Rust's and Oniguruma's find_iter would give them. Never
 * two empty ones at one place, none empty right after a match. */
enum pattern_result pattern_next(struct pattern_run *run, struct pattern_span *spans, size_t room, size_t *count);

/* After PATTERN_DONE of a window that is not final: the byte before which no further match can begin, whatever
 * follows. */
size_t pattern_certain(const struct pattern_run *run);

#endif
