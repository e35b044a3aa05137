/* kernels.c: see kernels.h. */
#include "kernels.h"

#include "base/cpu.h"

extern const struct bench_kernels bench_kernels_plain;
#if defined(__x86_64__)
extern const struct bench_kernels bench_kernels_avx2, bench_kernels_avx512;
#endif

static const struct {
    enum cpu_level needs;
    const struct bench_kernels *kernels;
} rows[] = {
#if defined(__x86_64__)
    { CPU_AVX512, &bench_kernels_avx512 },
    { CPU_AVX2, &bench_kernels_avx2 },
#endif
    { CPU_PLAIN, &bench_kernels_plain },
};

const struct bench_kernels *bench_kernels(void)
{
    enum cpu_level level = cpu_level();
    unsigned i = 0;

    while (rows[i].needs > level)
        i++;
    return rows[i].kernels;
}
