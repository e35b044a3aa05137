/* pretoken_kernels_plain.c: the kernels over batches of pretokens for plain; see pretoken_kernel.h. */
#define PRETOKEN_ROW  pretoken_kernels_plain
#define PRETOKEN_NAME "plain"
#include "pretoken_kernel.h"
