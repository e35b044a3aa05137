/*
 * byte_masks.h: masks of sixty-four bytes with a bit for each, for loops that need more than the first byte that
 * byte_block.h finds. BYTE_MASKS is defined if the target has them: x86-64, and NEON.
 */
#ifndef LEAT_TOKENIZE_TOOLS_BYTE_MASKS_H
#define LEAT_TOKENIZE_TOOLS_BYTE_MASKS_H

#include "byte_block.h"
#if defined(LEVEL_NEON)
#include "base/bytes64.h"
#endif

#if defined(__SSE2__) || defined(LEVEL_NEON)
#define BYTE_MASKS 1
#define MASK_BYTES 64u

#if defined(LEVEL_NEON)
struct byte_masks {
    bytes64 bytes;
};

static inline struct byte_masks masks_load(const char *p)
{
    return (struct byte_masks) { bytes64_load((const uint8_t *)p) };
}

static inline void masks_store(char *p, const struct byte_masks *m)
{
    vst4q_u8((uint8_t *)p, m->bytes);
}

static inline uint64_t masks_equal(const struct byte_masks *m, char byte)
{
    return bytes64_equal(m->bytes, (uint8_t)byte);
}

/* Finds quotes, backslashes and control characters. */
static inline uint64_t masks_special(const struct byte_masks *m)
{
    const uint8x16_t *b = m->bytes.val;

    return bytes64_mask(block_special_bytes(b[0]), block_special_bytes(b[1]), block_special_bytes(b[2]),
                        block_special_bytes(b[3]));
}

/* Finds the letters that may follow a backslash, except u. Each table says for one half of a byte in which of the rows
 * 2, 5, 6 and 7 of ASCII such a letter may lie. */
static inline uint64_t masks_letters(const struct byte_masks *m)
{
    static const uint8_t highs[16] = { [2] = 1, [5] = 2, [6] = 4, [7] = 8 };
    static const uint8_t lows[16] = { [2] = 1 | 4 | 8, [4] = 8, [6] = 4, [0xc] = 2, [0xe] = 4, [0xf] = 1 };
    bytes64 letters;

    for (unsigned i = 0; i < 4; i++)
        letters.val[i] = vtstq_u8(vqtbl1q_u8(vld1q_u8(highs), vshrq_n_u8(m->bytes.val[i], 4)),
                                  vqtbl1q_u8(vld1q_u8(lows), vandq_u8(m->bytes.val[i], vdupq_n_u8(15))));
    return bytes64_mask(letters.val[0], letters.val[1], letters.val[2], letters.val[3]);
}
#else
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

/* Finds quotes, backslashes and control characters. */
static inline uint64_t masks_special(const struct byte_masks *m)
{
    uint64_t mask = 0;

    for (unsigned i = 0; i < MASK_VECTORS; i++)
        mask |= block_special(m->part[i]) << i * BLOCK_BYTES % 64;
    return mask;
}

/* Finds the letters that may follow a backslash, except u. */
static inline uint64_t masks_letters(const struct byte_masks *m)
{
    return masks_equal(m, '"') | masks_equal(m, '\\') | masks_equal(m, '/') | masks_equal(m, 'b') |
           masks_equal(m, 'f') | masks_equal(m, 'n') | masks_equal(m, 'r') | masks_equal(m, 't');
}
#endif

/*
 * Returns a mask of the bytes after those backslashes that begin an escape. A backslash at bit 0 begins one. Sets *cut
 * if the last byte begins one, whose next byte is not in the mask. The carry of an addition runs through each row of
 * backslashes, and shows whether its length is even or odd (as in simdjson).
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
