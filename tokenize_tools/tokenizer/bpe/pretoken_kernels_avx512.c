/* pretoken_kernels_avx512.c: the kernels over batches of pretokens for avx512; see pretoken_kernel.h. */
#define PRETOKEN_ROW  pretoken_kernels_avx512
#define PRETOKEN_NAME "avx512"
#include "pretoken_kernel.h"
