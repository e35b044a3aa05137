/* json_kernels_plain.c: the kernels over JSON strings for any CPU that the compiler targets; see json_kernel.h. */
#define JSON_ROW  json_kernels_plain
#define JSON_NAME "plain"
#include "json_kernel.h"
