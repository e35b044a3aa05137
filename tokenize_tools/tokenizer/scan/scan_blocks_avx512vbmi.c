/* scan_blocks_avx512vbmi.c: the scanners by blocks for AVX-512 with VBMI and VBMI2; see scan_blocks.h. */
#define SCAN_ROW(family) scan_##family##_avx512vbmi
#include "scan_blocks.h"
