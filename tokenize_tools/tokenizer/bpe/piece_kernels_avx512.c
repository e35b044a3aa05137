/* piece_kernels_avx512.c: the kernels over batches of pieces for avx512; see piece_kernel.h. */
#define PIECE_ROW  piece_kernels_avx512
#define PIECE_NAME "avx512"
#include "piece_kernel.h"
