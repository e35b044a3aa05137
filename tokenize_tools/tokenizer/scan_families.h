/*
 * scan_families.h: the families of scanners. A new one is a file scan_NAME.h, with its line among the includes and its row
 * in SCAN_FAMILIES; nothing else names it, and all tests go through the rows. The file has for each of its families
 *
 *   SCAN_PIECE_name(t, p)  the end of the piece that begins at p, from character to character: it defines the right answer
 *   SCAN_STARTS_name(m)    the same as algebra over the masks of a block (scan_masks.h)
 *   SCAN_KIND_name         what that asks about characters: a struct scan_kind
 *   SCAN_FAMILY_name       .name of struct scan_family; .leaves_gaps, if it does
 *   spellings_name[]       the expressions that it serves, letter for letter (scan_spelling.h)
 */
#ifndef LEAT_TOKENIZER_SCAN_FAMILIES_H
#define LEAT_TOKENIZER_SCAN_FAMILIES_H

#include "scan_cl100k.h"
#include "scan_deepseek.h"
#include "scan_gpt2.h"
#include "scan_o200k.h"
#include "scan_spelling.h"

#define SCAN_FAMILIES(each)                                                                                            \
    each(gpt2) each(cl100k) each(llama3) each(qwen2) each(qwen35) each(o200k) each(tekken) each(kimi) each(deepseek)

/* ---- The families of GPT-2, cl100k, o200k, DeepSeek ---- */

#define SCAN_KIND_gpt2                                                                                                 \
    {                                                                                                                  \
        .letters = UNICODE_L                                                                                           \
    }
#define SCAN_PIECE_gpt2(t, p) gpt2_piece(t, p)
#define SCAN_STARTS_gpt2(m)   gpt2_starts(m)
#define SCAN_FAMILY_gpt2      .name = "gpt2"

static const struct scan_spelling spellings_gpt2[] = {
    { { "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+" }, SCAN_FOR_BOTH },
    { { "'s|'t|'re|'ve|'m|'ll|'d| ?[\\p{L}]+| ?[\\p{N}]+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+" }, SCAN_FOR_BOTH },
    { { "'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+" }, SCAN_FOR_BOTH },
    /* tiktoken since 0.8; in Oniguruma $ is the end of any line */
    { { "'(?:[sdmt]|ll|ve|re)| ?\\p{L}++| ?\\p{N}++| ?[^\\s\\p{L}\\p{N}]++|\\s++$|\\s+(?!\\S)|\\s" }, SCAN_FOR_RUST },
    SCAN_SPELLINGS_END,
};

/* The parameters are those of scan_cl100k.h. */
#define SCAN_CL100K(...)        (&(const struct cl100k_parameters) { __VA_ARGS__ })
#define SCAN_WITH_cl100k        SCAN_CL100K(UNICODE_L, 3, SCAN_SPACE_WHOLE)
#define SCAN_WITH_llama3        SCAN_CL100K(UNICODE_L, 3, SCAN_SPACE_NEWLINES)
#define SCAN_WITH_qwen2         SCAN_CL100K(UNICODE_L, 1, SCAN_SPACE_NEWLINES)
#define SCAN_WITH_qwen35        SCAN_CL100K(UNICODE_L | UNICODE_M, 1, SCAN_SPACE_NEWLINES)

#define SCAN_KIND_cl100k        SCAN_KIND_gpt2
#define SCAN_PIECE_cl100k(t, p) cl100k_piece(t, p, SCAN_WITH_cl100k)
#define SCAN_STARTS_cl100k(m)   cl100k_starts(m, SCAN_WITH_cl100k)
#define SCAN_FAMILY_cl100k      .name = "cl100k"

static const struct scan_spelling spellings_cl100k[] = {
    { { "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$|"
        "\\s*[\\r\\n]|\\s+(?!\\S)|\\s" },
      SCAN_FOR_RUST },
    SCAN_SPELLINGS_END,
};

#define SCAN_KIND_llama3        SCAN_KIND_gpt2
#define SCAN_PIECE_llama3(t, p) cl100k_piece(t, p, SCAN_WITH_llama3)
#define SCAN_STARTS_llama3(m)   cl100k_starts(m, SCAN_WITH_llama3)
#define SCAN_FAMILY_llama3      .name = "llama3"

static const struct scan_spelling spellings_llama3[] = {
    { { SCAN_RE_CONTRACTION "|" SCAN_RE_PREFIX "\\p{L}+|\\p{N}{1,3}|" SCAN_RE_SYMBOLS "|" SCAN_RE_SPACE },
      SCAN_FOR_BOTH },
    /* tiktoken 0.5 to 0.7 */
    { { "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|"
        "\\s*[\\r\\n]|\\s+(?!\\S)|\\s+" },
      SCAN_FOR_RUST },
    SCAN_SPELLINGS_END,
};

#define SCAN_KIND_qwen2        SCAN_KIND_gpt2
#define SCAN_PIECE_qwen2(t, p) cl100k_piece(t, p, SCAN_WITH_qwen2)
#define SCAN_STARTS_qwen2(m)   cl100k_starts(m, SCAN_WITH_qwen2)
#define SCAN_FAMILY_qwen2      .name = "qwen2"

