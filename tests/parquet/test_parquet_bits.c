/*
 * test_parquet_bits.c: numbers of every width from 0 to 64 bits at every bit of a byte, near the end of the bytes and
 * far from it, are those that reading bit by bit gives.
 */
#include "corpus/parquet/values.h"
#include "t.h"

static uint64_t plainly(const uint8_t *bytes, uint64_t bit, unsigned width)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < width; i++, bit++)
        value |= (uint64_t)(bytes[bit / 8] >> bit % 8 & 1) << i;
    return value;
}

int main(void)
{
    uint64_t random = t_seed();
    uint8_t bytes[20];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)t_below(&random, 256);
    for (unsigned width = 0; width <= 64; width++)
        for (uint64_t bit = 0; bit + width <= 8 * sizeof bytes; bit++)
            if (rle_bits(bytes, bytes + sizeof bytes, bit, width) != plainly(bytes, bit, width))
                T_FAIL("%u bits from bit %d on", width, (int)bit);
    return t_end();
}
