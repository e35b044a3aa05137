/* options.c: reading a caller's older or newer struct. */
#include "options.h"

#include <stdbool.h>

#include "bytes.h"
#include "status.h"

/* larger than any struct will be: such a size was never set */
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

enum leat_status options_check(const struct field *fields, size_t count, const void *options, struct leat_error *err)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t value = 0, words = 0;

        if (fields[i].kind != FIELD_CHOICE)
            continue;
        while (fields[i].choices[words])
            words++;
        memcpy(&value, (const char *)options + fields[i].offset, sizeof value);
        if (value >= words)
            return status_argument(err, fields[i].name, "unknown value %d for %s", (int)value, fields[i].name);
    }
    return LEAT_OK;
}

void options_forget(const struct field *fields, size_t count, void *options)
{
    for (size_t i = 0; i < count; i++)
        if (fields[i].kind == FIELD_TEXT || fields[i].kind == FIELD_DOUBLES)
            memset((char *)options + fields[i].offset, 0, fields[i].bytes);
}
