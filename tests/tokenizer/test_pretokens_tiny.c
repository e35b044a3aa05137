/* test_pretokens_tiny.c: test_pretokens.c with LEAT_TINY: caches of some lines, so that entries are pushed out, the
 * ring goes round, and keys share a line all the time. */
#include "test_pretokens.c"
