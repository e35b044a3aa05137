/* json_kernels_avx512.c: the kernels over JSON strings for avx512; see json_kernel.h. */
#define JSON_ROW  json_kernels_avx512
#define JSON_NAME "avx512"
#include "json_kernel.h"
