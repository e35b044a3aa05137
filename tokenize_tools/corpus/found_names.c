/* found_names.c: see found_names.h. */
#include "found_names.h"

#include <string.h>

#include "base/file.h"
#include "base/status.h"

#define UUID_BYTES 36u

struct table {
    const char *name, *folder; /* which only such a table has */
    const char *cure;
};

static const struct table delta = { "a Delta Lake table", "_delta_log",
                                    "list the files of its current version, as DeltaTable(...).file_uris() of the "
                                    "package deltalake does" };
static const struct table hudi = { "a Hudi table", ".hoodie",
                                   "export its current rows, or list the files of its latest snapshot" };
static const struct table iceberg = { "an Iceberg table", NULL,
                                      "list the files of its current snapshot, as scan().plan_files() of the package "
                                      "pyiceberg does" };

enum found_name found_name(const char *name, enum leat_pack_format format)
{
    if (name[0] == '.')
        return NAME_HIDDEN;
    if (name[0] != '_' || format == LEAT_PACK_TEXT || name[strcspn(name, "/=")] == '=')
        return NAME_PLAIN;
    return NAME_MARKED;
}

bool found_name_is_note(const char *name)
{
    static const char *const whole[] = { "_SUCCESS", "_metadata", "_common_metadata" };
    static const char *const starts[] = { "_committed_", "_started_" };

    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strcmp(name, whole[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* Whether a name ends in `end`, where `around` may stand before or behind that; *bytes is then what comes before. */
static bool ends_in(const char *name, size_t *bytes, const char *end, const char *around)
{
    if (file_ends_with(name, *bytes, around))
        *bytes -= strlen(around);
    if (!file_ends_with(name, *bytes, end))
        return false;
    *bytes -= strlen(end);
    if (file_ends_with(name, *bytes, around))
        *bytes -= strlen(around);
    return true;
}

/* Whether a file is called like Iceberg's description of a table: metadata/v3.metadata.json, or metadata/, five digits,
 * -, a UUID and the same end. If it is compressed, .gz stands before that end or, of old, behind it. */
static bool describes_iceberg(const char *name, const char *path)
{
    static const char folder[] = "metadata/", end[] = ".metadata.json";
    size_t before = (size_t)(name - path), bytes = strlen(name), digits;

    if (before < strlen(folder) || strncmp(name - strlen(folder), folder, strlen(folder)) != 0 ||
        (before > strlen(folder) && name[-1 - (ptrdiff_t)strlen(folder)] != '/') || !ends_in(name, &bytes, end, ".gz"))
        return false;
    digits = strspn(name + (name[0] == 'v'), "0123456789");
    if (name[0] == 'v')
        return digits > 0 && digits + 1 == bytes;
    return digits >= 5 && name[digits] == '-' && bytes == digits + 1 + UUID_BYTES;
}

static enum leat_status refuse(const char *path, size_t bytes, const struct table *t, struct leat_error *err)
{
    while (bytes > 1 && path[bytes - 1] == '/')
        bytes--;
    if (bytes == 0)
        path = ".", bytes = 1;
    return status_set(
        err, LEAT_E_UNSUPPORTED,
        "the folder %.*s is %s, and some of its files may hold rows that were deleted or changed since; %s, "
        "and pack that list (@LIST)",
        (int)bytes, path, t->name, t->cure);
}

enum leat_status found_names_refuse_table(const char *path, size_t stem, struct leat_error *err)
{
    static const struct table *const tables[] = { &delta, &hudi };
    const char *name = path + stem;

    for (const char *slash; (slash = strchr(name, '/')); name = slash + 1)
        for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
            if ((size_t)(slash - name) == strlen(tables[i]->folder) &&
                strncmp(name, tables[i]->folder, strlen(tables[i]->folder)) == 0)
                return refuse(path, (size_t)(name - path), tables[i], err);
    if (describes_iceberg(name, path))
        return refuse(path, (size_t)(name - path) - strlen("metadata/"), &iceberg, err);
    return LEAT_OK;
}
