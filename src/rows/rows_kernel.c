/*
 * rows_kernel.c: the kernels of rows for one CPU level; compiled once per level. They are plain loops, one per type
 * of numbers, which compilers vectorize. For NEON they go by blocks: gcc does not unroll a loop of unknown length,
 * and a vector of 16 bytes is little work for one iteration (docs/ENCODING.md).
 *
 * Why no streaming stores? On a Zen 3, numbers that stay in the caches (1 MiB: i64 inputs and labels of 32 x 2048
 * tokens) come at 22 GB/s by plain stores and at 14 GB/s by streaming ones. Both reach 14 GB/s for 16 MiB, and 10
 * and 11.5 GB/s from 64 MiB on, when the next reader finds the numbers in memory only.
 */
#include "base/bytes.h"
#include "base/cpu.h"
#include "rows.h"

#if defined(LEVEL_NEON)
#include <arm_neon.h>

#define BLOCK 32
/* Sets to[i] for all i < count; `value` is an expression of i. */
#define FOR_ALL(to, value)                                                                                             \
    do {                                                                                                               \
        size_t begin = 0;                                                                                              \
        for (; count - begin >= BLOCK; begin += BLOCK)                                                                 \
            for (size_t i = begin; i < begin + BLOCK; i++)                                                             \
                (to)[i] = (value);                                                                                     \
        for (size_t i = begin; i < count; i++)                                                                         \
            (to)[i] = (value);                                                                                         \
    } while (0)
#else
#define FOR_ALL(to, value)                                                                                             \
    for (size_t i = 0; i < count; i++)                                                                                 \
    (to)[i] = (value)
#endif

#define WIDEN(name, to_type, from_type, load)                                                                          \
    static void name(to_type *restrict to, const from_type *restrict from, size_t count)                               \
    {                                                                                                                  \
        FOR_ALL(to, (to_type)load(from[i]));                                                                           \
    }

WIDEN(widen_2_8, int64_t, uint16_t, bytes_le16)
WIDEN(widen_2_4, int32_t, uint16_t, bytes_le16)
WIDEN(widen_4_8, int64_t, uint32_t, bytes_le32)
WIDEN(widen_4_4, int32_t, uint32_t, bytes_le32)

static void widen(void *to, unsigned number_bytes, const void *from, unsigned token_width, size_t count)
{
    if (token_width == 2) {
        if (number_bytes == 8)
            widen_2_8(to, from, count);
        else
            widen_2_4(to, from, count);
    } else if (number_bytes == 8) {
        widen_4_8(to, from, count);
    } else {
        widen_4_4(to, from, count);
    }
}

static void count_up_8(int64_t *to, size_t count)
{
    size_t i = 0;

#if defined(LEVEL_NEON)
    /* gcc would take four instructions per number to make vectors of i */
    for (int64x2_t next = { 0, 1 }; count - i >= 8; i += 8)
        for (unsigned k = 0; k < 8; k += 2, next = vaddq_s64(next, vdupq_n_s64(2)))
            vst1q_s64(to + i + k, next);
#endif
    for (; i < count; i++)
        to[i] = (int64_t)i;
}

static void count_up(void *to, unsigned number_bytes, size_t count)
{
    int32_t *narrow = to;

    if (number_bytes == 8)
        count_up_8(to, count);
    else
        FOR_ALL(narrow, (int32_t)i);
}

static void fill_numbers(void *to, unsigned number_bytes, int64_t value, size_t count)
{
    int64_t *wide = to;
    int32_t *narrow = to;

    if (number_bytes == 8)
        FOR_ALL(wide, value);
    else
        FOR_ALL(narrow, (int32_t)value);
}

/* The row and the stretch are copies, so that the compiler knows that stores do not change them. */
#define SINGLY_AS(type, field)                                                                                         \
    for (uint32_t i = s.begin; i < s.end; i++)                                                                         \
        ((type *)to)[i] = (type)output_##field(&row, s, i);
#define SINGLY(field, name, kind, documents)                                                                           \
    static void field(void *restrict to, unsigned number_bytes, struct rows_line row, struct rows_stretch s)           \
    {                                                                                                                  \
        if (kind == ROWS_MASK)                                                                                         \
            SINGLY_AS(uint8_t, field)                                                                                  \
        else if (number_bytes == 8)                                                                                    \
            SINGLY_AS(int64_t, field)                                                                                  \
        else                                                                                                           \
            SINGLY_AS(int32_t, field)                                                                                  \
    }
ROWS_OUTPUTS(ROWS_SKIP, SINGLY)

extern const struct rows_kernels LEVEL_NAME(rows_row);
#define KERNEL(field, name, kind, documents) .field = field,
const struct rows_kernels LEVEL_NAME(rows_row) = {
    .name = LEVEL_TEXT, .widen = widen, .count_up = count_up, .fill = fill_numbers, ROWS_OUTPUTS(ROWS_SKIP, KERNEL)
};
