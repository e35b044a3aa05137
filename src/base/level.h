/*
 * level.h: for bodies of kernels, which the Makefile compiles once per CPU level (LEVELS there): names that a body
 * exports end in the level's name.
 */
#ifndef LEAT_BASE_LEVEL_H
#define LEAT_BASE_LEVEL_H

/* kernels -> kernels_avx2, where -DCPU_LEVEL=avx2 */
#define LEVEL_NAME(name)          LEVEL_JOIN(name, CPU_LEVEL)
#define LEVEL_JOIN(name, level)   LEVEL_JOINED(name, level)
#define LEVEL_JOINED(name, level) name##_##level

/* "avx2" */
#define LEVEL_TEXT          LEVEL_QUOTE(CPU_LEVEL)
#define LEVEL_QUOTE(level)  LEVEL_QUOTED(level)
#define LEVEL_QUOTED(level) #level

#endif
