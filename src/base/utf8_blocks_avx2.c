/* utf8_blocks_avx2.c: utf8_valid_prefix() by blocks for AVX2; see utf8_blocks.h. */
#define UTF8_ROW utf8_valid_prefix_avx2
#include "utf8_blocks.h"
