/* cuda_extra.c: see cuda_extra.h. */
#include "cuda_extra.h"

#include <string.h>

const char *cuda_extra_find(const struct cuda_driver *d, struct cuda_extra *extra)
{
    void *function;

#define CUDA_EXTRA_FIND(member, symbol, since, parameters)                                                             \
    function = cuda_driver_entry(d, #symbol, since);                                                                   \
    if (!function)                                                                                                     \
        return #symbol;                                                                                                \
    memcpy(&extra->member, &function, sizeof function);
    CUDA_EXTRA_ENTRIES(CUDA_EXTRA_FIND)
#undef CUDA_EXTRA_FIND
    return NULL;
}
