/* own_outputs.c: compares files by device and inode, so that links do not hide them. */
#include "own_outputs.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/path.h"
#include "base/status.h"

/* Returns true if a file of the folder belongs to the dataset. All files of an unfinished dataset do. */
static bool belongs(const char *file, const char *base)
{
    static const char *const suffixes[] = { "tokens", "leat", "rejects.jsonl" };
    size_t length = strlen(base);

    if (strncmp(file, base, length) != 0 || file[length] != '.')
        return false;
    file += length + 1;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcmp(file, suffixes[i]) == 0)
            return true;
    return strncmp(file, "partial.", strlen("partial.")) == 0;
}

static enum leat_status add_output(struct own_outputs *own, const struct stat *st, const char *name,
                                   struct leat_error *err)
{
    struct own_output *items = reallocarray(own->items, own->count + 1, sizeof *items);
    char *copy = strdup(name);

    if (items)
        own->items = items;
    if (!items || !copy) {
        free(copy);
        return status_no_memory(err, (own->count + 1) * sizeof *items);
    }
    items[own->count++] = (struct own_output) { st->st_dev, st->st_ino, copy };
    return LEAT_OK;
}

static enum leat_status add_file(struct own_outputs *own, const char *folder, const char *name, struct leat_error *err)
{
    char *path = path_join(folder, name, NULL);
    enum leat_status s = LEAT_OK;
    struct stat st;

    if (!path)
        return status_no_memory(err, strlen(folder) + strlen(name));
    if (lstat(path, &st) != 0)
        s = errno == ENOENT ? LEAT_OK : status_set_os(err, errno, path, "cannot look at %s", path);
    else
        s = add_output(own, &st, name, err);
    if (s == LEAT_OK && S_ISLNK(st.st_mode) && stat(path, &st) == 0)
        s = add_output(own, &st, name, err);
    free(path);
    return s;
}

static enum leat_status add_files(struct own_outputs *own, const char *folder, const char *base, struct leat_error *err)
{
    DIR *d = opendir(folder);
    enum leat_status s = LEAT_OK;
    const char *name;

    if (!d && (errno == ENOENT || errno == ENOTDIR)) /* an error that the writer will report */
        return LEAT_OK;
    if (!d)
        return status_set_os(err, errno, folder, "cannot read the folder %s", folder);
    while (folder_next(d, folder, &name, &s, err))
        if (belongs(name, base))
            s = add_file(own, folder, name, err);
    closedir(d);
    return s;
}

enum leat_status own_outputs_add(struct own_outputs *own, const char *name, struct leat_error *err)
{
    const char *slash = strrchr(name, '/');
    char *folder = file_folder(name);
    enum leat_status s;

    if (!folder)
        return status_no_memory(err, strlen(name));
    s = add_files(own, folder, slash ? slash + 1 : name, err);
    free(folder);
    return s;
}

void own_outputs_free(struct own_outputs *own)
{
    for (size_t i = 0; i < own->count; i++)
        free(own->items[i].name);
    free(own->items);
    *own = (struct own_outputs) { 0 };
}

const struct own_output *own_outputs_find(const struct own_outputs *own, const struct stat *st)
{
    for (size_t i = 0; i < own->count; i++)
        if (own->items[i].device == st->st_dev && own->items[i].inode == st->st_ino)
            return &own->items[i];
    return NULL;
}
