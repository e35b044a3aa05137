/* cut_kernels_neon.c: finding cuts for NEON, which every aarch64 has; see cut_kernel.h. */
#if defined(__aarch64__) && defined(__ARM_NEON)
#define CUT_NEON 1
#define CUT_ROW  cut_kernels_neon
#define CUT_NAME "neon"
#include "cut_kernel.h"
#endif
