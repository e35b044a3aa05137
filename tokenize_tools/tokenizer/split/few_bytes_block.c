/* few_bytes_block.c: finds bytes of a set, for one CPU level; compiled once for each. */
#include "base/bytes64.h"
#include "base/cpu.h"
#include "few_bytes.h"

static inline uint64_t in_block(const struct few_bytes *f, const uint8_t *text)
{
    bytes64 b = bytes64_load(text);
#if BYTES64_VECTORS
    return bytes64_from(
        bytes64_and(bytes64_lookup(f->high, bytes64_high_half(b)), bytes64_lookup(f->low, bytes64_low_half(b))), 1);
#else
    uint64_t found = 0;

    for (unsigned i = 0; i < f->count; i++)
        found |= bytes64_equal(b, f->bytes[i]);
    return found;
#endif
}

uint64_t LEVEL_NAME(few_bytes_find)(const struct few_bytes *f, const uint8_t *text, size_t bytes, size_t *at)
{
    for (; bytes - *at >= FEW_BYTES_BLOCK; *at += FEW_BYTES_BLOCK) {
        uint64_t found = in_block(f, text + *at);

        if (found)
            return found;
    }
    return 0;
}
