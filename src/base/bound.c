/* bound.c: see bound.h. */
#include "bound.h"

#include "status.h"

enum leat_status bound_refuse(const struct bound *b, uint64_t bytes, struct leat_error *err)
{
    return status_set(err, LEAT_E_PRETOKEN,
                      "a stretch of at least %" PRIu64
                      " bytes cannot be cut, and needs more memory than the limit of %" PRIu64 " KiB",
                      bytes, b->max >> 10);
}
