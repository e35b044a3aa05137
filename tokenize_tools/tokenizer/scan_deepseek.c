/*
 * scan_deepseek.c: the scanner of DeepSeek V3: three isolated splits, each inside the pieces of the one before,
 *     \p{N}{1,3}
 *     [一-龥\x{3040}-\x{30ff}]+
 *     [ASCII punctuation][A-Za-z]+|X?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
 * with X = [^\r\n\p{L}\p{P}\p{S}], done in one pass: a digit, or a change between the ideographs and kana of the second
 * split and anything else, is a *border*, and for the third expression the text ends there. It does not match every
 * character; what it leaves (controls, unassigned, private use) is a piece up to the next match.
 */
#include "scan_text.h"

#define CJK     0x8000u /* beside the bits of unicode.h */
#define LETTERS (UNICODE_L | UNICODE_M)
#define SYMBOLS (UNICODE_P | UNICODE_S)

/* The class of the character at p; with the bit CJK if the second split takes it. */
SCAN_INLINE unsigned class_at(const struct scan_text *t, const uint8_t *p, size_t *bytes)
{
    uint32_t c;

    if (*p < 0x80) {
        *bytes = 1;
        return t->low[*p];
    }
    c = unicode_decode(p, bytes);
    return unicode_class(t->classes, c) | ((c >= 0x4e00 && c <= 0x9fa5) || (c >= 0x3040 && c <= 0x30ff) ? CJK : 0);
}

/* Whether the text ends at p for a piece whose characters have `cjk` in their class. */
SCAN_INLINE bool is_border(unsigned class, unsigned cjk)
{
    return class & UNICODE_N || (class & CJK) != cjk;
}

SCAN_INLINE const uint8_t *run_of(const struct scan_text *t, const uint8_t *p, unsigned mask, unsigned cjk)
{
    unsigned class;
    size_t bytes;

    for (; p < t->end; p += bytes) {
        class = class_at(t, p, &bytes);
        if (!(class & mask) || is_border(class, cjk))
            break;
    }
    return p;
}

SCAN_INLINE const uint8_t *letters(const struct scan_text *t, const uint8_t *p, unsigned cjk)
{
    if (!cjk)
        p = scan_ascii_run(t, p, 'a', 'z', 0x20);
    return run_of(t, p, LETTERS, cjk);
}

SCAN_INLINE const uint8_t *symbols(const struct scan_text *t, const uint8_t *p, unsigned cjk)
{
    p = run_of(t, p, SYMBOLS, cjk);
    while (!cjk && p < t->end && scan_is_newline(*p))
        p++;
    return p;
}

SCAN_INLINE bool is_ascii_letter(uint8_t c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

SCAN_INLINE const uint8_t *space(const struct scan_text *t, const uint8_t *p)
{
    const uint8_t *begin = p, *last = p, *newline = NULL;
    unsigned class = 0;
    size_t bytes;

    for (; p < t->end && (class = class_at(t, p, &bytes)) & UNICODE_SPACE; p += bytes) {
        last = p;
        if (scan_is_newline(*p))
            newline = p + 1;
    }
    if (p >= t->end && !t->final)
        return NULL;
    if (newline)
        return newline;
    return p >= t->end || last == begin || is_border(class, 0) ? p : last;
}

/* p is in none of the classes that match by themselves, and no letter follows it. */
SCAN_INLINE const uint8_t *unmatched(const struct scan_text *t, const uint8_t *p, size_t bytes, unsigned cjk)
{
    unsigned class;
    size_t next_bytes;

    for (;;) {
        p += bytes;
        if (p >= t->end)
            return p;
        class = class_at(t, p, &bytes);
        if (class & (SYMBOLS | UNICODE_SPACE) || is_border(class, cjk))
            return p;
        if (p + bytes < t->end) {
            class = class_at(t, p + bytes, &next_bytes);
            if (class & LETTERS && !is_border(class, cjk))
                return p;
        }
    }
}

SCAN_INLINE const uint8_t *piece(const struct scan_text *t, const uint8_t *p)
{
    const uint8_t *next;
    size_t bytes, next_bytes = 0;
    unsigned class = class_at(t, p, &bytes), cjk = class & CJK, next_class = 0;

    if (class & LETTERS)
        return letters(t, p + bytes, cjk);
    if (class & UNICODE_N)
        return scan_digits(t, p, 3);
    next = p + bytes;
    if (next < t->end) {
        next_class = class_at(t, next, &next_bytes);
        if (is_border(next_class, cjk))
            next_class = 0;
    }
    if (class & SYMBOLS) {
        if (*p < 0x80 && next < t->end && is_ascii_letter(*next))
            return scan_ascii_run(t, next, 'a', 'z', 0x20);
        return symbols(t, next, cjk);
    }
    if (next_class & LETTERS && !scan_is_newline(*p))
        return letters(t, next + next_bytes, cjk);
    if (*p == ' ' && next_class & SYMBOLS)
        return symbols(t, next + next_bytes, cjk);
    return class & UNICODE_SPACE ? space(t, p) : unmatched(t, p, bytes, cjk);
}

static size_t run(const struct unicode_classes *classes, const struct scan_window *window, size_t *at, uint32_t *ends,
                  size_t room)
{
    SCAN_LOOP(piece(&t, p));
}

extern const struct scan_row scan_rows_deepseek[];
const struct scan_row scan_rows_deepseek[] = {
    { "plain", CPU_PLAIN, run },
};
