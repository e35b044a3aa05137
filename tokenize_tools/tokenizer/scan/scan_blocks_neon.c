/* scan_blocks_neon.c: the scanners by blocks for NEON, which every aarch64 has; see scan_blocks.h. */
#include "scan_ascii.h"

#if BYTES64_HAVE_NEON
#define SCAN_ROW(family) scan_##family##_neon
#include "scan_blocks.h"
#endif
