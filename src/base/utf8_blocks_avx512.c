/* utf8_blocks_avx512.c: utf8_valid_prefix() by blocks for AVX-512; see utf8_blocks.h. */
#define UTF8_ROW utf8_valid_prefix_avx512
#include "utf8_blocks.h"