static const struct scan_spelling spellings_qwen2[] = {
    { { SCAN_RE_CONTRACTION "|" SCAN_RE_PREFIX "\\p{L}+|\\p{N}|" SCAN_RE_SYMBOLS "|" SCAN_RE_SPACE }, SCAN_FOR_BOTH },
    SCAN_SPELLINGS_END,
};

#define SCAN_KIND_qwen35                                                                                               \
    {                                                                                                                  \
        .letters = UNICODE_L | UNICODE_M                                                                               \
    }
#define SCAN_PIECE_qwen35(t, p) cl100k_piece(t, p, SCAN_WITH_qwen35)
#define SCAN_STARTS_qwen35(m)   cl100k_starts(m, SCAN_WITH_qwen35)
#define SCAN_FAMILY_qwen35      .name = "qwen3.5"

static const struct scan_spelling spellings_qwen35[] = {
    { { SCAN_RE_CONTRACTION "|" SCAN_RE_PREFIX
                            "[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" SCAN_RE_SPACE },
      SCAN_FOR_BOTH },
    SCAN_SPELLINGS_END,
};

/* The parameters are those of scan_o200k.h. */
#define SCAN_O200K(...)  (&(const struct o200k_parameters) { __VA_ARGS__ })
#define SCAN_WITH_o200k  SCAN_O200K(3, true, true, false)
#define SCAN_WITH_tekken SCAN_O200K(1, false, true, false)
#define SCAN_WITH_kimi   SCAN_O200K(3, true, false, true)

#define SCAN_KIND_o200k                                                                                                \
    {                                                                                                                  \
        .letters = UNICODE_L | UNICODE_M, .cases = true                                                                \
    }
#define SCAN_PIECE_o200k(t, p) o200k_piece(t, p, SCAN_WITH_o200k)
#define SCAN_STARTS_o200k(m)   o200k_starts(m, SCAN_WITH_o200k)
#define SCAN_FAMILY_o200k      .name = "o200k"

static const struct scan_spelling spellings_o200k[] = {
    { { SCAN_RE_PREFIX SCAN_RE_UPPER "*" SCAN_RE_LOWER "+" SCAN_RE_CONTRACTION "?|" SCAN_RE_PREFIX SCAN_RE_UPPER
                                     "+" SCAN_RE_LOWER "*" SCAN_RE_CONTRACTION "?|\\p{N}{1,3}|" SCAN_RE_SLASHED
                                     "|" SCAN_RE_SPACE },
      SCAN_FOR_BOTH },
    SCAN_SPELLINGS_END,
};

#define SCAN_KIND_tekken        SCAN_KIND_o200k
#define SCAN_PIECE_tekken(t, p) o200k_piece(t, p, SCAN_WITH_tekken)
#define SCAN_STARTS_tekken(m)   o200k_starts(m, SCAN_WITH_tekken)
#define SCAN_FAMILY_tekken      .name = "tekken"

static const struct scan_spelling spellings_tekken[] = {
    { { SCAN_RE_PREFIX SCAN_RE_UPPER "*" SCAN_RE_LOWER "+|" SCAN_RE_PREFIX SCAN_RE_UPPER "+" SCAN_RE_LOWER
                                     "*|\\p{N}|" SCAN_RE_SLASHED "|" SCAN_RE_SPACE },
      SCAN_FOR_BOTH },
    SCAN_SPELLINGS_END,
};

#define SCAN_KIND_kimi                                                                                                 \
    {                                                                                                                  \
        .letters = UNICODE_L | UNICODE_M, .cases = true, .han = true                                                   \
    }
#define SCAN_PIECE_kimi(t, p) o200k_piece(t, p, SCAN_WITH_kimi)
#define SCAN_STARTS_kimi(m)   o200k_starts(m, SCAN_WITH_kimi)
#define SCAN_FAMILY_kimi      .name = "kimi"

static const struct scan_spelling spellings_kimi[] = {
    { { "[\\p{Han}]+|" SCAN_RE_PREFIX SCAN_RE_UPPER_KIMI "*" SCAN_RE_LOWER_KIMI "+" SCAN_RE_CONTRACTION
        "?|" SCAN_RE_PREFIX SCAN_RE_UPPER_KIMI "+" SCAN_RE_LOWER_KIMI "*" SCAN_RE_CONTRACTION
        "?|\\p{N}{1,3}|" SCAN_RE_SYMBOLS "|" SCAN_RE_SPACE },
      SCAN_FOR_BOTH },
    SCAN_SPELLINGS_END,
};

#define SCAN_KIND_deepseek                                                                                             \
    {                                                                                                                  \
        .letters = UNICODE_L | UNICODE_M, .symbols = true, .kana = true                                                \
    }
#define SCAN_PIECE_deepseek(t, p) deepseek_piece(t, p)
#define SCAN_STARTS_deepseek(m)   deepseek_starts(m)
#define SCAN_FAMILY_deepseek      .name = "deepseek", .leaves_gaps = true

static const struct scan_spelling spellings_deepseek[] = {
    /* the second: from U+4E00 to U+9FA5, U+3040 to U+309F, U+30A0 to U+30FF; the third has bare CR and LF */
    { { "\\p{N}{1,3}", "[\xe4\xb8\x80-\xe9\xbe\xa5\xe3\x81\x80-\xe3\x82\x9f\xe3\x82\xa0-\xe3\x83\xbf]+",
        "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|"
        " ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+" },
      SCAN_FOR_BOTH },
    SCAN_SPELLINGS_END,
};

#endif
