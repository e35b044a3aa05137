/*
 * scan_families.h: the families of scanners, each as a scalar scanner of one piece, SCAN_PIECE_name(), and as algebra over
 * the masks of a block, SCAN_STARTS_name(), with what it asks about characters, SCAN_KIND_name.
 */
#ifndef LEAT_TOKENIZER_SCAN_FAMILIES_H
#define LEAT_TOKENIZER_SCAN_FAMILIES_H

#include "scan_cl100k.h"
#include "scan_deepseek.h"
#include "scan_gpt2.h"
#include "scan_o200k.h"

#define SCAN_FAMILIES(each)                                                                                            \
    each(gpt2) each(cl100k) each(llama3) each(qwen2) each(qwen35) each(o200k) each(tekken) each(kimi) each(deepseek)

#define SCAN_KIND_gpt2                                                                                                 \
    {                                                                                                                  \
        .letters = UNICODE_L                                                                                           \
    }
#define SCAN_PIECE_gpt2(t, p) gpt2_piece(t, p)
#define SCAN_STARTS_gpt2(m)   gpt2_starts(m)

/* The parameters are those of scan_cl100k.h. */
#define SCAN_CL100K(...)        (&(const struct cl100k_parameters) { __VA_ARGS__ })
#define SCAN_WITH_cl100k        SCAN_CL100K(UNICODE_L, 3, SCAN_SPACE_WHOLE)
#define SCAN_WITH_llama3        SCAN_CL100K(UNICODE_L, 3, SCAN_SPACE_NEWLINES)
#define SCAN_WITH_qwen2         SCAN_CL100K(UNICODE_L, 1, SCAN_SPACE_NEWLINES)
#define SCAN_WITH_qwen35        SCAN_CL100K(UNICODE_L | UNICODE_M, 1, SCAN_SPACE_NEWLINES)

#define SCAN_KIND_cl100k        SCAN_KIND_gpt2
#define SCAN_PIECE_cl100k(t, p) cl100k_piece(t, p, SCAN_WITH_cl100k)
#define SCAN_STARTS_cl100k(m)   cl100k_starts(m, SCAN_WITH_cl100k)

#define SCAN_KIND_llama3        SCAN_KIND_gpt2
#define SCAN_PIECE_llama3(t, p) cl100k_piece(t, p, SCAN_WITH_llama3)
#define SCAN_STARTS_llama3(m)   cl100k_starts(m, SCAN_WITH_llama3)

#define SCAN_KIND_qwen2         SCAN_KIND_gpt2
#define SCAN_PIECE_qwen2(t, p)  cl100k_piece(t, p, SCAN_WITH_qwen2)
#define SCAN_STARTS_qwen2(m)    cl100k_starts(m, SCAN_WITH_qwen2)

#define SCAN_KIND_qwen35                                                                                               \
    {                                                                                                                  \
        .letters = UNICODE_L | UNICODE_M                                                                               \
    }
#define SCAN_PIECE_qwen35(t, p) cl100k_piece(t, p, SCAN_WITH_qwen35)
#define SCAN_STARTS_qwen35(m)   cl100k_starts(m, SCAN_WITH_qwen35)

/* The parameters are those of scan_o200k.h. */
#define SCAN_O200K(...)  (&(const struct o200k_parameters) { __VA_ARGS__ })
#define SCAN_WITH_o200k  SCAN_O200K(3, true, true, false)
#define SCAN_WITH_tekken SCAN_O200K(1, false, true, false)
#define SCAN_WITH_kimi   SCAN_O200K(3, true, false, true)

#define SCAN_KIND_o200k                                                                                                \
    {                                                                                                                  \
        .letters = UNICODE_L | UNICODE_M, .cases = true                                                                \
    }
#define SCAN_PIECE_o200k(t, p)  o200k_piece(t, p, SCAN_WITH_o200k)
#define SCAN_STARTS_o200k(m)    o200k_starts(m, SCAN_WITH_o200k)

#define SCAN_KIND_tekken        SCAN_KIND_o200k
#define SCAN_PIECE_tekken(t, p) o200k_piece(t, p, SCAN_WITH_tekken)
#define SCAN_STARTS_tekken(m)   o200k_starts(m, SCAN_WITH_tekken)

#define SCAN_KIND_kimi                                                                                                 \
    {                                                                                                                  \
        .letters = UNICODE_L | UNICODE_M, .cases = true, .han = true                                                   \
    }
#define SCAN_PIECE_kimi(t, p) o200k_piece(t, p, SCAN_WITH_kimi)
#define SCAN_STARTS_kimi(m)   o200k_starts(m, SCAN_WITH_kimi)

#define SCAN_KIND_deepseek                                                                                             \
    {                                                                                                                  \
        .letters = UNICODE_L | UNICODE_M, .symbols = true, .kana = true                                                \
    }
#define SCAN_PIECE_deepseek(t, p) deepseek_piece(t, p)
#define SCAN_STARTS_deepseek(m)   deepseek_starts(m)

#endif
