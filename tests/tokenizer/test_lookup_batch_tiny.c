/* test_lookup_batch_tiny.c: test_lookup_batch.c with LEAT_TINY: shared caches of some lines, which grow and are full at
 * once, and own ones from which entries are pushed out. */
#define TINY true
#include "test_lookup_batch.c"
