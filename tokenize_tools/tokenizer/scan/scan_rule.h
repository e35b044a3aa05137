/*
 * scan_rule.h: what a family of scanners consists of (struct scan_rule), and what the lists of expressions that it
 * serves are written with.
 *
 * A new family is a file scan_NAME.h with its rules and their expressions; a number in enum scan_number; a row in the
 * table of scan.c; and its function in scan_each.h. All tests go through the rows.
 */
#ifndef LEAT_TOKENIZER_SCAN_RULE_H
#define LEAT_TOKENIZER_SCAN_RULE_H

#include "scan.h"
#include "scan_masks.h"

enum scan_number {
    SCAN_GPT2,
    SCAN_CL100K,
    SCAN_LLAMA3,
    SCAN_QWEN2,
    SCAN_QWEN35,
    SCAN_O200K,
    SCAN_TEKKEN,
    SCAN_KIMI,
    SCAN_DEEPSEEK,
    SCAN_NUMBERS
};

/* Rules are constants, and the functions that take one are inlined, so that what a family does not ask costs nothing.
 * */
struct scan_rule {
    /* The end of the pretoken that begins at p, from character to character: it defines the right answer. NULL if the
     * run reaches the end of a window that is not final. */
    const uint8_t *(*pretoken)(const struct scan_rule *rule, const struct scan_text *t, const uint8_t *p);
    /* The same as algebra over the masks of a block. */
    uint64_t (*starts)(const struct scan_rule *rule, const struct scan_masks *m);
    struct scan_kind kind; /* what that asks about characters */

    /* Of families that share functions: */
    unsigned digits; /* \p{N}{1,digits} */
    enum scan_space space;
    bool suffix; /* a contraction belongs to the word before it */
    bool slash;  /* slashes after punctuation belong to it */
};

/* The functions of all families, by their numbers, of each level; "plain" goes from character to character. */
extern scan_function *const scan_functions_plain[SCAN_NUMBERS],
    *const scan_functions_words[SCAN_NUMBERS], *const scan_functions_neon[SCAN_NUMBERS],
                                                   *const scan_functions_avx2[SCAN_NUMBERS],
                                                       *const scan_functions_avx512[SCAN_NUMBERS],
                                                           *const scan_functions_avx512vbmi[SCAN_NUMBERS];

/* ---- Spellings: the libraries, the end of a list, and the parts that most expressions share ---- */

#define SCAN_FOR_RUST (1u << SCAN_RUST)
#define SCAN_FOR_BOTH (1u << SCAN_RUST | 1u << SCAN_ONIGURUMA)

#define SCAN_SPELLINGS_END                                                                                             \
    {                                                                                                                  \
        { NULL }, 0                                                                                                    \
    }

#define SCAN_RE_CONTRACTION "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define SCAN_RE_PREFIX      "[^\\r\\n\\p{L}\\p{N}]?"
#define SCAN_RE_SYMBOLS     " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
#define SCAN_RE_SLASHED     " ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*"
#define SCAN_RE_SPACE       "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define SCAN_RE_UPPER       "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define SCAN_RE_LOWER       "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define SCAN_RE_UPPER_KIMI  "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]"
#define SCAN_RE_LOWER_KIMI  "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]"

#endif
