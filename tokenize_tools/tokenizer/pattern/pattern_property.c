/*
 * pattern_property.c: \p{...}: sets of characters by the name of a property. Those in the patterns of most tokenizers
 * come from the classes of unicode.h, which scanners read too; all others come from a table of ranges. Both engines
 * agree on these (scripts/gen_properties.py checks that), so one table is enough.
 */
#include <stdlib.h>
#include <string.h>

#include "pattern_parser.h"
#include "property_tables.h"

struct property {
    const char *name; /* lower case, without blanks, - and _ */
    unsigned mask;
};

static const struct property properties[] = {
    { "l", UNICODE_L },
    { "letter", UNICODE_L },
    { "lu", UNICODE_LU },
    { "uppercaseletter", UNICODE_LU },
    { "ll", UNICODE_LL },
    { "lowercaseletter", UNICODE_LL },
    { "lt", UNICODE_LT },
    { "titlecaseletter", UNICODE_LT },
    { "lc", UNICODE_LU | UNICODE_LL | UNICODE_LT },
    { "casedletter", UNICODE_LU | UNICODE_LL | UNICODE_LT },
    { "lm", UNICODE_LM },
    { "modifierletter", UNICODE_LM },
    { "lo", UNICODE_LO },
    { "otherletter", UNICODE_LO },
    { "m", UNICODE_M },
    { "mark", UNICODE_M },
    { "n", UNICODE_N },
    { "number", UNICODE_N },
    { "nd", UNICODE_ND },
    { "decimalnumber", UNICODE_ND },
    { "p", UNICODE_P },
    { "punct", UNICODE_P },
    { "punctuation", UNICODE_P },
    { "s", UNICODE_S },
    { "symbol", UNICODE_S },
    { "han", UNICODE_HAN },
    { "space", UNICODE_SPACE },
    { "whitespace", UNICODE_SPACE },
};

/* White space that is a control, hence not in \p{Z}. */
static void remove_space_controls(struct pattern_set *set)
{
    pattern_set_remove(set, 0x09, 0x0d);
    pattern_set_remove(set, 0x85, 0x85);
}

static int compare_names(const void *name, const void *row)
{
    return strcmp(name, *(const char *const *)row);
}

bool parser_add_property(struct pattern_set *set, const char *name)
{
    const void *found = bsearch(name, property_names, sizeof property_names / sizeof property_names[0],
                                sizeof property_names[0], compare_names);
    size_t row;

    if (!found)
        return false;
    row = (size_t)((const char *)found - (const char *)property_names) / sizeof property_names[0];
    for (size_t i = 0; i < property_names[row].count; i++)
        pattern_set_add(set, property_ranges[property_names[row].first + i][0],
                        property_ranges[property_names[row].first + i][1]);
    return true;
}

/* Properties and scripts that no one class is: made of what the tables have, or refused. */
static bool other_property(struct parser *p, struct pattern_set *set, const char *name)
{
    if (strcmp(name, "z") == 0 || strcmp(name, "separator") == 0 || strcmp(name, "zs") == 0 ||
        strcmp(name, "spaceseparator") == 0) {
        pattern_set_class(set, p->classes, UNICODE_SPACE);
        remove_space_controls(set);
        if (strcmp(name, "zs") == 0 || strcmp(name, "spaceseparator") == 0)
            pattern_set_remove(set, 0x2028, 0x2029);
        return true;
    }
    if (strcmp(name, "c") == 0 || strcmp(name, "other") == 0) {
        pattern_set_class(set, p->classes, UNICODE_L | UNICODE_M | UNICODE_N | UNICODE_P | UNICODE_S | UNICODE_SPACE);
        remove_space_controls(set);
        pattern_set_invert(set);
        return true;
    }
    pattern_set_clear(set);
    if (strcmp(name, "cc") == 0 || strcmp(name, "control") == 0) {
        pattern_set_add(set, 0, 0x1f);
        pattern_set_add(set, 0x7f, 0x9f);
    } else if (strcmp(name, "zl") == 0 || strcmp(name, "lineseparator") == 0) {
        pattern_set_add(set, 0x2028, 0x2028);
    } else if (strcmp(name, "zp") == 0 || strcmp(name, "paragraphseparator") == 0) {
        pattern_set_add(set, 0x2029, 0x2029);
    } else if (strcmp(name, "any") == 0) {
        pattern_set_add(set, 0, 0x10ffff);
    } else if (strcmp(name, "ascii") == 0) {
        pattern_set_add(set, 0, 0x7f);
    } else if (strcmp(name, "assigned") == 0) {
        parser_add_property(set, "cn");
        pattern_set_invert(set);
    } else {
        return parser_add_property(set, name);
    }
    return true;
}

/* \w. Oniguruma counts ² ³ ¹ ¼ ½ ¾ (its Latin-1 table) outside brackets only. */
void parser_word_set(struct parser *p, struct pattern_set *set, bool in_class)
{
    pattern_set_class(set, p->classes, UNICODE_WORD);
    if (parser_onig(p) && in_class) {
        pattern_set_remove(set, 0xb2, 0xb3);
        pattern_set_remove(set, 0xb9, 0xb9);
        pattern_set_remove(set, 0xbc, 0xbe);
    }
}

bool parser_find_property(struct parser *p, struct pattern_set *set, const char *name, bool in_class)
{
    if (!parser_onig(p)) {
        if (strncmp(name, "gc=", 3) == 0 || strncmp(name, "sc=", 3) == 0)
            name += 3;
        else if (strncmp(name, "script=", 7) == 0)
            name += 7;
        else if (strncmp(name, "generalcategory=", 16) == 0)
            name += 16;
    }
    if (strcmp(name, "word") == 0) {
        parser_word_set(p, set, in_class);
        return true;
    }
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++)
        if (strcmp(properties[i].name, name) == 0) {
            pattern_set_class(set, p->classes, properties[i].mask);
            return true;
        }
    return other_property(p, set, name);
}

bool parser_take_property(struct parser *p, size_t from, struct pattern_set *set, bool negative, bool in_class)
{
    char name[64];
    size_t n = 0;

    if (parser_at_end(p))
        return parser_refuse(p, from, "unfinished escape");
    if (p->text[p->at] != '{') {
        name[n++] = p->text[p->at++] | 0x20;
    } else {
        for (p->at++; !parser_at_end(p) && p->text[p->at] != '}'; p->at++) {
            char c = p->text[p->at];

            if (c == '^' && n == 0)
                negative = !negative;
            else if (c != ' ' && c != '-' && c != '_' && n + 1 < sizeof name)
                name[n++] = c >= 'A' && c <= 'Z' ? c | 0x20 : c;
        }
        if (parser_at_end(p))
            return parser_refuse(p, from, "unfinished escape");
        p->at++;
    }
    name[n] = 0;
    if (!parser_find_property(p, set, name, in_class))
        return parser_refuse(p, from, "unknown property");
    if (negative)
        pattern_set_invert(set);
    return true;
}
