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
static const struct {
    enum cpu_level needs;
    const struct json_kernels *kernels;
} rows[] = {
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
    enum cpu_level level = cpu_level();
    unsigned i = 0;

    while (rows[i].needs > level)
        i++;
    return rows[i].kernels;
}

const struct json_kernels *json_kernels_row(unsigned number, int *usable)
{
    if (number >= sizeof rows / sizeof rows[0])
        return NULL;
    if (usable)
        *usable = rows[number].needs <= cpu_level();
    return rows[number].kernels;
}
