/* pretoken_kernels.c: the table of kernels over batches of pretokens. */
#include "base/cpu.h"
#include "pretoken_batch.h"

extern const struct pretoken_kernels pretoken_kernels_plain;
#if defined(__x86_64__)
extern const struct pretoken_kernels pretoken_kernels_avx2, pretoken_kernels_avx512, pretoken_kernels_avx512vbmi;
#elif defined(__aarch64__) && defined(__ARM_NEON)
extern const struct pretoken_kernels pretoken_kernels_neon;
#endif

/* Fastest first; the last needs nothing, so it ends every search. */
static const struct {
    enum cpu_level needs;
    const struct pretoken_kernels *kernels;
} rows[] = {
#if defined(__x86_64__)
    { CPU_AVX512_VBMI, &pretoken_kernels_avx512vbmi },
    { CPU_AVX512, &pretoken_kernels_avx512 },
    { CPU_AVX2, &pretoken_kernels_avx2 },
#elif defined(__aarch64__) && defined(__ARM_NEON)
    { CPU_PLAIN, &pretoken_kernels_neon },
#endif
    { CPU_PLAIN, &pretoken_kernels_plain },
};

const struct pretoken_kernels *pretoken_kernels(void)
{
    enum cpu_level level = cpu_level();
    unsigned i = 0;

    while (rows[i].needs > level)
        i++;
    return rows[i].kernels;
}

const struct pretoken_kernels *pretoken_kernels_row(unsigned number, int *usable)
{
    if (number >= sizeof rows / sizeof rows[0])
        return NULL;
    if (usable)
        *usable = rows[number].needs <= cpu_level();
    return rows[number].kernels;
}
