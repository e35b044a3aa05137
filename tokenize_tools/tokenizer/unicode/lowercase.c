/* lowercase.c: see lowercase.h. */
#include "lowercase.h"

#include <string.h>

#include "base/utf8.h"
#include "normalize_tables.h"
#include "unicode.h"

static int32_t lower_delta(uint32_t c)
{
    return lower_deltas[lower_blocks[lower_index[c >> 8]][c & 255]];
}

#define DOTTED_I 0x130 /* the only character that becomes two: i and U+0307 */

size_t lowercase_prefix(const uint8_t *text, size_t size)
{
    size_t at = 0, bytes;

    while (at < size) {
        uint32_t c = text[at];

        bytes = 1;
        if (c >= 0x80)
            c = unicode_decode(text + at, &bytes);
        if (c < 0x80 ? c - 'A' < 26 : lower_delta(c) != 0 || c == DOTTED_I)
            return at;
        at += bytes;
    }
    return at;
}

static void lower_ascii(uint8_t *out, const uint8_t *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)(text[i] | ((uint8_t)(text[i] - 'A') < 26 ? 0x20 : 0));
}

enum leat_status lowercase_append(struct buffer *out, const uint8_t *text, size_t size, struct leat_error *err)
{
    size_t at = 0, bytes;

    while (at < size) {
        size_t ascii = utf8_ascii_prefix(text + at, size - at);
        enum leat_status s = buffer_reserve(out, ascii + 4, err);
        uint32_t c;

        if (s != LEAT_OK)
            return s;
        lower_ascii(out->bytes + out->size, text + at, ascii);
        out->size += ascii;
        at += ascii;
        if (at == size)
            break;
        c = unicode_decode(text + at, &bytes);
        at += bytes;
        if (c == DOTTED_I)
            memcpy(out->bytes + out->size, "i\xcc\x87", 3);
        out->size += c == DOTTED_I ? 3 : utf8_encode(out->bytes + out->size, c + (uint32_t)lower_delta(c));
    }
    return LEAT_OK;
}
