/*
 * show_width.c: how many places of a terminal's line a character takes; see show.h. Terminals differ on what is rare:
 * they agree on the letters of CJK, on marks that stand on the letter before them, and on most emoji.
 */
#include "base/show.h"
#include "base/utf8.h"
#include "show.h"
#include "tokenizer/unicode/unicode.h"

/* Rising ranges of characters that take two places: East Asian Width W and F, in whole blocks. */
static const struct {
    uint32_t first, last;
} wide[] = {
    { 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x23e9, 0x23ec },   { 0x2e80, 0x303e },   { 0x3041, 0xa4cf },
    { 0xa960, 0xa97f },   { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },   { 0xff01, 0xff60 },
    { 0xffe0, 0xffe6 },   { 0x16fe0, 0x1b2ff }, { 0x1f300, 0x1f320 }, { 0x1f32d, 0x1f393 }, { 0x1f3a0, 0x1f3ca },
    { 0x1f3e0, 0x1f3f0 }, { 0x1f400, 0x1f4fc }, { 0x1f500, 0x1f53d }, { 0x1f550, 0x1f567 }, { 0x1f5fb, 0x1f64f },
    { 0x1f680, 0x1f6c5 }, { 0x1f6cc, 0x1f6cc }, { 0x1f7e0, 0x1f7eb }, { 0x1f90c, 0x1f9ff }, { 0x1fa70, 0x1faff },
    { 0x20000, 0x3fffd },
};

/* Marks, what joins letters, and what is never seen (a spacing mark would take a place; the tables do not tell them
 * apart). */
static bool joins(uint32_t c)
{
    return unicode_class(&unicode_classes[UNICODE_RUST], c) & UNICODE_M || (c >= 0x200b && c <= 0x200d) ||
           (c >= 0x2060 && c <= 0x2064) || c == 0xfeff || (c >= 0xe0000 && c <= 0xe007f);
}

unsigned show_width(const char *shown, size_t bytes)
{
    size_t size;
    uint32_t c;

    if (utf8_valid_prefix((const uint8_t *)shown, bytes) < bytes || bytes == 0)
        return (unsigned)bytes;
    c = unicode_decode((const uint8_t *)shown, &size);
    if (size < bytes)
        return (unsigned)bytes; /* an escape */
    if (joins(c))
        return 0;
    for (size_t i = 0; i < sizeof wide / sizeof *wide && c >= wide[i].first; i++)
        if (c <= wide[i].last)
            return 2;
    return 1;
}

bool show_needs_base(const struct show_token *t)
{
    const char *text = t->bytes > 0 ? t->text : (const char *)t->last;
    uint64_t bytes = t->bytes > 0 ? t->bytes : t->last_bytes;
    char shown[SHOW_MOST];
    size_t length;

    if (bytes == 0 || text[0] == '\n' || text[0] == '\t')
        return false;
    show_step(text, (size_t)bytes, shown, &length);
    return show_width(shown, length) == 0;
}
