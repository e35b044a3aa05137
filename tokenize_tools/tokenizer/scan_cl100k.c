/*
 * scan_cl100k.c: the scanners of cl100k, Llama 3, Qwen 2 and Qwen 3.5. They share one body:
 *     (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?LETTERS+|\p{N}{1,DIGITS}| ?[^\sLETTERS\p{N}]+[\r\n]*|SPACE
 * with these parameters:
 *     cl100k    LETTERS \p{L}, DIGITS 3, SPACE \s++$|\s*[\r\n]|\s+(?!\S)|\s   (tiktoken since 0.8: the end stays whole)
 *     llama3    LETTERS \p{L}, DIGITS 3, SPACE \s*[\r\n]+|\s+(?!\S)|\s+       (cl100k as a tokenizer.json, GLM, OLMo)
 *     qwen2     LETTERS \p{L}, DIGITS 1, SPACE as llama3
 *     qwen3.5   LETTERS [\p{L}\p{M}], DIGITS 1, SPACE as llama3
 */
#include "scan_text.h"

struct parameters {
    unsigned letters;
    unsigned digits;
    enum scan_space space;
};

/* `p` is the first character after an optional blank, and neither white space, letter nor digit. */
SCAN_INLINE const uint8_t *punctuation(const struct scan_text *t, const uint8_t *p, const struct parameters *with)
{
    p = scan_run_without(t, p, UNICODE_SPACE | UNICODE_N | with->letters);
    while (p < t->end && scan_is_newline(*p))
        p++;
    return p;
}

SCAN_INLINE const uint8_t *piece(const struct scan_text *t, const uint8_t *p, const struct parameters *with)
{
    const uint8_t *e, *next;
    size_t bytes, next_bytes;
    unsigned class = scan_class(t, p, &bytes), next_class;

    if (class & with->letters)
        return scan_letters(t, p + bytes, with->letters, 0, 0x20);
    if (class & UNICODE_N)
        return scan_digits(t, p, with->digits);
    if (*p == '\'' && (e = scan_contraction(t, p, true)) != NULL)
        return e;
    next = p + bytes;
    if (next < t->end && !scan_is_newline(*p)) {
        next_class = scan_class(t, next, &next_bytes);
        if (next_class & with->letters)
            return scan_letters(t, next + next_bytes, with->letters, 0, 0x20);
        if (*p == ' ' && !(next_class & (UNICODE_SPACE | UNICODE_N)))
            return punctuation(t, next + next_bytes, with);
    }
    return class & UNICODE_SPACE ? scan_space(t, p, with->space) : punctuation(t, next, with);
}

#define SCANNER(name, letters, digits, space)                                                                          \
    static size_t run_##name(const struct unicode_classes *classes, const struct scan_window *window, size_t *at,      \
                             uint32_t *ends, size_t room)                                                              \
    {                                                                                                                  \
        static const struct parameters with = { letters, digits, space };                                              \
                                                                                                                       \
        SCAN_LOOP(piece(&t, p, &with));                                                                                \
    }                                                                                                                  \
    extern const struct scan_row scan_rows_##name[];                                                                   \
    const struct scan_row scan_rows_##name[] = {                                                                       \
        { "plain", CPU_PLAIN, run_##name },                                                                            \
    }

SCANNER(cl100k, UNICODE_L, 3, SCAN_SPACE_WHOLE);
SCANNER(llama3, UNICODE_L, 3, SCAN_SPACE_NEWLINES);
SCANNER(qwen2, UNICODE_L, 1, SCAN_SPACE_NEWLINES);
SCANNER(qwen35, UNICODE_L | UNICODE_M, 1, SCAN_SPACE_NEWLINES);
