/*
 * scan_deepseek.h: the scanner of DeepSeek V3: three isolated splits, each inside the pretokens of the one before,
 *     \p{N}{1,3}
 *     [一-龥\x{3040}-\x{30ff}]+
 *     [ASCII punctuation][A-Za-z]+|X?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
 * with X = [^\r\n\p{L}\p{P}\p{S}], done in one pass: a digit, or a change between the ideographs and kana of the second
 * split and anything else, is a *border*, and for the third expression the text ends there. The expressions do not
 * match every character; unmatched ones (controls, unassigned, private use) are a pretoken up to the next match.
 */
#ifndef LEAT_TOKENIZER_SCAN_DEEPSEEK_H
#define LEAT_TOKENIZER_SCAN_DEEPSEEK_H

#include "scan_rule.h"

#define DEEPSEEK_CJK     0x8000u /* a bit beside those of unicode.h */
#define DEEPSEEK_LETTERS (UNICODE_L | UNICODE_M)
#define DEEPSEEK_SYMBOLS (UNICODE_P | UNICODE_S)

/* Returns the class of the character at p, with the bit CJK if the second split takes it. */
SCAN_INLINE unsigned deepseek_class_at(const struct scan_text *t, const uint8_t *p, size_t *bytes)
{
    uint32_t c;

    if (*p < 0x80) {
        *bytes = 1;
        return t->low[*p];
    }
    c = unicode_decode(p, bytes);
    return unicode_class(t->classes, c) |
           ((c >= 0x4e00 && c <= 0x9fa5) || (c >= 0x3040 && c <= 0x30ff) ? DEEPSEEK_CJK : 0);
}

/* Returns true if a character ends a pretoken whose characters have `cjk` in their class. */
SCAN_INLINE bool deepseek_is_border(unsigned class, unsigned cjk)
{
    return class & UNICODE_N || (class & DEEPSEEK_CJK) != cjk;
}

SCAN_INLINE const uint8_t *deepseek_run_of(const struct scan_text *t, const uint8_t *p, unsigned mask, unsigned cjk)
{
    unsigned class;
    size_t bytes;

    for (; p < t->end; p += bytes) {
        class = deepseek_class_at(t, p, &bytes);
        if (!(class & mask) || deepseek_is_border(class, cjk))
            break;
    }
    return p;
}

SCAN_INLINE const uint8_t *deepseek_letters(const struct scan_text *t, const uint8_t *p, unsigned cjk)
{
    if (!cjk)
        p = scan_ascii_run(t, p, 'a', 'z', 0x20);
    return deepseek_run_of(t, p, DEEPSEEK_LETTERS, cjk);
}

SCAN_INLINE const uint8_t *deepseek_symbols(const struct scan_text *t, const uint8_t *p, unsigned cjk)
{
    p = deepseek_run_of(t, p, DEEPSEEK_SYMBOLS, cjk);
    while (!cjk && p < t->end && scan_is_newline(*p))
        p++;
    return p;
}

