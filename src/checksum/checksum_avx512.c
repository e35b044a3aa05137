/* checksum_avx512.c: the checksum kernels for avx512; see checksum_kernel.h. */
#define CHECKSUM_ROW  checksum_row_avx512
#define CHECKSUM_NAME "avx512"
#include "checksum_kernel.h"
