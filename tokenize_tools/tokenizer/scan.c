/*
 * scan.c: the table of hand-made scanners and the expressions they serve, letter for letter.
 */
#include "scan.h"

#include <string.h>

#include "scan_ascii.h"
#include "scan_families.h"

/* ---- Rows ---- */

#if defined(__x86_64__)
#define VECTOR_ROWS(family)                                                                                            \
    { "avx512vbmi", CPU_AVX512_VBMI, scan_##family##_avx512vbmi }, { "avx512", CPU_AVX512, scan_##family##_avx512 },   \
        { "avx2", CPU_AVX2, scan_##family##_avx2 },
#elif SCAN_HAVE_NEON
#define VECTOR_ROWS(family) { "neon", CPU_PLAIN, scan_##family##_neon },
#else
#define VECTOR_ROWS(family)
#endif

#define ROWS(family)                                                                                                   \
    extern scan_function scan_##family##_avx512vbmi, scan_##family##_avx512, scan_##family##_avx2,                     \
        scan_##family##_neon, scan_##family##_words, scan_##family##_plain;                                            \
    static const struct scan_row rows_##family[] = {                                                                   \
        VECTOR_ROWS(family) { "words", CPU_PLAIN, scan_##family##_words },                                             \
        { "plain", CPU_PLAIN, scan_##family##_plain },                                                                 \
        { .name = NULL },                                                                                              \
    };

SCAN_FAMILIES(ROWS)

/* ---- Spellings ---- */

#define RUST (1u << SCAN_RUST)
#define BOTH (1u << SCAN_RUST | 1u << SCAN_ONIGURUMA)
#define END                                                                                                            \
    {                                                                                                                  \
        { NULL }, 0                                                                                                    \
    }

/* Parts that most expressions share. */
#define CONTRACTION "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define PREFIX      "[^\\r\\n\\p{L}\\p{N}]?"
#define SYMBOLS     " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
#define SLASHED     " ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*"
#define SPACE       "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define UPPER       "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER       "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define UPPER_KIMI  "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]"
#define LOWER_KIMI  "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]"

static const struct scan_spelling gpt2[] = {
    { { "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+" }, BOTH },
    { { "'s|'t|'re|'ve|'m|'ll|'d| ?[\\p{L}]+| ?[\\p{N}]+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+" }, BOTH },
    { { "'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+" }, BOTH },
    /* tiktoken since 0.8; in Oniguruma $ is the end of any line */
    { { "'(?:[sdmt]|ll|ve|re)| ?\\p{L}++| ?\\p{N}++| ?[^\\s\\p{L}\\p{N}]++|\\s++$|\\s+(?!\\S)|\\s" }, RUST },
    END,
};

static const struct scan_spelling cl100k[] = {
    { { "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$|"
        "\\s*[\\r\\n]|\\s+(?!\\S)|\\s" },
      RUST },
    END,
};

static const struct scan_spelling llama3[] = {
    { { CONTRACTION "|" PREFIX "\\p{L}+|\\p{N}{1,3}|" SYMBOLS "|" SPACE }, BOTH },
    /* tiktoken 0.5 to 0.7 */
    { { "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|"
        "\\s*[\\r\\n]|\\s+(?!\\S)|\\s+" },
      RUST },
    END,
};

static const struct scan_spelling qwen2[] = {
    { { CONTRACTION "|" PREFIX "\\p{L}+|\\p{N}|" SYMBOLS "|" SPACE }, BOTH },
    END,
};

static const struct scan_spelling qwen35[] = {
    { { CONTRACTION "|" PREFIX "[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" SPACE }, BOTH },
    END,
};

static const struct scan_spelling o200k[] = {
    { { PREFIX UPPER "*" LOWER "+" CONTRACTION "?|" PREFIX UPPER "+" LOWER "*" CONTRACTION "?|\\p{N}{1,3}|" SLASHED
                     "|" SPACE },
      BOTH },
    END,
};

static const struct scan_spelling tekken[] = {
    { { PREFIX UPPER "*" LOWER "+|" PREFIX UPPER "+" LOWER "*|\\p{N}|" SLASHED "|" SPACE }, BOTH },
    END,
};

static const struct scan_spelling kimi[] = {
    { { "[\\p{Han}]+|" PREFIX UPPER_KIMI "*" LOWER_KIMI "+" CONTRACTION "?|" PREFIX UPPER_KIMI "+" LOWER_KIMI
        "*" CONTRACTION "?|\\p{N}{1,3}|" SYMBOLS "|" SPACE },
      BOTH },
    END,
};

static const struct scan_spelling deepseek[] = {
    /* the second: from U+4E00 to U+9FA5, U+3040 to U+309F, U+30A0 to U+30FF; the third has bare CR and LF */
    { { "\\p{N}{1,3}", "[\xe4\xb8\x80-\xe9\xbe\xa5\xe3\x81\x80-\xe3\x82\x9f\xe3\x82\xa0-\xe3\x83\xbf]+",
        "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|"
        " ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+" },
      BOTH },
    END,
};

static const struct scan_family families[] = {
    { "gpt2", rows_gpt2, gpt2, false },
    { "cl100k", rows_cl100k, cl100k, false },
    { "llama3", rows_llama3, llama3, false },
    { "qwen2", rows_qwen2, qwen2, false },
    { "qwen3.5", rows_qwen35, qwen35, false },
    { "o200k", rows_o200k, o200k, false },
    { "tekken", rows_tekken, tekken, false },
    { "kimi", rows_kimi, kimi, false },
    { "deepseek", rows_deepseek, deepseek, true },
};

#define FAMILIES (sizeof families / sizeof families[0])
#define TEXTS    (sizeof((struct scan_spelling *)0)->texts / sizeof(char *))

const struct scan_family *scan_family_number(size_t number)
{
    return number < FAMILIES ? &families[number] : NULL;
}

static void choose(struct scanner *out, const struct scan_family *family, enum scan_dialect dialect)
{
    enum cpu_level level = cpu_level();

    out->family = family;
    out->classes = &unicode_classes[dialect == SCAN_RUST ? UNICODE_RUST : UNICODE_ONIGURUMA];
    for (out->row = family->rows; out->row->needs > level; out->row++)
        ;
}

static bool same_texts(const struct scan_spelling *spelling, const char *const *texts, const size_t *bytes,
                       size_t count)
{
    size_t n = 0;

    for (; n < TEXTS && spelling->texts[n]; n++)
        if (n >= count || strlen(spelling->texts[n]) != bytes[n] || memcmp(spelling->texts[n], texts[n], bytes[n]))
            return false;
    return n == count;
}

bool scanner_find(struct scanner *out, const char *const *texts, const size_t *bytes, size_t count,
                  enum scan_dialect dialect, bool matches_only)
{
    for (size_t i = 0; i < FAMILIES; i++) {
        if (matches_only && families[i].leaves_gaps)
            continue;
        for (const struct scan_spelling *s = families[i].spellings; s->texts[0]; s++)
            if (s->dialects & 1u << dialect && same_texts(s, texts, bytes, count)) {
                choose(out, &families[i], dialect);
                return true;
            }
    }
    return false;
}

bool scanner_named(struct scanner *out, const char *name, enum scan_dialect dialect)
{
    for (size_t i = 0; i < FAMILIES; i++)
        if (strcmp(families[i].name, name) == 0) {
            choose(out, &families[i], dialect);
            return true;
        }
    return false;
}
