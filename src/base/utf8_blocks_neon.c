/* utf8_blocks_neon.c: utf8_valid_prefix() by blocks for NEON; see utf8_blocks.h. */
#include "bytes64.h"

#if BYTES64_HAVE_NEON
#define UTF8_ROW utf8_valid_prefix_neon
#include "utf8_blocks.h"
#endif
