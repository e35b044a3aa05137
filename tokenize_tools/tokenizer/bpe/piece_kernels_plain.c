/* piece_kernels_plain.c: the kernels over batches of pieces for plain; see piece_kernel.h. */
#define PIECE_ROW  piece_kernels_plain
#define PIECE_NAME "plain"
#include "piece_kernel.h"
