/* bound.c: see bound.h. */
#include "bound.h"

#include "status.h"

enum leat_status bound_refuse(const struct bound *b, uint64_t bytes, struct leat_error *err)
{
    return status_set(
        err, LEAT_E_PRETOKEN,
        "a stretch of at least %llu bytes cannot be cut, and needs more memory than the limit of %llu KiB",
        (unsigned long long)bytes, (unsigned long long)(b->max >> 10));
}
