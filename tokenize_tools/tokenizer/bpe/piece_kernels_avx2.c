/* piece_kernels_avx2.c: the kernels over batches of pieces for avx2; see piece_kernel.h. */
#define PIECE_ROW  piece_kernels_avx2
#define PIECE_NAME "avx2"
#include "piece_kernel.h"
