#include "column_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/grow.h"
#include "base/path.h"
#include "base/status.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

bool column_name_is_valid(const char *name, size_t length)
{
    bool valid = length >= 1 && length <= LEAT_COLUMN_MAX_NAME && name[0] != '-';

    for (size_t i = 0; valid && i < length; i++)
        valid = is_letter(name[i]);
    return valid && !(length == 7 && memcmp(name, "partial", 7) == 0); /* NAME.partial.* are files of a writer */
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Keeps the name of the column if a file is BASE.COLUMN with this suffix. */
static enum leat_status keep_name(struct column_names *found, const char *base, const char *file, const char *suffix,
                                  struct leat_error *err)
{
    size_t before = strlen(base) + 1, length = strlen(file), after = strlen(suffix);
    enum leat_status s;
    char *name;

    if (length <= before + after || strncmp(file, base, before - 1) != 0 || file[before - 1] != '.' ||
        strcmp(file + length - after, suffix) != 0 || !column_name_is_valid(file + before, length - before - after))
        return LEAT_OK;
    s = GROW(found->names, found->count + 1, found->room, err);
    name = s == LEAT_OK ? strndup(file + before, length - before - after) : NULL;
    if (s == LEAT_OK && !name)
        s = status_no_memory(err, length);
    if (s == LEAT_OK)
        found->names[found->count++] = name;
    return s;
}

static enum leat_status find_with(struct column_names *found, const char *name, const char *suffix, bool *any,
                                  struct leat_error *err)
{
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    char *folder = file_folder(name);
    DIR *dir = folder ? opendir(folder) : NULL;
    enum leat_status s = LEAT_OK;
    const char *file;

    if (!folder)
        return status_no_memory(err, strlen(name));
    if (!dir && errno != ENOENT && errno != ENOTDIR)
        s = status_set_os(err, errno, folder, "cannot list the folder %s", folder);
    while (dir && folder_next(dir, folder, &file, &s, err)) {
        *any = *any || file_ends_with(file, strlen(file), suffix);
        s = keep_name(found, base, file, suffix, err);
    }
    if (dir)
        closedir(dir);
    free(folder);
    return s;
}

enum leat_status column_names_find(struct column_names *found, const char *name, bool *any, struct leat_error *err)
{
    enum leat_status s;
    bool some = false;

    *found = (struct column_names) { .count = 0 };
    s = find_with(found, name, COLUMN_INDEX, &some, err);
    if (any)
        *any = some;
    if (s == LEAT_OK && found->count > 0)
        qsort(found->names, found->count, sizeof *found->names, compare_names);
    return s;
}

void column_names_free(struct column_names *found)
{
    for (size_t i = 0; i < found->count; i++)
        free(found->names[i]);
    free(found->names);
    *found = (struct column_names) { .count = 0 };
}

enum leat_status column_names_refuse(const struct column_names *found, const char *dataset, const char *what,
                                     struct leat_error *err)
{
    if (found->count == 0)
        return LEAT_OK;
    return status_set_in(err, LEAT_E_UNSUPPORTED, dataset,
                         "%.300s has columns (%s%s), which %s would leave out: to go on without them, move "
                         "%.300s.*.column and %.300s.*.column-index away first",
                         dataset, found->names[0], found->count > 1 ? ", ..." : "", what, dataset, dataset);
}

static enum leat_status remove_with(const char *name, const char *suffix, bool *removed, struct leat_error *err)
{
    struct column_names found = { .count = 0 };
    bool any = false;
    enum leat_status s = find_with(&found, name, suffix, &any, err);

    for (size_t i = 0; s == LEAT_OK && i < found.count; i++) {
        char *path = path_append(name, strlen(name), ".", found.names[i], suffix, NULL);

        s = path ? file_remove(path, err) : status_no_memory(err, strlen(name));
        *removed = true;
        free(path);
    }
    column_names_free(&found);
    return s;
}

enum leat_status column_files_remove(const char *name, struct leat_error *err)
{
    static const char *const suffixes[] = { COLUMN_INDEX, COLUMN_VALUES, COLUMN_INDEX COLUMN_PARTIAL,
                                            COLUMN_VALUES COLUMN_PARTIAL };
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < sizeof suffixes / sizeof suffixes[0]; i++) {
        bool removed = false;

        s = remove_with(name, suffixes[i], &removed, err);
        if (s == LEAT_OK && removed)
            s = file_sync_folder(name, err);
    }
    return s;
}