SCAN_INLINE bool deepseek_is_ascii_letter(uint8_t c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

SCAN_INLINE const uint8_t *deepseek_space(const struct scan_text *t, const uint8_t *p)
{
    const uint8_t *begin = p, *last = p, *newline = NULL;
    unsigned class = 0;
    size_t bytes;

    for (; p < t->end && (class = deepseek_class_at(t, p, &bytes)) & UNICODE_SPACE; p += bytes) {
        last = p;
        if (scan_is_newline(*p))
            newline = p + 1;
    }
    if (p >= t->end && !t->final)
        return NULL;
    if (newline)
        return newline;
    return p >= t->end || last == begin || deepseek_is_border(class, 0) ? p : last;
}

/* Returns the end of unmatched text at p: the character is in none of the classes that match by themselves, and no
 * letter follows it. */
SCAN_INLINE const uint8_t *deepseek_unmatched(const struct scan_text *t, const uint8_t *p, size_t bytes, unsigned cjk)
{
    unsigned class;
    size_t next_bytes;

    for (;;) {
        p += bytes;
        if (p >= t->end)
            return p;
        class = deepseek_class_at(t, p, &bytes);
        if (class & (DEEPSEEK_SYMBOLS | UNICODE_SPACE) || deepseek_is_border(class, cjk))
            return p;
        if (p + bytes < t->end) {
            class = deepseek_class_at(t, p + bytes, &next_bytes);
            if (class & DEEPSEEK_LETTERS && !deepseek_is_border(class, cjk))
                return p;
        }
    }
}

SCAN_INLINE const uint8_t *deepseek_pretoken(const struct scan_rule *rule, const struct scan_text *t, const uint8_t *p)
{
    const uint8_t *next;
    size_t bytes, next_bytes = 0;
    unsigned class = deepseek_class_at(t, p, &bytes), cjk = class & DEEPSEEK_CJK, next_class = 0;

    (void)rule;
    if (class & DEEPSEEK_LETTERS)
        return deepseek_letters(t, p + bytes, cjk);
    if (class & UNICODE_N)
        return scan_digits(t, p, 3);
    next = p + bytes;
    if (next < t->end) {
        next_class = deepseek_class_at(t, next, &next_bytes);
        if (deepseek_is_border(next_class, cjk))
            next_class = 0;
    }
    if (class & DEEPSEEK_SYMBOLS) {
        if (*p < 0x80 && next < t->end && deepseek_is_ascii_letter(*next))
            return scan_ascii_run(t, next, 'a', 'z', 0x20);
        return deepseek_symbols(t, next, cjk);
    }
    if (next_class & DEEPSEEK_LETTERS && !scan_is_newline(*p))
        return deepseek_letters(t, next + next_bytes, cjk);
    if (*p == ' ' && next_class & DEEPSEEK_SYMBOLS)
        return deepseek_symbols(t, next + next_bytes, cjk);
    return class & UNICODE_SPACE ? deepseek_space(t, p) : deepseek_unmatched(t, p, bytes, cjk);
}

/* ---- By masks ---------------------------------------------------------------------------------------------------- */

SCAN_INLINE uint64_t deepseek_starts(const struct scan_rule *rule, const struct scan_masks *m)
{
    uint64_t known = m->letters | m->digits | m->symbols | m->white, solid = m->valid & ~m->white;
    uint64_t ascii_letters = m->letters & ~m->high, blank = m->white & ~m->newlines;
    /* newlines after punctuation belong to it */
    uint64_t taken = scan_runs_from(m->newlines, m->newlines & (m->symbols & ~m->apart) << 1);
    struct scan_starts spaces, digits = scan_digit_starts(m, 3);
    uint64_t borders = m->high ? (m->apart ^ m->apart << 1) & m->valid : 0, starts, symbols, joined;

    (void)rule;
    spaces = scan_white_starts(m, m->white & ~taken, m->newlines & ~taken, solid & ~(m->digits | m->apart));
    symbols = (scan_first(m->symbols) & ~(m->spaces << 1)) | (m->symbols & borders);
    /* a mark of ASCII takes the letters of ASCII after it */
    joined = ascii_letters & (symbols & ~m->high) << 1;
    starts = spaces.at | digits.at | symbols | borders | (scan_first(m->letters) & ~(blank << 1) & ~joined);
    if (m->high)
        starts |= scan_behind(ascii_letters, joined) & m->letters;
    return scan_certain(m, starts, spaces.uncertain | digits.uncertain | bits_from(m->valid & ~known), 1);
}

/* ---- The family -------------------------------------------------------------------------------------------------- */

static const struct scan_rule scan_deepseek = {
    .pretoken = deepseek_pretoken,
    .starts = deepseek_starts,
    .kind = { .letters = UNICODE_L | UNICODE_M, .symbols = true, .kana = true },
};

static const struct scan_spelling deepseek_spellings[] = {
    /* The second split: from U+4E00 to U+9FA5, U+3040 to U+309F, U+30A0 to U+30FF. The third has bare CR and LF. */
    { { "\\p{N}{1,3}", "[\xe4\xb8\x80-\xe9\xbe\xa5\xe3\x81\x80-\xe3\x82\x9f\xe3\x82\xa0-\xe3\x83\xbf]+",
        "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|"
        " ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+" },
      SCAN_FOR_BOTH },
    SCAN_SPELLINGS_END,
};

#endif
