/*
 * scan_text.h: functions that the scalar scanners share: classes of characters, runs of letters eight bytes at a time,
 * white space and contractions. All of them are inlined into each scanner.
 */
#ifndef LEAT_TOKENIZER_SCAN_TEXT_H
#define LEAT_TOKENIZER_SCAN_TEXT_H

#include "base/bytes64.h"
#include "scan.h"

#define SCAN_INLINE BYTES_INLINE

/* Bytes past a pretoken's end that a scanner may look at, except for runs that it reports as reaching the window's
 * end: enough for the contraction 'ſ after a word, and a character of four bytes after that. */
#define SCAN_AHEAD 16

struct scan_text {
    const uint8_t *end;
    const uint8_t *certain; /* pretokens that end at or before this are certain */
    const uint16_t *low;    /* classes of U+0000 to U+00FF */
    const struct unicode_classes *classes;
    bool final;
};

SCAN_INLINE struct scan_text scan_text(const struct unicode_classes *classes, const struct scan_window *window)
{
    size_t kept = window->final ? 0 : window->length < SCAN_AHEAD ? window->length : SCAN_AHEAD;

    return (struct scan_text) {
        .end = window->text + window->length,
        .certain = window->text + (window->length - kept),
        .low = classes->blocks[classes->index[0]],
        .classes = classes,
        .final = window->final,
    };
}

/* Returns the class of the character at p, which is before the end, and sets *bytes to its length. */
SCAN_INLINE unsigned scan_class(const struct scan_text *t, const uint8_t *p, size_t *bytes)
{
    if (*p < 0x80) {
        *bytes = 1;
        return t->low[*p];
    }
    return unicode_class(t->classes, unicode_decode(p, bytes));
}

/* Returns the end of the run of characters that have one of `mask`'s bits. */
SCAN_INLINE const uint8_t *scan_run(const struct scan_text *t, const uint8_t *p, unsigned mask)
{
    size_t bytes;

    while (p < t->end && scan_class(t, p, &bytes) & mask)
        p += bytes;
    return p;
}

/* Returns the end of the run of characters that have none of `mask`'s bits. */
SCAN_INLINE const uint8_t *scan_run_without(const struct scan_text *t, const uint8_t *p, unsigned mask)
{
    size_t bytes;

    while (p < t->end && !(scan_class(t, p, &bytes) & mask))
        p += bytes;
    return p;
}

/* Returns how many of the eight bytes, from the first on, lie in [first, last], both below 0x80. `fold` is OR-ed to
 * each byte: 0x20 takes capitals for small letters. No carry passes from one byte to the next, since the high bits are
 * off. */
SCAN_INLINE unsigned scan_bytes_between(uint64_t x, uint8_t first, uint8_t last, uint8_t fold)
{
    uint64_t low = (x & BYTES_EACH(0x7f)) | BYTES_EACH(fold);
    uint64_t from_first = low + BYTES_EACH(0x80u - first), after_last = low + BYTES_EACH(0x7fu - last);
    uint64_t outside = (~from_first | after_last | x) & BYTES_EACH(0x80);

    return outside ? bits_lowest(outside) / 8 : 8;
}

/* Returns the end of the run of bytes in [first, last]. Most words are shorter than eight bytes, and then no branch
 * depends on their length. */
SCAN_INLINE const uint8_t *scan_ascii_run(const struct scan_text *t, const uint8_t *p, uint8_t first, uint8_t last,
                                          uint8_t fold)
{
    while (t->end - p >= 8) {
        unsigned n = scan_bytes_between(bytes_load64(p), first, last, fold);

        p += n;
        if (n < 8)
            return p;
    }
    while (p < t->end && *p < 0x80 && (*p | fold) >= first && (*p | fold) <= last)
        p++;
    return p;
}

/* Returns the end of the run of characters that have one of `mask`'s bits and none of `without`'s. In ASCII these are
 * the small letters and, with `fold` 0x20, the capitals. */
SCAN_INLINE const uint8_t *scan_letters(const struct scan_text *t, const uint8_t *p, unsigned mask, unsigned without,
                                        uint8_t fold)
{
    for (;;) {
        p = scan_ascii_run(t, p, 'a', 'z', fold);
        if (p >= t->end || *p < 0x80)
            return p;
        do {
            size_t bytes;
            unsigned class = scan_class(t, p, &bytes);

            if (!(class & mask) || class & without)
                return p;
            p += bytes;
        } while (p < t->end && *p >= 0x80);
    }
}

/* Returns the end of at most `max` digits from p on. */
SCAN_INLINE const uint8_t *scan_digits(const struct scan_text *t, const uint8_t *p, unsigned max)
{
    size_t bytes;

    for (unsigned n = 0; n < max && p < t->end && scan_class(t, p, &bytes) & UNICODE_N; n++)
        p += bytes;
    return p;
}

/*
 * Returns the end of a contraction that begins at the apostrophe p, 's 't 'm 'd 're 've 'll, or NULL. `fold` allows
 * capitals, too; then 'ſ (U+017F) is 's, too, in both dialects.
 */
SCAN_INLINE const uint8_t *scan_contraction(const struct scan_text *t, const uint8_t *p, bool fold)
{
    uint8_t a, b;

    if (t->end - p < 2)
        return NULL;
    a = fold && p[1] < 0x80 ? p[1] | 0x20 : p[1];
    if (a == 's' || a == 't' || a == 'm' || a == 'd')
        return p + 2;
    if (t->end - p < 3)
        return NULL;
    if (fold && p[1] == 0xc5 && p[2] == 0xbf)
        return p + 3;
    b = fold && p[2] < 0x80 ? p[2] | 0x20 : p[2];
    if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l'))
        return p + 3;
    return NULL;
}

SCAN_INLINE bool scan_is_newline(uint8_t c)
{
    return c == '\n' || c == '\r';
}

enum scan_space {
    SCAN_SPACE_PLAIN,    /* \s+(?!\S)|\s+ */
    SCAN_SPACE_NEWLINES, /* \s*[\r\n]+|\s+(?!\S)|\s+ */
    SCAN_SPACE_WHOLE     /* \s++$|\s*[\r\n]|\s+(?!\S)|\s */
};

/* Returns the end of the pretoken of white space at p; NULL if the run reaches the end of a window that is not
 * final. */
SCAN_INLINE const uint8_t *scan_space(const struct scan_text *t, const uint8_t *p, enum scan_space kind)
{
    const uint8_t *begin = p, *last = p, *newline = NULL;
    size_t bytes;

    for (; p < t->end && scan_class(t, p, &bytes) & UNICODE_SPACE; p += bytes) {
        last = p;
        if (scan_is_newline(*p))
            newline = p + 1;
    }
    if (p >= t->end && !t->final)
        return NULL;
    if (kind == SCAN_SPACE_WHOLE && p >= t->end)
        return p;
    if (kind != SCAN_SPACE_PLAIN && newline)
        return newline;
    return p >= t->end || last == begin ? p : last;
}

#endif
