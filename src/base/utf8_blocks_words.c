/* utf8_blocks_words.c: utf8_valid_prefix() by blocks for every machine; see utf8_blocks.h. */
#define BYTES64_BY_WORDS 1
#define UTF8_ROW         utf8_valid_prefix_words
#include "utf8_blocks.h"
