/* cut_kernels_avx512vbmi.c: finding cuts for avx512vbmi; see cut_kernel.h. */
#define CUT_ROW  cut_kernels_avx512vbmi
#define CUT_NAME "avx512vbmi"
#include "cut_kernel.h"
