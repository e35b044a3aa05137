/*
 * cpu.h: which instruction sets this processor has. The only place that asks. Kernels come as tables of rows, fastest
 * first, whose last row needs nothing and defines the right answer; each takes the first row that the CPU has.
 *
 * A *kernel* is a function that exists once per *level*, a set of CPU features that it is compiled for.
 */
#ifndef LEAT_BASE_CPU_H
#define LEAT_BASE_CPU_H

enum cpu_level {
    CPU_PLAIN = 0, /* features of the compiler's target: SSE2, NEON, or no vectors at all */
    CPU_AVX2 = 1,
    CPU_AVX512 = 2,     /* F, BW, VL, DQ, CD */
    CPU_AVX512_VBMI = 3 /* those, VBMI and VBMI2 */
};

/* The highest level of this CPU, or the one that the build was limited to. Test programs have one that they can lower
 * (tests/support/cpu_limit.h). */
enum cpu_level cpu_level(void);

/*
 * For bodies of kernels, which the Makefile compiles once per level (LEVELS there), with -DCPU_LEVEL=avx2, say: names
 * that a body exports end in the level's name, kernels_avx2; and "avx2" itself.
 */
#define LEVEL_NAME(name)          LEVEL_JOIN(name, CPU_LEVEL)
#define LEVEL_JOIN(name, level)   LEVEL_JOINED(name, level)
#define LEVEL_JOINED(name, level) name##_##level

#define LEVEL_TEXT                LEVEL_QUOTE(CPU_LEVEL)
#define LEVEL_QUOTE(level)        LEVEL_QUOTED(level)
#define LEVEL_QUOTED(level)       #level

#endif
