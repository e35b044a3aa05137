/* by_character.c: see by_character.h. */
#include "by_character.h"

#include <string.h>

#include "base/bytes.h"
#include "tokenizer/unicode/char_tests.h"
#include "tokenizer/unicode/unicode.h"

/* What becomes of a character. */
enum verdict { STAYS, GOES, BECOMES_SPACE, GETS_SPACES };

/* The reference's list: blocks of Unicode, not the script. */
static bool is_chinese(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } blocks[] = { { 0x4e00, 0x9fff },   { 0x3400, 0x4dbf },   { 0x20000, 0x2a6df }, { 0x2a700, 0x2b73f },
                   { 0x2b740, 0x2b81f }, { 0x2b920, 0x2ceaf }, { 0xf900, 0xfaff },   { 0x2f800, 0x2fa1f } };

    for (size_t i = 0; c >= 0x3400 && i < sizeof blocks / sizeof blocks[0]; i++)
        if (c >= blocks[i].first && c <= blocks[i].last)
            return true;
    return false;
}

static enum verdict judge(enum spec_normalizer_kind kind, uint32_t c)
{
    uint8_t tests;

    switch (kind) {
    case SPEC_NORM_SPACE_HAN:
        return is_chinese(c) ? GETS_SPACES : STAYS;
    case SPEC_NORM_STRIP_ACCENTS:
        return char_tests(c) & CHAR_MARK ? GOES : STAYS;
    case SPEC_NORM_NONSPACING:
        return char_tests(c) & CHAR_NONSPACING ? GOES : STAYS;
    default: /* SPEC_NORM_CLEAN */
        tests = char_tests(c);
        return tests & CHAR_CONTROL ? GOES : (tests & CHAR_WHITESPACE) && c != ' ' ? BECOMES_SPACE : STAYS;
    }
}

#define EACH(byte) (0x0101010101010101u * (byte))

/* Printable ASCII, which all of them leave: eight bytes at a time, then one by one. */
static size_t skip_ascii(const uint8_t *text, size_t bytes)
{
    size_t at = 0;

    for (; bytes - at >= 8; at += 8) {
        uint64_t word = bytes_load64(text + at);

        if ((word | (word + EACH(1)) | ~(word + EACH(0x60))) & EACH(0x80))
            break;
    }
    while (at < bytes && text[at] >= ' ' && text[at] < 0x7f)
        at++;
    return at;
}

size_t by_character_prefix(enum spec_normalizer_kind kind, const uint8_t *text, size_t bytes)
{
    size_t at = skip_ascii(text, bytes), length;

    while (at < bytes && judge(kind, unicode_decode(text + at, &length)) == STAYS) {
        at += length;
        at += skip_ascii(text + at, bytes - at);
    }
    return at;
}

enum leat_status by_character_append(struct buffer *out, enum spec_normalizer_kind kind, const uint8_t *text,
                                     size_t bytes, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && bytes > 0) {
        size_t same = by_character_prefix(kind, text, bytes), length = 0;
        uint8_t put[6] = { ' ' };

        s = buffer_append(out, text, same, err);
        text += same;
        bytes -= same;
        if (s != LEAT_OK || bytes == 0)
            return s;
        switch (judge(kind, unicode_decode(text, &length))) {
        case BECOMES_SPACE:
            s = buffer_append(out, put, 1, err);
            break;
        case GETS_SPACES:
            memcpy(put + 1, text, length);
            put[1 + length] = ' ';
            s = buffer_append(out, put, length + 2, err);
            break;
        default:
            break;
        }
        text += length;
        bytes -= length;
    }
    return s;
}
