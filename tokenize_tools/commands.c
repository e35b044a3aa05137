/* commands.c: what several commands need; see commands.h. */
#include "commands.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/status.h"
#include "cli/units.h"

char *commands_string(commands_string_call *call, const struct leat_dataset *d, uint64_t number, uint64_t *bytes,
                      struct leat_error *err)
{
    uint64_t length;
    char *text;

    if (call(d, number, NULL, 0, &length, err) != LEAT_OK)
        return NULL;
    text = length < SIZE_MAX ? malloc((size_t)length + 1) : NULL;
    if (!text) {
        status_no_memory(err, length);
        return NULL;
    }
    if (call(d, number, text, (size_t)length + 1, bytes, err) != LEAT_OK) {
        free(text);
        return NULL;
    }
    return text;
}

bool commands_created(uint64_t *created)
{
    const char *text = getenv("SOURCE_DATE_EPOCH");
    const char *why;

    *created = 0;
    if (!text || !text[0] || units_parse(text, false, created, &why))
        return true;
    cli_error("the environment variable SOURCE_DATE_EPOCH must hold seconds since 1970, and not \"%.100s\"", text);
    return false;
}

void commands_print_safe(const char *text, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)text[i];

        putchar(c < 0x20 || c == 0x7f ? '?' : c);
    }
}
