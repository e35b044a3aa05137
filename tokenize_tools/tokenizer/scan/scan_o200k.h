/*
 * scan_o200k.h: the scanners of o200k (also o200k_harmony, Llama 4), tekken (Mistral NeMo) and Kimi K2. One body:
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
#ifndef LEAT_TOKENIZER_SCAN_O200K_H
#define LEAT_TOKENIZER_SCAN_O200K_H

#include "scan_rule.h"

#define O200K_UPPER (UNICODE_LU | UNICODE_LT | UNICODE_LM | UNICODE_LO | UNICODE_M)
#define O200K_LOWER (UNICODE_LL | UNICODE_LM | UNICODE_LO | UNICODE_M)
#define O200K_BOTH  (O200K_UPPER & O200K_LOWER)

/* The match of U* D* at a place. */
struct o200k_word {
    const uint8_t *end; /* end; NULL if the run reaches the end of a window that is not final */
    bool lower;         /* true: U* D+ matches up to `end`; false: U+ does, or nothing if end is the beginning */
};

/* Returns a class as U and D see it: in Kimi's expression Han characters are in neither. */
SCAN_INLINE unsigned o200k_word_class(const struct scan_text *t, const uint8_t *p, size_t *bytes,
                                      const struct scan_rule *rule)
{
    unsigned class = scan_class(t, p, bytes);

    return rule->kind.han && class & UNICODE_HAN ? 0 : class;
}

SCAN_INLINE struct o200k_word o200k_word_at(const struct scan_text *t, const uint8_t *p, const struct scan_rule *rule)
{
    const uint8_t *last_both = NULL;
    unsigned class = 0;
    size_t bytes;

    for (; p < t->end; p += bytes) {
        class = o200k_word_class(t, p, &bytes, rule);
        if (!(class & O200K_UPPER))
            break;
        if (class & O200K_BOTH)
            last_both = p + bytes;
    }
    if (p >= t->end)
        class = 0;
    if (class & UNICODE_LL)
        return (struct o200k_word) { scan_letters(t, p + bytes, O200K_LOWER, rule->kind.han ? UNICODE_HAN : 0, 0),
                                     true };
    if (p >= t->end && !t->final)
        return (struct o200k_word) { NULL, false };
    return (struct o200k_word) { last_both ? last_both : p, last_both != NULL };
}

SCAN_INLINE const uint8_t *o200k_with_suffix(const struct scan_text *t, const uint8_t *p, const struct scan_rule *rule)
{
    const uint8_t *e;

    return rule->suffix && p < t->end && *p == '\'' && (e = scan_contraction(t, p, true)) != NULL ? e : p;
}

SCAN_INLINE const uint8_t *o200k_punctuation(const struct scan_text *t, const uint8_t *p, const struct scan_rule *rule)
{
    p = scan_run_without(t, p, UNICODE_SPACE | UNICODE_L | UNICODE_N);
    while (p < t->end && (scan_is_newline(*p) || (rule->slash && *p == '/')))
        p++;
    return p;
}

/* Returns true if a word follows a character that X takes: one that is neither letter nor digit nor newline. Sets *end
 * to the word's end, or to NULL if that is not certain yet. */
SCAN_INLINE bool o200k_prefixed_word(const struct scan_text *t, const uint8_t *p, unsigned class, size_t bytes,
                                     const struct scan_rule *rule, const uint8_t **end)
{
    struct o200k_word word = o200k_word_at(t, p + bytes, rule);

    *end = word.end;
    if (!word.end || word.lower)
        return true;
    /* X gives the mark back: it is in U and in D, and no lower form follows */
    if (class & UNICODE_M) {
        *end = p + bytes;
        return true;
    }
    return word.end > p + bytes;
}

SCAN_INLINE const uint8_t *o200k_pretoken(const struct scan_rule *rule, const struct scan_text *t, const uint8_t *p)
{
    const uint8_t *end;
    size_t bytes, next_bytes;
    unsigned class = scan_class(t, p, &bytes);

    if (rule->kind.han && class & UNICODE_HAN)
        return scan_run(t, p, UNICODE_HAN);
    if (class & UNICODE_L) {
        end = o200k_word_at(t, p, rule).end;
        return end ? o200k_with_suffix(t, end, rule) : NULL;
    }
    if (class & UNICODE_N)
        return scan_digits(t, p, rule->digits);
    if (!scan_is_newline(*p) && o200k_prefixed_word(t, p, class, bytes, rule, &end))
        return end ? o200k_with_suffix(t, end, rule) : NULL;
    if (!(class & UNICODE_SPACE))
        return o200k_punctuation(t, p + bytes, rule);
    if (*p == ' ' && t->end - p > 1 && !(scan_class(t, p + 1, &next_bytes) & (UNICODE_SPACE | UNICODE_L | UNICODE_N)))
        return o200k_punctuation(t, p + 1 + next_bytes, rule);
    return scan_space(t, p, SCAN_SPACE_NEWLINES);
}

/* ---- By masks ---------------------------------------------------------------------------------------------------- */

/* The letters of words. Contractions after words are in none of the masks. */
struct o200k_letters {
    uint64_t all, upper, lower, either;
    uint64_t contractions, behind; /* bytes of contractions; the bits after them */
};

