/*
 * byte_masks.h: sixty-four bytes at once, a bit for each, on x86-64: for what byte_block.h is too coarse. BYTE_MASKS is
 * defined where the target has it.
 */
#ifndef LEAT_TOKENIZE_TOOLS_BYTE_MASKS_H
#define LEAT_TOKENIZE_TOOLS_BYTE_MASKS_H

#include "byte_block.h"

#if defined(__SSE2__)
#define BYTE_MASKS   1
#define MASK_BYTES   64u
#define MASK_VECTORS (MASK_BYTES / BLOCK_BYTES)

struct byte_masks {
    byte_block part[MASK_VECTORS];
};

static inline struct byte_masks masks_load(const char *p)
{
    struct byte_masks m;

    for (unsigned i = 0; i < MASK_VECTORS; i++)
        m.part[i] = block_load(p + i * BLOCK_BYTES);
    return m;
}

static inline void masks_store(char *p, const struct byte_masks *m)
{
    for (unsigned i = 0; i < MASK_VECTORS; i++)
        block_store(p + i * BLOCK_BYTES, m->part[i]);
}

static inline uint64_t masks_equal(const struct byte_masks *m, char byte)
{
    uint64_t mask = 0;

    for (unsigned i = 0; i < MASK_VECTORS; i++)
        mask |= block_equal(m->part[i], byte) << i * BLOCK_BYTES % 64;
    return mask;
}

/* Quotes, backslashes and control characters. */
static inline uint64_t masks_special(const struct byte_masks *m)
{
    uint64_t mask = 0;

    for (unsigned i = 0; i < MASK_VECTORS; i++)
        mask |= block_special(m->part[i]) << i * BLOCK_BYTES % 64;
    return mask;
}

/*
 * Of these backslashes, the first of which begins an escape if it stands at bit 0: the bytes after those that begin
 * an escape. *cut: the last byte begins one, and the byte after it is not in the mask. The carry of an addition runs
 * through each row of backslashes, and shows whether its length is even or odd (as simdjson does it).
 */
static inline uint64_t masks_escaped(uint64_t slashes, bool *cut)
{
    const uint64_t even = UINT64_C(0x5555555555555555);
    uint64_t follows = slashes << 1, odd_begins = slashes & ~even & ~follows, sum;

    *cut = __builtin_add_overflow(odd_begins, slashes, &sum);
    return (even ^ sum << 1) & follows;
}

#endif
#endif
