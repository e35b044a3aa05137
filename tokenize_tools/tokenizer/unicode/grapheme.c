/* grapheme.c: the rules of UAX 29 as a machine over categories of characters. */
#include "grapheme.h"

#include "grapheme_tables.h"
#include "unicode.h"

/* The state after the characters so far. */
struct cluster {
    unsigned last;        /* category */
    bool pictograph;      /* PICTOGRAPH EXTEND*, and perhaps a ZWJ after it */
    bool consonant, link; /* CONSONANT with nothing but conjunct extenders after it, and a linker among them */
};

static bool is_control(unsigned category)
{
    return category == GRAPHEME_CONTROL || category == GRAPHEME_CR || category == GRAPHEME_LF;
}

/* GB6 to GB8. */
static bool same_syllable(unsigned a, unsigned b)
{
    switch (a) {
    case GRAPHEME_L:
        return b == GRAPHEME_L || b == GRAPHEME_V || b == GRAPHEME_LV || b == GRAPHEME_LVT;
    case GRAPHEME_V:
    case GRAPHEME_LV:
        return b == GRAPHEME_V || b == GRAPHEME_T;
    case GRAPHEME_T:
    case GRAPHEME_LVT:
        return b == GRAPHEME_T;
    default:
        return false;
    }
}

static bool joins(const struct cluster *k, unsigned category)
{
    if (k->last == GRAPHEME_CR && category == GRAPHEME_LF)
        return true;
    if (is_control(k->last) || is_control(category))
        return false;
    if (category == GRAPHEME_EXTEND || category == GRAPHEME_ZWJ || category == GRAPHEME_SPACING_MARK)
        return true;
    if (k->last == GRAPHEME_PREPEND || same_syllable(k->last, category))
        return true;
    if (category == GRAPHEME_CONSONANT)
        return k->consonant && k->link;
    return category == GRAPHEME_PICTOGRAPH && k->last == GRAPHEME_ZWJ && k->pictograph;
}

static void take_character(struct cluster *k, unsigned word)
{
    unsigned category = word & 15;

    if (category == GRAPHEME_PICTOGRAPH)
        k->pictograph = true;
    else if (k->last == GRAPHEME_ZWJ || (category != GRAPHEME_EXTEND && category != GRAPHEME_ZWJ))
        k->pictograph = false;
    if (category == GRAPHEME_CONSONANT) {
        k->consonant = true;
        k->link = false;
    } else if (word & CONJUNCT_LINKER) {
        k->link = true;
    } else if (!(word & CONJUNCT_EXTEND)) {
        k->consonant = false;
    }
    k->last = category;
}

static unsigned word_of(uint32_t c)
{
    return grapheme_blocks[grapheme_index[c >> 8]][c & 255];
}

static unsigned word_at(const uint8_t *text, size_t *bytes)
{
    return word_of(unicode_decode(text, bytes));
}

bool grapheme_is_plain(uint32_t c)
{
    return (word_of(c) & 15) == GRAPHEME_ANY;
}

size_t grapheme_length(const uint8_t *text, size_t size)
{
    struct cluster k = { GRAPHEME_ANY, false, false, false };
    size_t at, bytes;

    take_character(&k, word_at(text, &at));
    while (at < size) {
        unsigned word = word_at(text + at, &bytes);

        if (!joins(&k, word & 15))
            break;
        take_character(&k, word);
        at += bytes;
    }
    return at;
}
