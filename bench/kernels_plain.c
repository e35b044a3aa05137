/* kernels_plain.c: the bare loops for any CPU that the compiler targets; see kernels_template.h. */
#define KERNELS_ROW  bench_kernels_plain
#define KERNELS_NAME "plain"
#include "kernels_template.h"
