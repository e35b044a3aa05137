/* checksum_avx2.c: the checksum kernels for avx2; see checksum_kernel.h. */
#define CHECKSUM_ROW  checksum_row_avx2
#define CHECKSUM_NAME "avx2"
#include "checksum_kernel.h"
