/* scan_blocks_avx2.c: the scanners by blocks for AVX2; see scan_blocks.h. */
#define SCAN_ROW(family) scan_##family##_avx2
#include "scan_blocks.h"
