/* cut_kernels_avx2.c: finding cuts for avx2; see cut_kernel.h. */
#define CUT_ROW  cut_kernels_avx2
#define CUT_NAME "avx2"
#include "cut_kernel.h"
