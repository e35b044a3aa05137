/* pattern_set.c: operations on bit maps, and sets of properties. */
#include "pattern_set.h"

#include <string.h>

#include "property_tables.h"

#define LONG_S 0x17fu  /* the other small s */
#define KELVIN 0x212au /* the other capital k */

void pattern_set_clear(struct pattern_set *s)
{
    memset(s, 0, sizeof *s);
}

void pattern_set_add(struct pattern_set *s, uint32_t first, uint32_t last)
{
    uint32_t c = first;

    for (; c <= last && c % 64; c++)
        s->words[c / 64] |= UINT64_C(1) << c % 64;
    for (; last >= 63 && c <= last - 63; c += 64)
        s->words[c / 64] = ~UINT64_C(0);
    for (; c <= last; c++)
        s->words[c / 64] |= UINT64_C(1) << c % 64;
}

void pattern_set_remove(struct pattern_set *s, uint32_t first, uint32_t last)
{
    for (uint32_t c = first; c <= last; c++)
        s->words[c / 64] &= ~(UINT64_C(1) << c % 64);
}

void pattern_set_invert(struct pattern_set *s)
{
    for (size_t i = 0; i < PATTERN_SET_WORDS; i++)
        s->words[i] = ~s->words[i];
}

void pattern_set_class(struct pattern_set *s, const struct unicode_classes *classes, unsigned mask)
{
    uint64_t made[256][4]; /* bits by the number of a table of 256 classes, since most are used many times */
    bool is_made[256] = { false };

    for (uint32_t block = 0; block < PATTERN_SET_POINTS / 256; block++) {
        unsigned number = classes->index[block];
        const uint16_t *of = classes->blocks[number];

        for (unsigned word = 0; word < 4 && !is_made[number]; word++) {
            uint64_t bits = 0;

            for (unsigned i = 0; i < 64; i++)
                bits |= (uint64_t)((of[word * 64 + i] & mask) != 0) << i;
            made[number][word] = bits;
        }
        is_made[number] = true;
        memcpy(s->words + block * 4, made[number], sizeof made[number]);
    }
}

void pattern_set_combine(struct pattern_set *s, const struct pattern_set *other, enum pattern_set_operation operation)
{
    for (size_t i = 0; i < PATTERN_SET_WORDS; i++)
        switch (operation) {
        case PATTERN_SET_UNION:
            s->words[i] |= other->words[i];
            break;
        case PATTERN_SET_INTERSECTION:
            s->words[i] &= other->words[i];
            break;
        case PATTERN_SET_DIFFERENCE:
            s->words[i] &= ~other->words[i];
            break;
        }
}

bool pattern_set_equal(const struct pattern_set *a, const struct pattern_set *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

void pattern_set_cased(struct pattern_set *s, const struct unicode_classes *classes)
{
    static const uint32_t others[][2] = {
        { 0x345, 0x345 },   { 0x10d0, 0x10ff }, { 0x13a0, 0x13ff }, { 0x1c80, 0x1c8f },
        { 0x2160, 0x2188 }, { 0x24b6, 0x24e9 }, { 0xab70, 0xabbf },
    };

    pattern_set_class(s, classes, UNICODE_LU | UNICODE_LL | UNICODE_LT);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        pattern_set_add(s, others[i][0], others[i][1]);
    pattern_set_remove(s, 0, 0x7f);
    pattern_set_remove(s, LONG_S, LONG_S);
    pattern_set_remove(s, KELVIN, KELVIN);
}

bool pattern_set_fold(struct pattern_set *s, const struct pattern_set *cased)
{
    bool in = false, out = false;

    for (size_t i = 0; i < PATTERN_SET_WORDS; i++) {
        in |= (cased->words[i] & s->words[i]) != 0;
        out |= (cased->words[i] & ~s->words[i]) != 0;
    }
    if (in && out)
        return false;
    if (pattern_set_has(s, LONG_S))
        pattern_set_add(s, 's', 's');
    if (pattern_set_has(s, KELVIN))
        pattern_set_add(s, 'k', 'k');
    for (uint32_t c = 'a'; c <= 'z'; c++)
        if (pattern_set_has(s, c) || pattern_set_has(s, c - 0x20)) {
            pattern_set_add(s, c, c);
            pattern_set_add(s, c - 0x20, c - 0x20);
        }
    if (pattern_set_has(s, 's'))
        pattern_set_add(s, LONG_S, LONG_S);
    if (pattern_set_has(s, 'k'))
        pattern_set_add(s, KELVIN, KELVIN);
    return true;
}

bool pattern_set_property(struct pattern_set *set, const char *name)
{
    size_t rows = sizeof property_names / sizeof property_names[0], row = 0;

    while (row < rows && strcmp(name, property_names[row].name) != 0)
        row++;
    if (row == rows)
        return false;
    for (size_t i = 0; i < property_names[row].count; i++)
        pattern_set_add(set, property_ranges[property_names[row].first + i][0],
                        property_ranges[property_names[row].first + i][1]);
    return true;
}
