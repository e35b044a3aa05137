/*
 * test_row_kernels.c: each row of the kernels over rows of tokens widens, counts up and fills as they are defined, for
 * every number of tokens around their blocks, at every place in memory, and writes nothing beside. What outputs are
 * made of these is up to test_loader_outputs.c, which does not run on other machines.
 */
#include "base/bytes.h"
#include "rows/rows.h"
#include "t.h"

#define MOST 300

static uint8_t from[4 * MOST + 16], to[8 * MOST + 64];

static int64_t number_at(const uint8_t *at, unsigned bytes)
{
    int64_t wide;
    int32_t narrow;

    memcpy(&wide, at, sizeof wide);
    memcpy(&narrow, at, sizeof narrow);
    return bytes == 8 ? wide : narrow;
}

/* `width` 0: numbers from 0 on; 1: one number; 2, 4: tokens. */
static void check(const struct rows_kernels *k, unsigned width, unsigned bytes, size_t count, uint64_t *random)
{
    const uint8_t *tokens = from + width * t_below(random, 3);
    uint8_t *numbers = to + 16 + bytes * t_below(random, 3), *end = numbers + bytes * count;
    int64_t one = (int64_t)t_below(random, 1000) - 500;

    memset(to, 0xa5, sizeof to);
    if (width == 0)
        k->count_up(numbers, bytes, count);
    else if (width == 1)
        k->fill(numbers, bytes, one, count);
    else
        k->widen(numbers, bytes, tokens, width, count);
    for (size_t i = 0; i < count; i++) {
        int64_t want = width == 0   ? (int64_t)i
                       : width == 1 ? one
                       : width == 2 ? bytes_load16(tokens + 2 * i)
                                    : bytes_load32(tokens + 4 * i);

        if (number_at(numbers + bytes * i, bytes) != want)
            T_FAIL("%s: %u to %u bytes, number %zu of %zu", k->name, width, bytes, i, count);
    }
    for (unsigned i = 1; i <= 16; i++)
        T_CHECK(numbers[-(int)i] == 0xa5 && end[i - 1] == 0xa5);
}

int main(void)
{
    const struct rows_kernels *k;
    uint64_t random = t_seed();
    int usable;

    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (uint8_t)(t_random(&random) & (i % 4 == 3 ? 0x7f : 0xff));
    for (unsigned row = 0; (k = rows_row(row, &usable)); row++)
        for (size_t count = 0; usable && count < MOST - 4; count++)
            for (unsigned bytes = 4; bytes <= 8; bytes += 4)
                for (unsigned width = 0; width <= 4; width += width < 2 ? 1 : 2)
                    check(k, width, bytes, count, &random);
    return t_end();
}
