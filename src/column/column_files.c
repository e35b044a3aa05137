#include "column_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/grow.h"
#include "base/path.h"
#include "base/search.h"
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

static enum leat_status add_name(struct column_names *found, const char *name, size_t length, struct leat_error *err)
{
    enum leat_status s = GROW(found->names, found->count + 1, found->room, err);
    char *copy = s == LEAT_OK ? strndup(name, length) : NULL;

    if (s == LEAT_OK && !copy)
        s = status_no_memory(err, length);
    if (s == LEAT_OK)
        found->names[found->count++] = copy;
    return s;
}

/* Returns the length of the column's name if file[0..length) is BASE.COLUMN with this suffix; otherwise 0. */
static size_t name_length(const char *base, const char *file, size_t length, const char *suffix)
{
    size_t before = strlen(base) + 1, after = strlen(suffix);

    if (length <= before + after || strncmp(file, base, before - 1) != 0 || file[before - 1] != '.' ||
        strncmp(file + length - after, suffix, after) != 0 ||
        !column_name_is_valid(file + before, length - before - after))
        return 0;
    return length - before - after;
}

/* Keeps the name of the column if a file is the index of one. */
static enum leat_status keep_name(struct column_names *found, const char *base, const char *file,
                                  struct leat_error *err)
{
    size_t length = name_length(base, file, strlen(file), COLUMN_INDEX);

    return length > 0 ? add_name(found, file + strlen(base) + 1, length, err) : LEAT_OK;
}

/* Lists the files of a folder that begin with `start` and end in `suffix`. */
static enum leat_status list_files(struct column_names *files, const char *folder, const char *start,
                                   const char *suffix, struct leat_error *err)
{
    DIR *dir = opendir(folder);
    enum leat_status s = LEAT_OK;
    const char *file;

    if (!dir && errno != ENOENT && errno != ENOTDIR)
        s = status_set_os(err, errno, folder, "cannot list the folder %s", folder);
    while (dir && folder_next(dir, folder, &file, &s, err))
        if (strncmp(file, start, strlen(start)) == 0 && file_ends_with(file, strlen(file), suffix))
            s = add_name(files, file, strlen(file), err);
    if (dir)
        closedir(dir);
    if (s == LEAT_OK && files->count > 0)
        qsort(files->names, files->count, sizeof *files->names, compare_names);
    return s;
}

static const char *base_of(const char *name)
{
    const char *slash = strrchr(name, '/');

    return slash ? slash + 1 : name;
}

enum leat_status column_names_find(struct column_names *found, const char *name, struct leat_error *err)
{
    struct column_folder folder = { .path = NULL };
    enum leat_status s = column_folder_find(&folder, found, name, err);

    column_folder_free(&folder);
    return s;
}

struct wanted {
    const struct column_names *files;
    const char *base;
};

static bool sorts_before(const void *context, uint64_t file)
{
    const struct wanted *wanted = context;

    return strcmp(wanted->files->names[file], wanted->base) < 0;
}

enum leat_status column_folder_find(struct column_folder *f, struct column_names *found, const char *name,
                                    struct leat_error *err)
{
    const char *base = base_of(name);
    char *folder = file_folder(name);
    enum leat_status s = folder ? LEAT_OK : status_no_memory(err, strlen(name));
    const struct wanted wanted = { &f->files, base };

    *found = (struct column_names) { .count = 0 };
    if (folder && (!f->path || strcmp(folder, f->path) != 0)) {
        column_folder_free(f);
        s = list_files(&f->files, folder, "", COLUMN_INDEX, err);
        f->path = folder;
    } else
        free(folder);
    for (uint64_t i = search_first(0, f->files.count, sorts_before, &wanted);
         s == LEAT_OK && i < f->files.count && strncmp(f->files.names[i], base, strlen(base)) == 0; i++)
        s = keep_name(found, base, f->files.names[i], err);
    return s;
}

void column_folder_free(struct column_folder *f)
{
    column_names_free(&f->files);
    free(f->path);
    f->path = NULL;
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

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Returns the length of a file's name without what is behind it until the column is complete: .I-of-N of a part, and
 * .partial. */
static size_t length_complete(const char *file)
{
    size_t length = strlen(file), end, number;

    if (file_ends_with(file, length, COLUMN_PARTIAL))
        length -= strlen(COLUMN_PARTIAL);
    for (end = length; end > 0 && is_digit(file[end - 1]); end--)
        ;
    if (end == length || !file_ends_with(file, end, "-of-"))
        return length;
    number = end - strlen("-of-");
    for (end = number; end > 0 && is_digit(file[end - 1]); end--)
        ;
    return end < number && end > 0 && file[end - 1] == '.' ? end - 1 : length;
}

/* Removes the files of columns among `files`: the indexes, or all others. */
static enum leat_status remove_files(const struct column_names *files, const char *name, bool indexes,
                                     struct leat_error *err)
{
    size_t before = (size_t)(base_of(name) - name);
    enum leat_status s = LEAT_OK;
    bool removed = false;

    for (size_t i = 0; s == LEAT_OK && i < files->count; i++) {
        const char *file = files->names[i];
        size_t length = indexes ? strlen(file) : length_complete(file);
        char *path;

        if (name_length(base_of(name), file, length, COLUMN_INDEX) == 0 &&
            (indexes || name_length(base_of(name), file, length, COLUMN_VALUES) == 0))
            continue;
        path = path_append(name, before, file, NULL);
        s = path ? file_remove(path, err) : status_no_memory(err, strlen(name));
        removed = true;
        free(path);
    }
    return s == LEAT_OK && removed ? file_sync_folder(name, err) : s;
}

enum leat_status column_files_remove(const char *name, struct leat_error *err)
{
    struct column_names files = { .count = 0 };
    char *folder = file_folder(name);
    enum leat_status s =
        folder ? list_files(&files, folder, base_of(name), "", err) : status_no_memory(err, strlen(name));

    if (s == LEAT_OK)
        s = remove_files(&files, name, true, err);
    if (s == LEAT_OK)
        s = remove_files(&files, name, false, err);
    column_names_free(&files);
    free(folder);
    return s;
}
