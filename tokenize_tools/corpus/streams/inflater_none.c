/* inflater_none.c: the table for a build with neither library. */
#if !defined(LEAT_HAVE_ZLIB) && !defined(LEAT_HAVE_ISAL)
#include "inflater.h"

const struct inflater_library inflater_library = { .name = NULL };

#else
typedef int inflater_none_is_not_built; /* a file has to hold something */
#endif
