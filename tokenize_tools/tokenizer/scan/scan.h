/*
 * scan.h: scanners for known regular expressions: each cuts a text into the pretokens of its expression. A scanner is
 * found by the text of its expression; other expressions go through pattern_pcre.h.
 *
 * A scanner works on a *window*: the part of a segment (text between added tokens) that is in memory, beginning where
 * a pretoken begins. Unless the window is final, only those pretokens come out that later text cannot change, so the
 * pretokens do not depend on the windows. Only the position is kept between calls.
 *
 * Each scanner has rows, fastest first; the last, "plain", goes from character to character and defines the right
 * answer (scan.c). The others cut blocks of 64 bytes (scan_blocks.c).
 *
 * The room scan/ has scanners for known expressions, a file each, and their kernels. Any other expression belongs to
 * pattern/. test_scanners.c and test_scan_rows.c compare each row with the general way, check_scanners.py with the
 * references.
 */
#ifndef LEAT_TOKENIZER_SCAN_H
#define LEAT_TOKENIZER_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"
#include "tokenizer/unicode/unicode.h"

/* The library of a regular expression decides on its spelling, meaning and Unicode version. */
enum scan_dialect {
    SCAN_RUST = 0,      /* tiktoken's pat_str and tekken.json: Rust's fancy-regex */
    SCAN_ONIGURUMA = 1, /* tokenizer.json */
    SCAN_DIALECTS
};

struct scan_window {
    const uint8_t *text; /* valid UTF-8 that begins and ends between characters */
    size_t length;       /* below 4 GiB */
    bool final;          /* true if the segment ends here */
};

/*
 * Writes up to `room` pretoken ends, as offsets from window->text, beginning with the pretoken at *at. Moves *at to the
 * last of them, and returns their number. Fewer than `room` means that no more are certain: in a final window the text
 * has ended; otherwise the next pretoken needs text that is not there yet. If *at was 0, a result of 0 means a pretoken
 * longer than the window: call again with a larger one.
 */
typedef size_t scan_function(const struct unicode_classes *classes, const struct scan_window *window, size_t *at,
                             uint32_t *ends, size_t room);

struct scan_row {
    const char *name;
    enum cpu_level needs;
    scan_function *const *run; /* functions by the family's number */
};

/* The text of an expression, or of several that are applied one after the other, and the libraries that write it so. */
struct scan_spelling {
    const char *texts[3];
    unsigned dialects; /* bits 1 << enum scan_dialect */
};

struct scan_family {
    const char *name;
    unsigned number;
    const struct scan_row *rows;           /* rows, fastest first, the plain one last; then one without a name */
    const struct scan_spelling *spellings; /* spellings; the last has texts[0] == NULL */
    bool leaves_gaps;                      /* the expression does not match every character: see scanner_find() */
};

/* A tokenizer's scanner: a family, its row for this CPU, and the classes of its dialect. */
struct scanner {
    const struct scan_family *family;
    const struct scan_row *row;
    const struct unicode_classes *classes;
};

/*
 * Finds the scanner that cuts as the `count` expressions do, applied one after another, each with behaviour Isolated
 * (the text between matches is a pretoken, too). If the reference keeps only matches (tiktoken; Removed with invert),
 * set `matches_only`: families whose expression leaves gaps are then skipped. Returns false if no scanner fits.
 */
bool scanner_find(struct scanner *out, const char *const *texts, const size_t *bytes, size_t count,
                  enum scan_dialect dialect, bool matches_only);

/* Finds the family of that name ("gpt2", "cl100k", ...) in a dialect, for tests and for built-in vocabularies. */
bool scanner_named(struct scanner *out, const char *name, enum scan_dialect dialect);

/* Returns family `number`, for tests; NULL past the last. */
const struct scan_family *scan_family_number(size_t number);

static inline size_t scan_next(const struct scanner *s, const struct scan_window *window, size_t *at, uint32_t *ends,
                               size_t room)
{
    return s->row->run[s->family->number](s->classes, window, at, ends, room);
}

#endif
