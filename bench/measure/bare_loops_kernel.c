/* bare_loops_kernel.c: the bare loops of one CPU level; compiled once for each. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "bare_loops.h"
#include "base/cpu.h"

static uint64_t xxh64(const void *bytes, size_t count)
{
    return XXH3_64bits(bytes, count);
}

static uint64_t xxh128(const void *bytes, size_t count)
{
    XXH128_hash_t h = XXH3_128bits(bytes, count);

    return h.low64 ^ h.high64;
}

static void widen(int64_t *restrict to, const uint16_t *restrict from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = from[i];
}

extern const struct bare_loops LEVEL_NAME(bare_loops);
const struct bare_loops LEVEL_NAME(bare_loops) = { LEVEL_TEXT, xxh64, xxh128, widen };
