/*
 * pattern_parse.h: reads a regular expression as tiktoken (Rust's fancy-regex) or tokenizers (Oniguruma) would, and
 * writes it in one form without dialects: PCRE2 syntax in which every character class, and every literal, is a *marker*
 * for a set of code points. An expression that cannot be translated is refused, with the reason and its place.
 *
 * The room pattern/ reads a regular expression and translates it for PCRE2. It does not cut texts: that is split/.
 */
#ifndef LEAT_TOKENIZER_PATTERN_PARSE_H
#define LEAT_TOKENIZER_PATTERN_PARSE_H

#include "base/buffer.h"
#include "pattern_set.h"
#include "tokenizer/scan/scan.h"

/* The first byte of a marker in `text`; the set's number follows in two bytes, high first. All other bytes are
 * ASCII. */
#define PATTERN_MARKER   0xff

#define PATTERN_SETS_MAX 1024

struct pattern_text {
    struct buffer text;
    struct pattern_set **sets; /* sets, all of them different */
    size_t set_count;
    bool looks_behind; /* true if a match depends on the text before it: \A, ^, \b or a look-behind */
};

/* Reads an expression. Returns LEAT_E_UNSUPPORTED, with the part that cannot be translated, or LEAT_E_NO_MEMORY.
 * pattern_text_free() must follow, on failure too. */
enum leat_status pattern_parse(struct pattern_text *out, const char *pattern, size_t bytes, enum scan_dialect dialect,
                               struct leat_error *err);

void pattern_text_free(struct pattern_text *text);

#endif
