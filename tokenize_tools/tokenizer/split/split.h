/*
 * split.h: splits a text into pretokens as the pre-tokenizers of a tokenizer.json do: a matcher (a scanner, an
 * expression, a string, a kind of character) finds *matches*, and a behaviour decides whether they are pretokens of
 * their own, join a neighbour, or are removed. Each step of a Sequence is a splitter of its own and works inside the
 * pretokens of the step before.
 *
 * The room split/ has the pre-tokenizers, which cut a text into pretokens. Models turn pretokens into ids.
 *
 * A *pretoken* is a piece that a pre-tokenizer cuts off a text; a model encodes each alone.
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
    bool invert;            /* true if matches and the text between them change roles */
    struct scanner scanner; /* for SPLIT_BY_SCANNER; its family may leave gaps only if SPLIT_ISOLATED */
    const uint8_t *string;  /* for SPLIT_BY_STRING: valid UTF-8; not owned */
    size_t string_bytes;
    uint8_t tests; /* for SPLIT_BY_CHARACTER: bits of char_tests() */
};

/* Returns the pre-tokenizers that are made of kinds of characters. */
struct splitter split_digits(bool individual);
struct splitter split_punctuation(enum split_behavior behavior);
struct splitter split_whitespace(void);       /* WhitespaceSplit */
struct splitter split_whitespace_words(void); /* Whitespace */
struct splitter split_scripts(void);          /* UnicodeScripts */

/* A pretoken: not empty, and text[begin, end) of the window. */
struct split_pretoken {
    uint32_t begin, end;
};

/* Most pretokens of one split_next(). Scanners are 15 % slower if asked for a quarter of it at a time. */
#define SPLIT_ROOM 1025

/*
 * The state of a splitter in a segment; zeroed at first, except `pattern_run`, a run of the pattern of
 * SPLIT_BY_PATTERN. Then, for each window: split_begin(), and split_next() until it does not return PATTERN_MORE. The
 * next window must begin at split_resume().
 */
struct split_run {
    const struct splitter *splitter;
    struct pattern_run *pattern_run;
    struct scan_window window;
    size_t at;           /* end of the spans that have been taken */
    bool before_match;   /* true if the last span was a match of the matcher */
    bool previous_match; /* before_match, inverted if the splitter inverts */
    bool holds;          /* true if later text may still join the pretoken `held` */
    struct split_pretoken held;
    bool held_before, held_previous; /* before_match and previous_match before `held` */
};

enum pattern_result split_begin(struct split_run *run, const struct splitter *splitter,
                                const struct scan_window *window);

/* Gives up to SPLIT_ROOM pretokens. After PATTERN_MORE it is called again, even if *count is 0. The other results are
 * those of pattern_next(). */
enum pattern_result split_next(struct split_run *run, struct split_pretoken *pretokens, size_t *count);

/* Returns, after PATTERN_DONE, the place at which the next window must begin, and prepares the run for it. */
size_t split_resume(struct split_run *run);

#endif
