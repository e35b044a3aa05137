/* pretoken_kernels_avx2.c: the kernels over batches of pretokens for avx2; see pretoken_kernel.h. */
#define PRETOKEN_ROW  pretoken_kernels_avx2
#define PRETOKEN_NAME "avx2"
#include "pretoken_kernel.h"
