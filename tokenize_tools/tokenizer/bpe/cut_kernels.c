/* cut_kernels.c: the table of kernels that find cuts. */
#include "base/cpu.h"
#include "cut_classes.h"

extern const struct cut_kernels cut_kernels_plain;
#if defined(__x86_64__)
extern const struct cut_kernels cut_kernels_avx2, cut_kernels_avx512vbmi;
#elif defined(__aarch64__) && defined(__ARM_NEON)
extern const struct cut_kernels cut_kernels_neon;
#endif

/* Fastest first; the last needs nothing, so it ends every search. */
static const struct {
    enum cpu_level needs;
    const struct cut_kernels *kernels;
} rows[] = {
#if defined(__x86_64__)
    { CPU_AVX512_VBMI, &cut_kernels_avx512vbmi },
    { CPU_AVX2, &cut_kernels_avx2 },
#elif defined(__aarch64__) && defined(__ARM_NEON)
    { CPU_PLAIN, &cut_kernels_neon },
#endif
    { CPU_PLAIN, &cut_kernels_plain },
};

const struct cut_kernels *cut_kernels(void)
{
    enum cpu_level level = cpu_level();
    unsigned i = 0;

    while (rows[i].needs > level)
        i++;
    return rows[i].kernels;
}

const struct cut_kernels *cut_kernels_row(unsigned number, int *usable)
{
    if (number >= sizeof rows / sizeof rows[0])
        return NULL;
    if (usable)
        *usable = rows[number].needs <= cpu_level();
    return rows[number].kernels;
}
