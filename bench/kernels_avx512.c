/* kernels_avx512.c: the bare loops for avx512; see kernels_template.h. */
#define KERNELS_ROW  bench_kernels_avx512
#define KERNELS_NAME "avx512"
#include "kernels_template.h"
