/* rows_avx2.c: the kernels of rows for avx2; see rows_kernel.h. */
#define ROWS_ROW  rows_row_avx2
#define ROWS_NAME "avx2"
#include "rows_kernel.h"
