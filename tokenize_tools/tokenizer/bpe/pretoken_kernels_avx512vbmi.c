/* pretoken_kernels_avx512vbmi.c: the kernels over batches of pretokens for avx512vbmi; see pretoken_kernel.h. */
#define PRETOKEN_ROW  pretoken_kernels_avx512vbmi
#define PRETOKEN_NAME "avx512vbmi"
#include "pretoken_kernel.h"
