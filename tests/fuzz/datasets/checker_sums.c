/* checker_sums.c: the hashes of FORMAT.md, chapter 5, each page on its own; see checker.h. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "checker.h"

void checker_hash(const uint8_t *bytes, uint64_t size, uint8_t out[16])
{
    XXH128_hash_t h = XXH3_128bits(bytes, (size_t)size);

    checker_put(out, h.low64, 8);
    checker_put(out + 8, h.high64, 8);
}

void checker_page_sum(const uint8_t *bytes, uint64_t size, uint8_t out[16])
{
    uint64_t low = 0, high = 0;

    for (uint64_t page = 0; page * CHECKER_PAGE < size; page++) {
        uint64_t left = size - page * CHECKER_PAGE;
        uint8_t text[24];
        XXH128_hash_t h;

        checker_hash(bytes + page * CHECKER_PAGE, left < CHECKER_PAGE ? left : CHECKER_PAGE, text);
        checker_put(text + 16, page, 8);
        h = XXH3_128bits(text, sizeof text);
        low += h.low64;
        high += h.high64 + (low < h.low64);
    }
    checker_put(out, low, 8);
    checker_put(out + 8, high, 8);
}

void checker_identity(const uint8_t *header, const uint8_t documents_sum[16], const uint8_t *mask_sum, uint8_t out[16])
{
    uint8_t text[112];

    memcpy(text, header + 64, 40);
    checker_put(text + 40, checker_u32(header + 104), 8);
    memcpy(text + 48, header + 112, 16);
    memcpy(text + 64, header + 128, 16);
    memcpy(text + 80, documents_sum, 16);
    if (mask_sum)
        memcpy(text + 96, mask_sum, 16);
    checker_hash(text, mask_sum ? 112 : 96, out);
}

uint32_t checker_page_hash(const uint8_t *bytes, uint64_t size, uint64_t page)
{
    uint64_t left = size - page * CHECKER_PAGE;

    return (uint32_t)XXH3_128bits(bytes + page * CHECKER_PAGE, (size_t)(left < CHECKER_PAGE ? left : CHECKER_PAGE))
        .low64;
}
