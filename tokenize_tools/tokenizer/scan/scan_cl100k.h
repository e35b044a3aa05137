/*
 * scan_cl100k.h: the scanners of cl100k, Llama 3, Qwen 2 and Qwen 3.5. They share one body:
 *     (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?LETTERS+|\p{N}{1,DIGITS}| ?[^\sLETTERS\p{N}]+[\r\n]*|SPACE
 * with these parameters:
 *     cl100k    LETTERS \p{L}, DIGITS 3, SPACE \s++$|\s*[\r\n]|\s+(?!\S)|\s   (tiktoken since 0.8: the end stays whole)
 *     llama3    LETTERS \p{L}, DIGITS 3, SPACE \s*[\r\n]+|\s+(?!\S)|\s+       (cl100k as a tokenizer.json, GLM, OLMo)
 *     qwen2     LETTERS \p{L}, DIGITS 1, SPACE as llama3
 *     qwen3.5   LETTERS [\p{L}\p{M}], DIGITS 1, SPACE as llama3
 */
#ifndef LEAT_TOKENIZER_SCAN_CL100K_H
#define LEAT_TOKENIZER_SCAN_CL100K_H

#include "scan_rule.h"

/* Returns the end of a pretoken of punctuation. `p` is its first character after an optional blank, and is neither
 * white space, letter nor digit. */
SCAN_INLINE const uint8_t *cl100k_punctuation(const struct scan_text *t, const uint8_t *p, const struct scan_rule *rule)
{
    p = scan_run_without(t, p, UNICODE_SPACE | UNICODE_N | rule->kind.letters);
    while (p < t->end && scan_is_newline(*p))
        p++;
    return p;
}

SCAN_INLINE const uint8_t *cl100k_pretoken(const struct scan_rule *rule, const struct scan_text *t, const uint8_t *p)
{
    const uint8_t *e, *next;
    size_t bytes, next_bytes;
    unsigned class = scan_class(t, p, &bytes), next_class;

    if (class & rule->kind.letters)
        return scan_letters(t, p + bytes, rule->kind.letters, 0, 0x20);
    if (class & UNICODE_N)
        return scan_digits(t, p, rule->digits);
    if (*p == '\'' && (e = scan_contraction(t, p, true)) != NULL)
        return e;
    next = p + bytes;
    if (next < t->end && !scan_is_newline(*p)) {
        next_class = scan_class(t, next, &next_bytes);
        if (next_class & rule->kind.letters)
            return scan_letters(t, next + next_bytes, rule->kind.letters, 0, 0x20);
        if (*p == ' ' && !(next_class & (UNICODE_SPACE | UNICODE_N)))
            return cl100k_punctuation(t, next + next_bytes, rule);
    }
    return class & UNICODE_SPACE ? scan_space(t, p, rule->space) : cl100k_punctuation(t, next, rule);
}

/* ---- By masks ---------------------------------------------------------------------------------------------------- */

SCAN_INLINE uint64_t cl100k_starts(const struct scan_rule *rule, const struct scan_masks *m)
{
    uint64_t other = m->valid & ~(m->letters | m->digits | m->white), solid = m->valid & ~m->white, white, others,
             starts;
    /* newlines after punctuation belong to it */
    uint64_t taken = scan_runs_from(m->newlines, m->newlines & other << 1);
    struct scan_starts spaces, digits = scan_digit_starts(m, rule->digits);

    white = m->white & ~taken;
    spaces = scan_white_starts(m, white, m->newlines & ~taken, solid);
    others = scan_first(other) & ~(m->spaces << 1);
    starts = spaces.at | digits.at | others | scan_letter_starts(m, m->letters, m->white & ~m->newlines, others);
    starts = scan_cut_contractions(m, starts, true);
    /* white space at the very end stays whole */
    if (rule->space == SCAN_SPACE_WHOLE && m->end) {
        uint64_t before = m->valid & ~white;

        starts &= before ? ~(~UINT64_C(0) << bits_highest(before) << 2) : 1;
    }
    return scan_certain(m, starts, spaces.uncertain | digits.uncertain, 1);
}

/* ---- The families ------------------------------------------------------------------------------------------------ */

static const struct scan_rule scan_cl100k = {
    .pretoken = cl100k_pretoken,
    .starts = cl100k_starts,
    .kind = { .letters = UNICODE_L },
    .digits = 3,
    .space = SCAN_SPACE_WHOLE,
};

static const struct scan_spelling cl100k_spellings[] = {
    { { "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$|"
        "\\s*[\\r\\n]|\\s+(?!\\S)|\\s" },
      SCAN_FOR_RUST },
    SCAN_SPELLINGS_END,
};

static const struct scan_rule scan_llama3 = {
    .pretoken = cl100k_pretoken,
    .starts = cl100k_starts,
    .kind = { .letters = UNICODE_L },
    .digits = 3,
    .space = SCAN_SPACE_NEWLINES,
};

static const struct scan_spelling llama3_spellings[] = {
    { { SCAN_RE_CONTRACTION "|" SCAN_RE_PREFIX "\\p{L}+|\\p{N}{1,3}|" SCAN_RE_SYMBOLS "|" SCAN_RE_SPACE },
      SCAN_FOR_BOTH },
    /* tiktoken 0.5 to 0.7 */
    { { "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|"
        "\\s*[\\r\\n]|\\s+(?!\\S)|\\s+" },
      SCAN_FOR_RUST },
    SCAN_SPELLINGS_END,
};

static const struct scan_rule scan_qwen2 = {
    .pretoken = cl100k_pretoken,
    .starts = cl100k_starts,
    .kind = { .letters = UNICODE_L },
    .digits = 1,
    .space = SCAN_SPACE_NEWLINES,
};

static const struct scan_spelling qwen2_spellings[] = {
    { { SCAN_RE_CONTRACTION "|" SCAN_RE_PREFIX "\\p{L}+|\\p{N}|" SCAN_RE_SYMBOLS "|" SCAN_RE_SPACE }, SCAN_FOR_BOTH },
    SCAN_SPELLINGS_END,
};

static const struct scan_rule scan_qwen35 = {
    .pretoken = cl100k_pretoken,
    .starts = cl100k_starts,
    .kind = { .letters = UNICODE_L | UNICODE_M },
    .digits = 1,
    .space = SCAN_SPACE_NEWLINES,
};

static const struct scan_spelling qwen35_spellings[] = {
    { { SCAN_RE_CONTRACTION "|" SCAN_RE_PREFIX
                            "[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" SCAN_RE_SPACE },
      SCAN_FOR_BOTH },
    SCAN_SPELLINGS_END,
};

#endif
