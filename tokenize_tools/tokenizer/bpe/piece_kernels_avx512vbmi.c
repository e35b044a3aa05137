/* piece_kernels_avx512vbmi.c: the kernels over batches of pieces for avx512vbmi; see piece_kernel.h. */
#define PIECE_ROW  piece_kernels_avx512vbmi
#define PIECE_NAME "avx512vbmi"
#include "piece_kernel.h"