SCAN_INLINE struct o200k_letters o200k_letters(const struct scan_masks *m, const struct scan_rule *rule)
{
    struct o200k_letters l = { m->letters, m->upper, m->lower, m->either, 0, 0 };

    if (!rule->suffix)
        return l;
    for (uint64_t at = scan_whole_quotes(m) & l.all << 1; at; at &= at - 1) {
        uint64_t quote = at & (0 - at);
        unsigned bytes = scan_contraction_bytes(m->text + bits_lowest(at), true);

        /* the letters of a contraction before this one are not a word */
        if (bytes > 0 && l.all & quote >> 1) {
            l.behind |= quote << bytes;
            l.contractions |= (quote << bytes) - quote;
            l.all &= ~l.contractions;
        }
    }
    l.upper &= l.all;
    l.lower &= l.all;
    l.either &= l.all;
    return l;
}

/* Returns the beginnings of words inside runs of letters: U*D+ ends before a capital. If no small letter follows, it
 * ends after the last letter that is in D as well. */
SCAN_INLINE uint64_t o200k_inner_starts(const struct scan_masks *m, const struct o200k_letters *l)
{
    uint64_t small = l->lower | scan_runs_from(l->either, l->either & l->lower << 1);
    uint64_t starts = l->upper & small << 1;
    uint64_t after = l->upper & (l->either & ~small) << 1;

    for (; after; after &= after - 1) {
        uint64_t first = after & (0 - after), behind = scan_behind(l->upper, first) & (m->valid | m->end);

        /* a run of capitals that reaches the end of the block begins there or not: nothing after that is certain */
        if (behind && !(behind & l->all))
            starts |= first;
    }
    return starts;
}

SCAN_INLINE uint64_t o200k_starts(const struct scan_rule *rule, const struct scan_masks *m)
{
    struct o200k_letters l = o200k_letters(m, rule);
    struct scan_starts spaces, digits = scan_digit_starts(m, rule->digits);
    uint64_t han = rule->kind.han ? m->apart : 0, solid = m->valid & ~m->white, starts, others, taken, uncertain;
    uint64_t other = solid & ~(l.all | m->digits | l.contractions | han), tail = m->newlines;

    /* newlines and slashes after punctuation belong to it */
    if (rule->slash && m->slashes & m->newlines << 1) {
        tail |= m->slashes & other;
        taken = scan_fill(tail, m->newlines & other << 1);
    } else {
        taken = scan_runs_from(tail, tail & other << 1);
    }
    other &= ~taken;
    spaces = scan_white_starts(m, m->white & ~taken, m->newlines & ~taken, solid);
    others = scan_first(other) & ~(m->spaces << 1);
    starts = spaces.at | digits.at | o200k_inner_starts(m, &l) | others | l.behind | scan_first(han);
    starts |= scan_letter_starts(m, l.all, m->white & ~m->newlines, others);
    uncertain = spaces.uncertain | digits.uncertain;
    /* marks without a letter before them may be punctuation, or the character before a word */
    if (m->high)
        uncertain |= bits_from((m->marks & ~(l.all << 1) & ~m->inside) | m->odd);
    return scan_certain(m, starts, uncertain, 2);
}

/* ---- The families ------------------------------------------------------------------------------------------------ */

static const struct scan_rule scan_o200k = {
    .pretoken = o200k_pretoken,
    .starts = o200k_starts,
    .kind = { .letters = UNICODE_L | UNICODE_M, .cases = true },
    .digits = 3,
    .suffix = true,
    .slash = true,
};

static const struct scan_spelling o200k_spellings[] = {
    { { SCAN_RE_PREFIX SCAN_RE_UPPER "*" SCAN_RE_LOWER "+" SCAN_RE_CONTRACTION "?|" SCAN_RE_PREFIX SCAN_RE_UPPER
                                     "+" SCAN_RE_LOWER "*" SCAN_RE_CONTRACTION "?|\\p{N}{1,3}|" SCAN_RE_SLASHED
                                     "|" SCAN_RE_SPACE },
      SCAN_FOR_BOTH },
    SCAN_SPELLINGS_END,
};

static const struct scan_rule scan_tekken = {
    .pretoken = o200k_pretoken,
    .starts = o200k_starts,
    .kind = { .letters = UNICODE_L | UNICODE_M, .cases = true },
    .digits = 1,
    .slash = true,
};

static const struct scan_spelling tekken_spellings[] = {
    { { SCAN_RE_PREFIX SCAN_RE_UPPER "*" SCAN_RE_LOWER "+|" SCAN_RE_PREFIX SCAN_RE_UPPER "+" SCAN_RE_LOWER
                                     "*|\\p{N}|" SCAN_RE_SLASHED "|" SCAN_RE_SPACE },
      SCAN_FOR_BOTH },
    SCAN_SPELLINGS_END,
};

static const struct scan_rule scan_kimi = {
    .pretoken = o200k_pretoken,
    .starts = o200k_starts,
    .kind = { .letters = UNICODE_L | UNICODE_M, .cases = true, .han = true },
    .digits = 3,
    .suffix = true,
};

static const struct scan_spelling kimi_spellings[] = {
    { { "[\\p{Han}]+|" SCAN_RE_PREFIX SCAN_RE_UPPER_KIMI "*" SCAN_RE_LOWER_KIMI "+" SCAN_RE_CONTRACTION
        "?|" SCAN_RE_PREFIX SCAN_RE_UPPER_KIMI "+" SCAN_RE_LOWER_KIMI "*" SCAN_RE_CONTRACTION
        "?|\\p{N}{1,3}|" SCAN_RE_SYMBOLS "|" SCAN_RE_SPACE },
      SCAN_FOR_BOTH },
    SCAN_SPELLINGS_END,
};

#endif
