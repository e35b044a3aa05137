/* json_kernels.c: the table of kernels over JSON strings. */
#include "json_kernels.h"

#include "base/cpu.h"

extern const struct json_kernels json_kernels_plain;
#if defined(__x86_64__)
extern const struct json_kernels json_kernels_avx2, json_kernels_avx512;
#elif defined(__aarch64__) && defined(__ARM_NEON)
extern const struct json_kernels json_kernels_neon;
#endif

/* The kernels, fastest first; the last one needs nothing, so it ends every search. */
static const struct cpu_row rows[] = {
#if defined(__x86_64__)
    { CPU_AVX512, &json_kernels_avx512 },
    { CPU_AVX2, &json_kernels_avx2 },
#elif defined(__aarch64__) && defined(__ARM_NEON)
    { CPU_PLAIN, &json_kernels_neon },
#endif
    { CPU_PLAIN, &json_kernels_plain },
};

const struct json_kernels *json_kernels(void)
{
    return cpu_choose(rows);
}

const struct json_kernels *json_kernels_row(unsigned number, int *usable)
{
    return cpu_row(rows, sizeof rows / sizeof rows[0], number, usable);
}
