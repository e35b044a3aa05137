/* cache_options.c: see cache_options.h. */
#include "cache_options.h"

#include <inttypes.h>
#include <stdlib.h>

#include "units.h"

static bool set(const char *variable, const char *value, const char **why)
{
    if (setenv(variable, value, 1) == 0)
        return true;
    *why = "is too long for the memory there is";
    return false;
}

bool cache_options_folder(void *unused, const char *text, const char **why)
{
    (void)unused;
    if (*text)
        return set("LEAT_CACHE", text, why);
    *why = "is not the name of a folder";
    return false;
}

bool cache_options_online(void *unused, const char *none, const char **why)
{
    (void)unused;
    (void)none;
    return set("LEAT_ONLINE", "1", why);
}

bool cache_options_retry(void *unused, const char *text, const char **why)
{
    char digits[24];
    uint64_t seconds;

    (void)unused;
    if (!units_parse(text, false, &seconds, why))
        return false;
    snprintf(digits, sizeof digits, "%" PRIu64, seconds);
    return set("LEAT_RETRY_SECONDS", digits, why);
}

bool cache_options_size(void *unused, const char *text, const char **why)
{
    char digits[24];
    uint64_t bytes;

    (void)unused;
    if (!units_parse(text, true, &bytes, why))
        return false;
    if (bytes == 0) {
        *why = "is too small: leave the option out for no limit";
        return false;
    }
    snprintf(digits, sizeof digits, "%" PRIu64, bytes);
    return set("LEAT_CACHE_SIZE", digits, why);
}
