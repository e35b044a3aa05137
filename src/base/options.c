/* options.c: reading a caller's older or newer struct. */
#include "options.h"

#include "bytes.h"
#include "status.h"

/* Above any size that a struct will have: a larger one was never set. */
#define MAX_BYTES 4096

static enum leat_status say_unknown(const char *what, struct leat_error *err)
{
    return status_set(err, LEAT_E_UNSUPPORTED,
                      "struct %s has a field set that leat %s does not know: leave it 0, or use a newer library", what,
                      LEAT_VERSION);
}

enum leat_status options_check_reserved(uint32_t reserved, const char *what, struct leat_error *err)
{
    return reserved == 0 ? LEAT_OK : say_unknown(what, err);
}

enum leat_status options_read(void *all, size_t size, const uint32_t *reserved, const void *given, const char *what,
                              struct leat_error *err)
{
    size_t theirs, both;

    if (!given)
        return LEAT_OK;
    memcpy(&theirs, given, sizeof theirs);
    if (theirs < sizeof theirs || theirs > MAX_BYTES)
        return status_argument(err, "size", "struct %s has no size: begin it with its _INIT macro", what);
    both = theirs < size ? theirs : size;
    memcpy((char *)all + sizeof theirs, (const char *)given + sizeof theirs, both - sizeof theirs);
    if ((reserved && *reserved != 0) || !bytes_all_zero((const char *)given + both, theirs - both))
        return say_unknown(what, err);
    return LEAT_OK;
}
