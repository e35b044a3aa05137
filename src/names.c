/*
 * names.c: the public functions that belong to no subject: the names of statuses, the version, texts for people. Not
 * in src/base/, which libleat_pack has a hidden copy of: there is one of each of these, libleat's.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leat.h"

#include "base/show.h"

uint64_t leat_show(char *out, uint64_t capacity, const char *text, uint64_t bytes)
{
    return show_text(out, (size_t)capacity, text, (size_t)bytes);
}

uint64_t leat_show_name(char *out, uint64_t capacity, const char *name, uint64_t bytes)
{
    char *copy = strndup(name, (size_t)bytes);
    int length;

    if (copy)
        show_hide(copy, false);
    length = snprintf(out, (size_t)capacity, "%s", copy ? copy : "");
    free(copy);
    return (uint64_t)length;
}

const char *leat_status_name(enum leat_status status)
{
    static const struct {
        enum leat_status status;
        const char *name;
    } names[] = {
        { LEAT_OK, "ok" },
        { LEAT_E_ARGUMENT, "argument" },
        { LEAT_E_NO_MEMORY, "no-memory" },
        { LEAT_E_RANGE, "range" },
        { LEAT_E_NOT_MAPPED, "not-mapped" },
        { LEAT_E_UNSUPPORTED, "unsupported" },
        { LEAT_E_NOT_FOUND, "not-found" },
        { LEAT_E_IO, "io" },
        { LEAT_E_NO_FILE, "no-file" },
        { LEAT_E_EXISTS, "exists" },
        { LEAT_E_NO_SPACE, "no-space" },
        { LEAT_E_PERMISSION, "permission" },
        { LEAT_E_BUSY, "busy" },
        { LEAT_E_DEVICE, "device" },
        { LEAT_E_NOT_LEAT, "not-leat" },
        { LEAT_E_VERSION, "version" },
        { LEAT_E_FEATURE, "feature" },
        { LEAT_E_TRUNCATED, "truncated" },
        { LEAT_E_CHECKSUM, "checksum" },
        { LEAT_E_HEADER, "header" },
        { LEAT_E_SECTION, "section" },
        { LEAT_E_DOCUMENTS, "documents" },
        { LEAT_E_RECORD, "record" },
        { LEAT_E_TOKEN, "token" },
        { LEAT_E_MISMATCH, "mismatch" },
        { LEAT_E_INCOMPATIBLE, "incompatible" },
        { LEAT_E_CHECKPOINT, "checkpoint" },
        { LEAT_E_STATE, "state" },
        { LEAT_E_END, "end" },
        { LEAT_E_AGAIN, "again" },
        { LEAT_E_STOPPED, "stopped" },
        { LEAT_E_FORKED, "forked" },
        { LEAT_E_VOCABULARY, "vocabulary" },
        { LEAT_E_TEXT, "text" },
        { LEAT_E_PRETOKEN, "pretoken" },
        { LEAT_E_REJECTS, "rejects" },
        { LEAT_E_EMPTY, "empty" },
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].status == status)
            return names[i].name;
    return "unknown";
}

uint32_t leat_version_number(void)
{
    return LEAT_VERSION_NUMBER;
}

const char *leat_version(void)
{
    return LEAT_VERSION;
}
