/* test_made_models_tiny.c: test_made_models.c with LEAT_TINY: caches of some lines, parts that are found five at a
 * time, and a cache that grows after 64 bytes. */
#include "test_made_models.c"
