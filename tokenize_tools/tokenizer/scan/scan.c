/* scan.c: the scanners that go from character to character, which define the right answer; the table of all
 * scanners; and finding a scanner by its expressions. */
#include "scan.h"

#include <string.h>

#include "base/bytes64.h"
#include "scan_rule.h"

/* ---- Scanners by characters -------------------------------------------------------------------------------------- */

SCAN_INLINE size_t run(const struct scan_rule *rule, const struct unicode_classes *classes,
                       const struct scan_window *window, size_t *at, uint32_t *ends, size_t room)
{
    struct scan_text t = scan_text(classes, window);
    const uint8_t *p = window->text + *at;
    size_t count = 0;

    while (count < room && p < t.end) {
        const uint8_t *e = rule->pretoken(rule, &t, p);

        if (!e || e > t.certain)
            break;
        ends[count++] = (uint32_t)(e - window->text);
        p = e;
    }
    *at = (size_t)(p - window->text);
    return count;
}

#define SCAN_FUNCTIONS scan_functions_plain
#include "scan_each.h"

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static const struct scan_row rows[] = {
#if defined(__x86_64__)
    { "avx512vbmi", CPU_AVX512_VBMI, scan_functions_avx512vbmi },
    { "avx512", CPU_AVX512, scan_functions_avx512 },
    { "avx2", CPU_AVX2, scan_functions_avx2 },
#elif BYTES64_HAVE_NEON
    { "neon", CPU_PLAIN, scan_functions_neon },
#endif
    { "words", CPU_PLAIN, scan_functions_words },
    { "plain", CPU_PLAIN, scan_functions_plain },
    { .name = NULL },
};

static const struct scan_family families[SCAN_NUMBERS] = {
    [SCAN_GPT2] = { .name = "gpt2", .number = SCAN_GPT2, .rows = rows, .spellings = gpt2_spellings },
    [SCAN_CL100K] = { .name = "cl100k", .number = SCAN_CL100K, .rows = rows, .spellings = cl100k_spellings },
    [SCAN_LLAMA3] = { .name = "llama3", .number = SCAN_LLAMA3, .rows = rows, .spellings = llama3_spellings },
    [SCAN_QWEN2] = { .name = "qwen2", .number = SCAN_QWEN2, .rows = rows, .spellings = qwen2_spellings },
    [SCAN_QWEN35] = { .name = "qwen3.5", .number = SCAN_QWEN35, .rows = rows, .spellings = qwen35_spellings },
    [SCAN_O200K] = { .name = "o200k", .number = SCAN_O200K, .rows = rows, .spellings = o200k_spellings },
    [SCAN_TEKKEN] = { .name = "tekken", .number = SCAN_TEKKEN, .rows = rows, .spellings = tekken_spellings },
    [SCAN_KIMI] = { .name = "kimi", .number = SCAN_KIMI, .rows = rows, .spellings = kimi_spellings },
    [SCAN_DEEPSEEK] = { .name = "deepseek",
                        .number = SCAN_DEEPSEEK,
                        .rows = rows,
                        .spellings = deepseek_spellings,
                        .leaves_gaps = true },
};

#define TEXTS (sizeof((struct scan_spelling *)0)->texts / sizeof(char *))

const struct scan_family *scan_family_number(size_t number)
{
    return number < SCAN_NUMBERS ? &families[number] : NULL;
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
    for (size_t i = 0; i < SCAN_NUMBERS; i++) {
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
    for (size_t i = 0; i < SCAN_NUMBERS; i++)
        if (strcmp(families[i].name, name) == 0) {
            choose(out, &families[i], dialect);
            return true;
        }
    return false;
}
