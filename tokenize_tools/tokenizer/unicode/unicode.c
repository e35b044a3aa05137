/* unicode.c: see unicode.h. */
#include "unicode.h"

#include "script_tables.h"
#include "unicode_tables.h"

/* The editions differ in \w only, and share all blocks but a few. */
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
