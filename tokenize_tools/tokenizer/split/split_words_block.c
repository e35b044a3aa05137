/* split_words_block.c: what 64 bytes are, for one CPU level; compiled once for each. */
#include "base/bytes64.h"
#include "base/cpu.h"
#include "split_words.h"

static inline uint64_t between(bytes64 b, uint8_t first, uint8_t end)
{
    return bytes64_from(b, first) & ~bytes64_from(b, end);
}

static void masks(const uint8_t *text, struct split_words_block *out)
{
    bytes64 b = bytes64_load(text);

    out->high = bytes64_high(b);
    out->leads = bytes64_from(b, 0xc0);
    out->spaces = bytes64_equal(b, ' ') | between(b, '\t', '\r' + 1);
    out->marks = between(b, '!', '0') | between(b, ':', 'A') | between(b, '[', 'a') | between(b, '{', 0x7f);
}

static uint64_t blanks(const uint8_t *text)
{
    return bytes64_equal(bytes64_load(text), ' ');
}

const struct split_words_kernel LEVEL_NAME(split_words_kernel) = { masks, blanks };
