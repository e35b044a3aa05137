/*
 * scan_gpt2.h: the scanner of GPT-2, r50k and p50k:
 *     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 * tiktoken's own spelling (possessive, with \s++$) gives these pretokens, too.
 */
#ifndef LEAT_TOKENIZER_SCAN_GPT2_H
#define LEAT_TOKENIZER_SCAN_GPT2_H

#include "scan_rule.h"

/* Returns the end of the run that begins with the character at p, which is not white space. */
SCAN_INLINE const uint8_t *gpt2_run(const struct scan_text *t, const uint8_t *p, unsigned class, size_t bytes)
{
    if (class & UNICODE_L)
        return scan_letters(t, p + bytes, UNICODE_L, 0, 0x20);
    if (class & UNICODE_N)
        return scan_run(t, p + bytes, UNICODE_N);
    return scan_run_without(t, p + bytes, UNICODE_SPACE | UNICODE_L | UNICODE_N);
}

SCAN_INLINE const uint8_t *gpt2_pretoken(const struct scan_rule *rule, const struct scan_text *t, const uint8_t *p)
{
    const uint8_t *e;
    size_t bytes;
    unsigned class;

    (void)rule;
    if (*p == ' ' && t->end - p > 1) {
        class = scan_class(t, p + 1, &bytes);
        if (!(class & UNICODE_SPACE))
            return gpt2_run(t, p + 1, class, bytes);
    }
    class = scan_class(t, p, &bytes);
    if (class & UNICODE_SPACE)
        return scan_space(t, p, SCAN_SPACE_PLAIN);
    if (*p == '\'' && (e = scan_contraction(t, p, false)) != NULL)
        return e;
    return gpt2_run(t, p, class, bytes);
}

/* ---- By masks ---------------------------------------------------------------------------------------------------- */

SCAN_INLINE uint64_t gpt2_starts(const struct scan_rule *rule, const struct scan_masks *m)
{
    uint64_t other = m->valid & ~(m->letters | m->digits | m->white), solid = m->valid & ~m->white, starts;

    (void)rule;
    /* runs begin here, unless after a space, which then begins the pretoken */
    starts = (scan_first(m->letters) | scan_first(m->digits) | scan_first(other)) & ~(m->spaces << 1);
    starts |= scan_first(m->white) | scan_to_first_byte(m, m->white & solid >> 1);
    return scan_certain(m, scan_cut_contractions(m, starts, false), 0, 1);
}

/* ---- The family -------------------------------------------------------------------------------------------------- */

static const struct scan_rule scan_gpt2 = {
    .pretoken = gpt2_pretoken,
    .starts = gpt2_starts,
    .kind = { .letters = UNICODE_L },
};

static const struct scan_spelling gpt2_spellings[] = {
    { { "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+" }, SCAN_FOR_BOTH },
    { { "'s|'t|'re|'ve|'m|'ll|'d| ?[\\p{L}]+| ?[\\p{N}]+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+" }, SCAN_FOR_BOTH },
    { { "'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+" }, SCAN_FOR_BOTH },
    /* tiktoken since 0.8; in Oniguruma $ means the end of any line */
    { { "'(?:[sdmt]|ll|ve|re)| ?\\p{L}++| ?\\p{N}++| ?[^\\s\\p{L}\\p{N}]++|\\s++$|\\s+(?!\\S)|\\s" }, SCAN_FOR_RUST },
    SCAN_SPELLINGS_END,
};

#endif
