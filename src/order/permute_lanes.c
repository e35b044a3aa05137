/* permute_lanes.c: the table of kernels of permute_lanes.h. */
#include "permute_lanes.h"

#include "base/cpu.h"

extern permute_rounds permute_rounds_plain;
#if defined(__x86_64__)
extern permute_rounds permute_rounds_avx2, permute_rounds_avx512;
#endif

permute_rounds *permute_lanes_rounds(void)
{
#if defined(__x86_64__)
    enum cpu_level level = cpu_level();

    if (level >= CPU_AVX512)
        return permute_rounds_avx512;
    if (level >= CPU_AVX2)
        return permute_rounds_avx2;
#endif
    return permute_rounds_plain;
}
