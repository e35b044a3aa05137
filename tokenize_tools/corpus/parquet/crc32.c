/* crc32.c: see crc32.h: by the library that inflates gzip; a build without one takes four bits at once. */
#include "crc32.h"

#include "corpus/streams/inflater.h"

#define MOST ((size_t)1 << 30) /* at once, for the libraries */

static uint32_t by_nibbles(uint32_t crc, const uint8_t *bytes, size_t count)
{
    static const uint32_t table[16] = { 0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c };

    crc = ~crc;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

uint32_t crc32_of(uint32_t crc, const uint8_t *bytes, size_t count)
{
    uint32_t (*some)(uint32_t, const uint8_t *, size_t) = inflater_library.name ? inflater_library.crc : by_nibbles;

    for (; count > MOST; bytes += MOST, count -= MOST)
        crc = some(crc, bytes, MOST);
    return some(crc, bytes, count);
}
