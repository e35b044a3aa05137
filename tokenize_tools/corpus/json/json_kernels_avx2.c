/* json_kernels_avx2.c: the kernels over JSON strings for avx2; see json_kernel.h. */
#define JSON_ROW  json_kernels_avx2
#define JSON_NAME "avx2"
#include "json_kernel.h"
