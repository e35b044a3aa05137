/* unicode.c: looks characters up in the tables. */
#include "unicode.h"

#include "base/status.h"
#include "base/utf8.h"
#include "script_tables.h"
#include "unicode_tables.h"

/* The classes. The editions differ in \w only, and share all blocks but a few. */
const struct unicode_classes unicode_classes[UNICODE_EDITIONS] = {
    [UNICODE_RUST] = { rust_index, class_blocks },
    [UNICODE_ONIGURUMA] = { oniguruma_index, class_blocks },
};

const struct char_test_table char_test_table = { char_test_index, char_test_blocks };

uint8_t char_tests(uint32_t c)
{
    return c <= 0x10ffff ? char_test_blocks[char_test_index[c >> 8]][c & 255] : 0;
}

uint8_t char_script(uint32_t c)
{
    return c <= 0x10ffff ? script_blocks[script_index[c >> 8]][c & 255] : 0;
}

/* ---- The byte alphabet ------------------------------------------------------------------------------------------- */

void byte_alphabet_init(struct byte_alphabet *a)
{
    uint16_t next = 0x100;

    for (unsigned c = 0; c < BYTE_ALPHABET_CODES; c++)
        a->byte_of[c] = -1;
    for (unsigned b = 0; b < 256; b++) {
        bool itself = (b >= '!' && b <= '~') || (b >= 0xa1 && b != 0xad);

        a->code_of[b] = itself ? (uint16_t)b : next++;
        a->byte_of[a->code_of[b]] = (int16_t)b;
    }
}

enum leat_status byte_alphabet_append(struct buffer *out, const struct byte_alphabet *a, const uint8_t *bytes,
                                      size_t count, struct leat_error *err)
{
    enum leat_status s = count < SIZE_MAX / 2 ? buffer_reserve(out, 2 * count, err) : status_no_memory(err, count);

    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        out->size += utf8_encode(out->bytes + out->size, a->code_of[bytes[i]]);
    return s;
}

bool byte_alphabet_decode(const struct byte_alphabet *a, uint8_t *out, uint32_t *bytes, const uint8_t *text,
                          uint32_t length)
{
    uint8_t *to = out;

    for (uint32_t i = 0; i < length;) {
        uint32_t c = text[i++];

        if (c >= 0xe0)
            return false;
        if (c >= 0xc0)
            c = (c & 0x1f) << 6 | (text[i++] & 0x3fu);
        if (c >= BYTE_ALPHABET_CODES || a->byte_of[c] < 0)
            return false;
        *to++ = (uint8_t)a->byte_of[c];
    }
    *bytes = (uint32_t)(to - out);
    return true;
}
