/* scan_blocks_avx512.c: the scanners by blocks for AVX-512; see scan_blocks.h. */
#define SCAN_ROW(family) scan_##family##_avx512
#include "scan_blocks.h"
