/* checksum_plain.c: the checksum kernels for any CPU that the compiler targets; see checksum_kernel.h. */
#define CHECKSUM_ROW  checksum_row_plain
#define CHECKSUM_NAME "plain"
#include "checksum_kernel.h"
