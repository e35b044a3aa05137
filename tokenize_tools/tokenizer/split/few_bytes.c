/* few_bytes.c: makes the tables, and chooses the level. */
#include "few_bytes.h"

#include "base/cpu.h"

void few_bytes_add(struct few_bytes *f, uint8_t byte)
{
    if (f->count == FEW_BYTES)
        return;
    f->high[byte >> 4] |= (uint8_t)(1u << f->count);
    f->low[byte & 15] |= (uint8_t)(1u << f->count);
    f->bytes[f->count++] = byte;
}

few_bytes_function *few_bytes_finder(void)
{
#if defined(__x86_64__)
    if (cpu_level() >= CPU_AVX512)
        return few_bytes_find_avx512;
    if (cpu_level() >= CPU_AVX2)
        return few_bytes_find_avx2;
#elif defined(__aarch64__) && defined(__ARM_NEON)
    return few_bytes_find_neon;
#endif
    return few_bytes_find_words;
}
