/* piece_kernels.c: the table of kernels over batches of pieces. */
#include "base/cpu.h"
#include "piece_batch.h"

extern const struct piece_kernels piece_kernels_plain;
#if defined(__x86_64__)
extern const struct piece_kernels piece_kernels_avx2, piece_kernels_avx512, piece_kernels_avx512vbmi;
#endif

/* Fastest first; the last needs nothing, so it ends every search. */
static const struct {
    enum cpu_level needs;
    const struct piece_kernels *kernels;
} rows[] = {
#if defined(__x86_64__)
    { CPU_AVX512_VBMI, &piece_kernels_avx512vbmi },
    { CPU_AVX512, &piece_kernels_avx512 },
    { CPU_AVX2, &piece_kernels_avx2 },
#endif
    { CPU_PLAIN, &piece_kernels_plain },
};

const struct piece_kernels *piece_kernels(void)
{
    enum cpu_level level = cpu_level();
    unsigned i = 0;

    while (rows[i].needs > level)
        i++;
    return rows[i].kernels;
}

const struct piece_kernels *piece_kernels_row(unsigned number, int *usable)
{
    if (number >= sizeof rows / sizeof rows[0])
        return NULL;
    if (usable)
        *usable = rows[number].needs <= cpu_level();
    return rows[number].kernels;
}
