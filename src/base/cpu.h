/*
 * cpu.h: says which instruction sets this processor has; nothing else asks the CPU. Kernels come as tables of rows,
 * fastest first, whose last row needs nothing and defines the right answer; each table is read up to the first row that
 * the CPU can run.
 *
 * A *kernel* is a function that exists once per *level*, a set of CPU features that it is compiled for.
 */
#ifndef LEAT_BASE_CPU_H
#define LEAT_BASE_CPU_H

#include <stddef.h>

enum cpu_level {
    CPU_PLAIN = 0, /* features of the compiler's target: SSE2, NEON, or no vectors at all */
    CPU_AVX2 = 1,
    CPU_AVX512 = 2,     /* F, BW, VL, DQ, CD */
    CPU_AVX512_VBMI = 3 /* those of CPU_AVX512, VBMI and VBMI2 */
};

/* Returns the highest level of this CPU, or the one that the build was limited to. Test programs have one that they
 * can lower (tests/support/cpu_limit.h). */
enum cpu_level cpu_level(void);

/* A row of a table of kernels: the level that they need, and the struct of their functions. */
struct cpu_row {
    enum cpu_level needs;
    const void *kernels;
};

/* Returns the kernels of the first row that this CPU has. */
static inline const void *cpu_choose(const struct cpu_row *rows)
{
    enum cpu_level level = cpu_level();

    while (rows->needs > level)
        rows++;
    return rows->kernels;
}

/* Returns the kernels of row `number` of `count`, for tests, or NULL past the last. Sets *usable, if it is not NULL, to
 * whether this CPU has them. */
static inline const void *cpu_row(const struct cpu_row *rows, size_t count, size_t number, int *usable)
{
    if (number >= count)
        return NULL;
    if (usable)
        *usable = rows[number].needs <= cpu_level();
    return rows[number].kernels;
}

/*
 * Names for bodies of kernels, which the Makefile compiles once per level (LEVELS there), for example with
 * -DCPU_LEVEL=avx2: a name that a body exports ends in the level's name, such as kernels_avx2. And the level's name
 * as text, "avx2".
 */
#define LEVEL_NAME(name)          LEVEL_JOIN(name, CPU_LEVEL)
#define LEVEL_JOIN(name, level)   LEVEL_JOINED(name, level)
#define LEVEL_JOINED(name, level) name##_##level

#define LEVEL_TEXT                LEVEL_QUOTE(CPU_LEVEL)
#define LEVEL_QUOTE(level)        LEVEL_QUOTED(level)
#define LEVEL_QUOTED(level)       #level

#endif
