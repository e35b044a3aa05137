/*
 * scan.c: the table of hand-made scanners, made of the rows of scan_families.h; and finding one by its expressions.
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
#elif BYTES64_HAVE_NEON
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

#define FAMILY(family) { .rows = rows_##family, .spellings = spellings_##family, SCAN_FAMILY_##family },

static const struct scan_family families[] = { SCAN_FAMILIES(FAMILY) };

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
