/* bare_loops.c: see bare_loops.h. */
#include "bare_loops.h"

#include "base/cpu.h"

extern const struct bare_loops bare_loops_plain;
#if defined(__x86_64__)
extern const struct bare_loops bare_loops_avx2, bare_loops_avx512;
#endif

static const struct cpu_row rows[] = {
#if defined(__x86_64__)
    { CPU_AVX512, &bare_loops_avx512 },
    { CPU_AVX2, &bare_loops_avx2 },
#endif
    { CPU_PLAIN, &bare_loops_plain },
};

const struct bare_loops *bare_loops(void)
{
    return cpu_choose(rows);
}
