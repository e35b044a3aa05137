/* test_string_finder_tiny.c: test_string_finder.c with LEAT_TINY: strings of five bytes are long, and are looked for in
 * stretches of eight places. */
#include "test_string_finder.c"
