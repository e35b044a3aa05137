/* cpu.c: The compiler's run-time library asks the CPU once, at load; this is a few loads. */
#include "cpu.h"

/* `make CPU=AVX2` makes libraries and programs that use no higher level. */
#ifndef CPU_MAX
#define CPU_MAX CPU_AVX512_VBMI
#endif

static enum cpu_level detected(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    /* all levels are compiled for BMI2 too, which a virtual machine may hide */
    if (!__builtin_cpu_supports("bmi2"))
        return CPU_PLAIN;
#if defined(CPU_EMULATED) /* make check-avx512 */
    if (__builtin_cpu_supports("avx2"))
        return CPU_AVX512_VBMI;
#endif
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd"))
        return __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") ? CPU_AVX512_VBMI
                                                                                             : CPU_AVX512;
    if (__builtin_cpu_supports("avx2"))
        return CPU_AVX2;
#endif
    return CPU_PLAIN;
}

enum cpu_level cpu_level(void)
{
    enum cpu_level level = detected();

    return level < CPU_MAX ? level : CPU_MAX;
}
