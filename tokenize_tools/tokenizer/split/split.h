/*
 * split.h: splits a text into pretokens as the pre-tokenizers of a tokenizer.json do: something finds *matches* (a
 * scanner, an expression, a string, a kind of character), and a behaviour says what becomes of them. Each step of a
 * Sequence is a splitter of its own and works inside the pretokens of the step before.
 *
 * The room split/ has the pre-tokenizers: what cuts a text into pretokens. What a pretoken becomes is a model's
 * concern.
 *
 * A *pretoken* is what a pre-tokenizer cuts a text into; a model encodes each alone.
 */
#ifndef LEAT_TOKENIZER_SPLIT_H
#define LEAT_TOKENIZER_SPLIT_H

#include "tokenizer/pattern/pattern_pcre.h"
#include "tokenizer/scan/scan.h"

enum split_behavior {
    SPLIT_ISOLATED,
    SPLIT_REMOVED,
    SPLIT_MERGED_WITH_PREVIOUS,
    SPLIT_MERGED_WITH_NEXT,
    SPLIT_CONTIGUOUS
};

enum split_matcher {
    SPLIT_BY_SCANNER,   /* every pretoken of the scanner is a match */
    SPLIT_BY_PATTERN,   /* matches of an expression */
    SPLIT_BY_STRING,    /* occurrences of a string, from the left, not overlapping */
    SPLIT_BY_CHARACTER, /* each character of a kind */
    SPLIT_BY_WORDS,     /* \w+|[^\w\s]+, Rust's: the pre-tokenizer Whitespace */
    SPLIT_BY_SCRIPT     /* characters before the first with a script; SPLIT_REMOVED */
};

struct splitter {
    enum split_matcher matcher;
    enum split_behavior behavior;
    bool invert;                   /* matches count as the text between them, and vice versa */
    struct scanner scanner;        /* SPLIT_BY_SCANNER; not of a family that leaves gaps, but for SPLIT_ISOLATED */
    const struct pattern *pattern; /* SPLIT_BY_PATTERN; not owned */
    const uint8_t *string;         /* SPLIT_BY_STRING: valid UTF-8; not owned */
    size_t string_bytes;
    uint8_t tests; /* SPLIT_BY_CHARACTER: bits of char_tests() */
};

/* The pre-tokenizers that are made of kinds of characters. */
struct splitter split_digits(bool individual);
struct splitter split_punctuation(enum split_behavior behavior);
struct splitter split_whitespace(void);       /* WhitespaceSplit */
struct splitter split_whitespace_words(void); /* Whitespace */
struct splitter split_scripts(void);          /* UnicodeScripts */

/* A pretoken: not empty, and text[begin, end) of the window. */
struct split_pretoken {
    uint32_t begin, end;
};

/* How many pretokens one split_next() may give. Scanners are 15 % slower if asked for a quarter of it at a time. */
#define SPLIT_ROOM 1025

/*
 * Where a splitter stands in a segment. All zero at first, except `pattern_run`, which SPLIT_BY_PATTERN needs (of its
 * pattern). Then, for each window: split_begin(), and split_next() until it no longer returns PATTERN_MORE. The next
 * window must begin at split_resume().
 */
struct split_run {
    const struct splitter *splitter;
    struct pattern_run *pattern_run;
    struct scan_window window;
    size_t at;           /* the spans up to here have been taken */
    bool before_match;   /* the last span was a match: the matcher's own flag */
    bool previous_match; /* the same, inverted if so asked */
    bool holds;          /* what follows may still join the pretoken `held` */
    struct split_pretoken held;
    bool held_before, held_previous; /* before_match and previous_match as they were before it */
};

enum pattern_result split_begin(struct split_run *run, const struct splitter *splitter,
                                const struct scan_window *window);

/* Up to SPLIT_ROOM pretokens. PATTERN_MORE: call again; *count may be 0 even then. PATTERN_DONE, _GAVE_UP and
 * _NO_MEMORY as pattern_next(). */
enum pattern_result split_next(struct split_run *run, struct split_pretoken *pretokens, size_t *count);

/* After PATTERN_DONE: how much of the window is done with. Prepares the run for a window that begins there. */
size_t split_resume(struct split_run *run);

#endif
