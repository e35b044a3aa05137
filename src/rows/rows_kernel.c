/*
 * rows_kernel.c: the kernels of rows for one CPU level; compiled once per level. Plain loops, one per type of numbers,
 * which compilers vectorize.
 */
#include "base/bytes.h"
#include "base/level.h"
#include "rows.h"

#define WIDEN(name, to_type, from_type, load)                                                                          \
    static void name(to_type *restrict to, const from_type *restrict from, size_t count)                               \
    {                                                                                                                  \
        for (size_t i = 0; i < count; i++)                                                                             \
            to[i] = (to_type)load(from[i]);                                                                            \
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

static void count_up(void *to, unsigned number_bytes, size_t count)
{
    int64_t *wide = to;
    int32_t *narrow = to;

    if (number_bytes == 8)
        for (size_t i = 0; i < count; i++)
            wide[i] = (int64_t)i;
    else
        for (size_t i = 0; i < count; i++)
            narrow[i] = (int32_t)i;
}

static void fill(void *to, unsigned number_bytes, int64_t value, size_t count)
{
    int64_t *wide = to;
    int32_t *narrow = to;

    if (number_bytes == 8)
        for (size_t i = 0; i < count; i++)
            wide[i] = value;
    else
        for (size_t i = 0; i < count; i++)
            narrow[i] = (int32_t)value;
}

/* Row and stretch are copies, so that the compiler knows that stores do not change them. */
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
ROWS_OUTPUTS_SINGLY(SINGLY)

extern const struct rows_kernels LEVEL_NAME(rows_row);
#define KERNEL(field, name, kind, documents) .field = field,
const struct rows_kernels LEVEL_NAME(rows_row) = {
    .name = LEVEL_TEXT, .widen = widen, .count_up = count_up, .fill = fill, ROWS_OUTPUTS_SINGLY(KERNEL)
};
