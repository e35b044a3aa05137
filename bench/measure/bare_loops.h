/* bare_loops.h: the bare loops that others are compared with, as fast as this CPU allows. There is one row per
 * instruction set; the fastest that the CPU can run is taken. */
#ifndef LEAT_BENCH_BARE_LOOPS_H
#define LEAT_BENCH_BARE_LOOPS_H

#include <stddef.h>
#include <stdint.h>

struct bare_loops {
    const char *name;
    uint64_t (*xxh64)(const void *bytes, size_t count);  /* XXH3-64 */
    uint64_t (*xxh128)(const void *bytes, size_t count); /* returns both halves of an XXH3-128, xored */
    void (*widen)(int64_t *to, const uint16_t *from, size_t count);
};

/* Returns the fastest row that this CPU can run. */
const struct bare_loops *bare_loops(void);

#endif
