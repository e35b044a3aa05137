/* survey_scripts.c: in which scripts a text is written; see survey.h. The table is made of the same properties that
 * \p{...} in a tokenizer's expressions has. */
#include <stdlib.h>

#include "base/utf8.h"
#include "survey.h"
#include "tokenizer/pattern/pattern_set.h"

#define SHARED 255u /* by several scripts, as digits, blanks and punctuation */

/* As people write them; the property has small letters. */
static const char *const names[] = {
    "Latin",    "Cyrillic", "Greek",     "Arabic",    "Hebrew",        "Devanagari", "Bengali",  "Tamil",
    "Telugu",   "Kannada",  "Malayalam", "Gujarati",  "Gurmukhi",      "Sinhala",    "Thai",     "Lao",
    "Khmer",    "Myanmar",  "Han",       "Hiragana",  "Katakana",      "Hangul",     "Bopomofo", "Georgian",
    "Armenian", "Ethiopic", "Tibetan",   "Mongolian", "other scripts",
};
#define NAMES ((unsigned)(sizeof names / sizeof *names))

const char *survey_script(unsigned number)
{
    return number < NAMES ? names[number] : NULL;
}

static void mark(uint8_t *table, struct pattern_set *set, const char *name, uint8_t number)
{
    pattern_set_clear(set);
    if (!pattern_set_property(set, name))
        return;
    for (uint32_t c = 0; c < PATTERN_SET_POINTS; c++) {
        if (set->words[c / 64] == 0) {
            c |= 63;
            continue;
        }
        if (pattern_set_has(set, c))
            table[c] = number;
    }
}

uint8_t *survey_script_table(void)
{
    struct pattern_set *set = malloc(sizeof *set);
    uint8_t *table = malloc(PATTERN_SET_POINTS);

    for (uint32_t c = 0; set && table && c < PATTERN_SET_POINTS; c++)
        table[c] = (uint8_t)(NAMES - 1);
    for (unsigned i = 0; set && table && i + 1 < NAMES; i++) {
        char small[16];
        size_t n = 0;

        for (; names[i][n]; n++)
            small[n] = (char)(names[i][n] | 0x20);
        small[n] = '\0';
        mark(table, set, small, (uint8_t)i);
    }
    if (set && table) {
        mark(table, set, "common", SHARED);
        mark(table, set, "inherited", SHARED);
        mark(table, set, "cn", SHARED); /* and what is no character yet */
    }
    free(set);
    if (!set) {
        free(table);
        return NULL;
    }
    return table;
}

void survey_count_scripts(struct survey *s, const uint8_t *table, const char *text, uint64_t bytes)
{
    const uint8_t *p = (const uint8_t *)text;

    for (uint64_t at = 0, end; at < bytes; at = end + 1) { /* past a byte that is malformed */
        end = at + utf8_valid_prefix(p + at, (size_t)(bytes - at));
        while (at < end) {
            size_t size;
            uint8_t script = table[unicode_decode(p + at, &size)];

            at += size;
            if (script == SHARED)
                continue;
            s->scripts[script]++;
            s->characters++;
        }
    }
}
