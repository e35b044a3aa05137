/* kernels_avx2.c: the bare loops for avx2; see kernels_template.h. */
#define KERNELS_ROW  bench_kernels_avx2
#define KERNELS_NAME "avx2"
#include "kernels_template.h"
