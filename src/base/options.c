/* options.c: reading a caller's older or newer struct. */
#include "options.h"

#include <stdbool.h>

#include "bytes.h"
#include "status.h"

/* Above any size that a struct will have: a larger one was never set. */
#define MAX_BYTES 4096

enum leat_status options_read(void *all, size_t size, const struct options_reserved *reserved, const void *given,
                              const char *what, struct leat_error *err)
{
    size_t theirs, both;
    bool known;

    if (!given)
        return LEAT_OK;
    memcpy(&theirs, given, sizeof theirs);
    if (theirs < sizeof theirs || theirs > MAX_BYTES)
        return status_argument(err, "size", "struct %s has no size: begin it with its _INIT macro", what);
    both = theirs < size ? theirs : size;
    memcpy((char *)all + sizeof theirs, (const char *)given + sizeof theirs, both - sizeof theirs);
    known = bytes_all_zero((const char *)given + both, theirs - both);
    for (; known && reserved && reserved->bytes > 0; reserved++)
        known = bytes_all_zero((const char *)all + reserved->at, reserved->bytes);
    if (!known)
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "struct %s has a field set that leat %s does not know: leave it 0, or use a newer library",
                          what, LEAT_VERSION);
    return LEAT_OK;
}
