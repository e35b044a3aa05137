/*
 * rows_kernel.h: the body of one CPU level's kernels of rows. Included once by each rows_<level>.c, which is compiled for
 * that level and defines ROWS_ROW and ROWS_NAME. Plain loops: compilers make vectors of them.
 */
#include "base/bytes.h"
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

extern const struct rows_kernels ROWS_ROW;
const struct rows_kernels ROWS_ROW = { ROWS_NAME, widen, count_up, fill };
