/*
 * pattern_parse.h: reads a regular expression as tiktoken (Rust's fancy-regex) or tokenizers (Oniguruma) would, and
 * writes it in one form without dialects: PCRE2 syntax in which every character class, and every literal, is a *marker*
 * for a set of code points. What cannot be translated is refused, with its name and place.
 *
 * The room pattern/ reads a regular expression and translates it for PCRE2. It does not cut texts: that is split/.
 */
#ifndef LEAT_TOKENIZER_PATTERN_PARSE_H
#define LEAT_TOKENIZER_PATTERN_PARSE_H

#include "base/buffer.h"
#include "pattern_set.h"
#include "tokenizer/scan/scan.h"

/* In `text` a marker is this byte and the set's number in two bytes, high first; all else is ASCII. */
#define PATTERN_MARKER   0xff

#define PATTERN_SETS_MAX 1024

struct pattern_text {
    struct buffer text;
    struct pattern_set **sets; /* no two are equal */
    size_t set_count;
    bool looks_behind; /* \A, ^, \b or a look-behind: a match depends on what comes before it */
};

/* LEAT_E_UNSUPPORTED names what cannot be translated; LEAT_E_NO_MEMORY. `out` is for pattern_text_free() in any
 * case. */
enum leat_status pattern_parse(struct pattern_text *out, const char *pattern, size_t bytes, enum scan_dialect dialect,
                               struct leat_error *err);

void pattern_text_free(struct pattern_text *text);

#endif
