/* scan_blocks_words.c: the scanners by blocks for every machine; see scan_blocks.h. */
#define BYTES64_BY_WORDS 1
#define SCAN_ROW(family) scan_##family##_words
#include "scan_blocks.h"
