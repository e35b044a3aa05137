/*
 * scan_o200k.c: the scanners of o200k (also o200k_harmony, Llama 4), tekken (Mistral NeMo) and Kimi K2. One body:
 *     HAN X?U*D+SUFFIX|X?U+D*SUFFIX|\p{N}{1,DIGITS}| ?[^\s\p{L}\p{N}]+[\r\nSLASH]*|\s*[\r\n]+|\s+(?!\S)|\s+
 *     X = [^\r\n\p{L}\p{N}], U = [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}], D = [\p{Ll}\p{Lm}\p{Lo}\p{M}]
 * with these parameters:
 *     o200k    SUFFIX (?i:'s|'t|'re|'ve|'m|'ll|'d)?, DIGITS 3, SLASH
 *     tekken   no SUFFIX, DIGITS 1, SLASH
 *     kimi     SUFFIX, DIGITS 3, no SLASH; HAN = [\p{Han}]+| comes first, and U and D are without \p{Han}
 *
 * U and D overlap, so U* may have to give back what it took: if no small letter follows the run of U, the word ends
 * after the run's last character that is in D as well, and only if there is none is it all capitals (second form).
 */
#include "scan_text.h"

#define UPPER (UNICODE_LU | UNICODE_LT | UNICODE_LM | UNICODE_LO | UNICODE_M)
#define LOWER (UNICODE_LL | UNICODE_LM | UNICODE_LO | UNICODE_M)
#define BOTH  (UPPER & LOWER)

struct parameters {
    unsigned digits;
    bool suffix, slash, han;
};

/* What U* D* make of a place. */
struct word {
    const uint8_t *end; /* NULL if the run reaches the end of a window that is not final */
    bool lower;         /* U* D+ matches up to `end`; else U+ (or nothing, if end is the beginning) */
};

/* A class as U and D see it: in Kimi's expression Han characters are in neither. */
SCAN_INLINE unsigned word_class(const struct scan_text *t, const uint8_t *p, size_t *bytes,
                                const struct parameters *with)
{
    unsigned class = scan_class(t, p, bytes);

    return with->han && class & UNICODE_HAN ? 0 : class;
}

SCAN_INLINE struct word word_at(const struct scan_text *t, const uint8_t *p, const struct parameters *with)
{
    const uint8_t *last_both = NULL;
    unsigned class = 0;
    size_t bytes;

    for (; p < t->end; p += bytes) {
        class = word_class(t, p, &bytes, with);
        if (!(class & UPPER))
            break;
        if (class & BOTH)
            last_both = p + bytes;
    }
    if (p >= t->end)
        class = 0;
    if (class & UNICODE_LL)
        return (struct word) { scan_letters(t, p + bytes, LOWER, with->han ? UNICODE_HAN : 0, 0), true };
    if (p >= t->end && !t->final)
        return (struct word) { NULL, false };
    return (struct word) { last_both ? last_both : p, last_both != NULL };
}

SCAN_INLINE const uint8_t *with_suffix(const struct scan_text *t, const uint8_t *p, const struct parameters *with)
{
    const uint8_t *e;

    return with->suffix && p < t->end && *p == '\'' && (e = scan_contraction(t, p, true)) != NULL ? e : p;
}

SCAN_INLINE const uint8_t *punctuation(const struct scan_text *t, const uint8_t *p, const struct parameters *with)
{
    p = scan_run_without(t, p, UNICODE_SPACE | UNICODE_L | UNICODE_N);
    while (p < t->end && (scan_is_newline(*p) || (with->slash && *p == '/')))
        p++;
    return p;
}

/* At a character that is neither letter nor digit nor newline, X takes it: a word behind it? NULL in *end if that
 * cannot be told yet. */
SCAN_INLINE bool prefixed_word(const struct scan_text *t, const uint8_t *p, unsigned class, size_t bytes,
                               const struct parameters *with, const uint8_t **end)
{
    struct word word = word_at(t, p + bytes, with);

    *end = word.end;
    if (!word.end || word.lower)
        return true;
    /* X gives the mark back: it is in U and in D, and what follows has no lower form */
    if (class & UNICODE_M) {
        *end = p + bytes;
        return true;
    }
    return word.end > p + bytes;
}

SCAN_INLINE const uint8_t *piece(const struct scan_text *t, const uint8_t *p, const struct parameters *with)
{
    const uint8_t *end;
    size_t bytes, next_bytes;
    unsigned class = scan_class(t, p, &bytes);

    if (with->han && class & UNICODE_HAN)
        return scan_run(t, p, UNICODE_HAN);
    if (class & UNICODE_L) {
        end = word_at(t, p, with).end;
        return end ? with_suffix(t, end, with) : NULL;
    }
    if (class & UNICODE_N)
        return scan_digits(t, p, with->digits);
    if (!scan_is_newline(*p) && prefixed_word(t, p, class, bytes, with, &end))
        return end ? with_suffix(t, end, with) : NULL;
    if (!(class & UNICODE_SPACE))
        return punctuation(t, p + bytes, with);
    if (*p == ' ' && t->end - p > 1 && !(scan_class(t, p + 1, &next_bytes) & (UNICODE_SPACE | UNICODE_L | UNICODE_N)))
        return punctuation(t, p + 1 + next_bytes, with);
    return scan_space(t, p, SCAN_SPACE_NEWLINES);
}

#define SCANNER(name, digits, suffix, slash, han)                                                                      \
    static size_t run_##name(const struct unicode_classes *classes, const struct scan_window *window, size_t *at,      \
                             uint32_t *ends, size_t room)                                                              \
    {                                                                                                                  \
        static const struct parameters with = { digits, suffix, slash, han };                                          \
                                                                                                                       \
        SCAN_LOOP(piece(&t, p, &with));                                                                                \
    }                                                                                                                  \
    extern const struct scan_row scan_rows_##name[];                                                                   \
    const struct scan_row scan_rows_##name[] = {                                                                       \
        { "plain", CPU_PLAIN, run_##name },                                                                            \
    }

SCANNER(o200k, 3, true, true, false);
SCANNER(tekken, 1, false, true, false);
SCANNER(kimi, 3, true, false, true);
