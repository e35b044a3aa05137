/*
 * cpu_limit.h: lowers the CPU level that kernels are chosen for. Test programs have their own cpu_level(), which the
 * linker takes in place of the library's, as it comes first.
 */
#ifndef LEAT_TESTS_CPU_LIMIT_H
#define LEAT_TESTS_CPU_LIMIT_H

#include "base/cpu.h"

/* From now on no higher level is used, in the whole program. cpu_limit(CPU_AVX512_VBMI): what the CPU has. */
void cpu_limit(enum cpu_level max);

#endif
