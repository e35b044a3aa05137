/* cut_kernels_plain.c: finding cuts for plain; see cut_kernel.h. */
#define CUT_ROW  cut_kernels_plain
#define CUT_NAME "plain"
#include "cut_kernel.h"
