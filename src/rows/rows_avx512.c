/* rows_avx512.c: the kernels of rows for avx512; see rows_kernel.h. */
#define ROWS_ROW  rows_row_avx512
#define ROWS_NAME "avx512"
#include "rows_kernel.h"
