/* checksum.c: the table of checksum kernels, and their numbers in files. */
#include "checksum.h"

#include "base/bytes.h"
#include "base/cpu.h"

extern const struct checksum_kernels checksum_row_plain;
#if defined(__x86_64__)
extern const struct checksum_kernels checksum_row_avx2, checksum_row_avx512;
#endif

/* Fastest first; the last needs nothing, so it ends every search. */
static const struct {
    enum cpu_level needs;
    const struct checksum_kernels *kernels;
} rows[] = {
#if defined(__x86_64__)
    { CPU_AVX512, &checksum_row_avx512 },
    { CPU_AVX2, &checksum_row_avx2 },
#endif
    { CPU_PLAIN, &checksum_row_plain },
};

const struct checksum_kernels *checksum_kernels(void)
{
    enum cpu_level level = cpu_level();
    unsigned i = 0;

    while (rows[i].needs > level)
        i++;
    return rows[i].kernels;
}

const struct checksum_kernels *checksum_row(unsigned number, int *usable)
{
    if (number >= sizeof rows / sizeof rows[0])
        return NULL;
    if (usable)
        *usable = rows[number].needs <= cpu_level();
    return rows[number].kernels;
}

void checksum_store(uint8_t out[16], struct hash128 h)
{
    bytes_store64(out, h.low);
    bytes_store64(out + 8, h.high);
}

struct hash128 checksum_load(const uint8_t in[16])
{
    return (struct hash128) { bytes_load64(in), bytes_load64(in + 8) };
}
