/* rows_plain.c: the kernels of rows for any CPU that the compiler targets; see rows_kernel.h. */
#define ROWS_ROW  rows_row_plain
#define ROWS_NAME "plain"
#include "rows_kernel.h"
