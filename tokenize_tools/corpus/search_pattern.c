/*
 * search_pattern.c: expands a pattern of the shell's, as glob() does: * ? [ ] match within one name, a leading dot
 * is matched by a dot only, and \ takes the next character as it is.
 *
 * Why not glob()? It skips a folder that cannot be read, and ends one where reading it fails: on a file server that
 * fails for a while, there would be fewer inputs, and nothing would say so. Here such a failure is an error, and is
 * tried again as all of a search is. As in a shell, a name that does not exist, is no folder or is not permitted
 * matches nothing.
 */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/status.h"
#include "search.h"

struct expansion {
    struct search *search;
    struct search_names *to;
    struct buffer path; /* path that matches the pattern so far; a string */
};

static bool matches_nothing(int error)
{
    return error == ENOENT || error == ENOTDIR || error == EACCES || error == ELOOP || error == ENAMETOOLONG;
}

static enum leat_status keep_path(struct expansion *x, struct leat_error *err)
{
    struct search_names *to = x->to;
    enum leat_status s = GROW(to->items, to->count + 1, to->room, err);
    char *path = s == LEAT_OK ? strdup((char *)x->path.bytes) : NULL;

    if (!path)
        return s == LEAT_OK ? status_no_memory(err, x->path.size) : s;
    to->items[to->count++] = path;
    return LEAT_OK;
}

/* Appends to the path, after its first `at` bytes. */
static enum leat_status append_name(struct expansion *x, size_t at, const char *text, size_t bytes,
                                    struct leat_error *err)
{
    enum leat_status s;

    x->path.size = at;
    s = buffer_append(&x->path, text, bytes, err);
    if (s == LEAT_OK)
        s = buffer_append(&x->path, "", 1, err);
    x->path.size -= s == LEAT_OK;
    return s;
}

static enum leat_status expand(struct expansion *x, const char *rest, struct leat_error *err);

/* Keeps the path, at the end of the pattern, if it exists; after a slash, only if it is a folder. */
static enum leat_status keep_existing(struct expansion *x, struct leat_error *err)
{
    const char *path = (char *)x->path.bytes;
    struct stat st;

    if ((path[x->path.size - 1] == '/' ? stat(path, &st) : lstat(path, &st)) == 0)
        return keep_path(x, err);
    return matches_nothing(errno) ? LEAT_OK : status_set_os(err, errno, path, "cannot examine %s", path);
}

/* Expands the names in the path's folder that match the first name of the pattern, with the rest of the pattern. */
static enum leat_status expand_names(struct expansion *x, const char *name, const char *rest, struct leat_error *err)
{
    size_t at = x->path.size;
    char *folder = strdup(at > 0 ? (char *)x->path.bytes : "."); /* a copy, since the path changes */
    DIR *d = folder ? opendir(folder) : NULL;
    enum leat_status s = folder ? LEAT_OK : status_no_memory(err, at);
    const char *entry;

    if (folder && !d && !matches_nothing(errno))
        s = status_set_os(err, errno, folder, "cannot read the folder %s", folder);
    while (d && folder_next(d, folder, &entry, &s, err)) {
        s = search_check_stop(x->search, err);
        if (s != LEAT_OK || fnmatch(name, entry, FNM_PERIOD) != 0)
            continue;
        s = append_name(x, at, entry, strlen(entry), err);
        if (s == LEAT_OK)
            s = *rest ? expand(x, rest, err) : keep_path(x, err);
    }
    if (d)
        closedir(d);
    free(folder);
    return s;
}

/* Expands the pattern. `rest` is its part after the path. */
static enum leat_status expand(struct expansion *x, const char *rest, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK) {
        size_t slashes = strspn(rest, "/"), bytes = strcspn(rest + slashes, "/"), plain = 0;
        char *name = strndup(rest + slashes, bytes);
        bool matches = name && strpbrk(name, "*?[");

        s = name ? append_name(x, x->path.size, rest, slashes, err) : status_no_memory(err, bytes);
        rest += slashes + bytes;
        if (s == LEAT_OK && matches)
            s = expand_names(x, name, rest, err);
        for (size_t i = 0; s == LEAT_OK && !matches && i < bytes; i++) {
            i += name[i] == '\\' && i + 1 < bytes;
            name[plain++] = name[i];
        }
        if (s == LEAT_OK && !matches)
            s = append_name(x, x->path.size, name, plain, err);
        free(name);
        if (s != LEAT_OK || matches)
            return s;
        if (*rest == '\0')
            return keep_existing(x, err);
    }
    return s;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

enum leat_status search_expand(struct search *s, const char *pattern, struct search_names *to, struct leat_error *err)
{
    struct expansion x = { .search = s, .to = to };
    enum leat_status status;

    *to = (struct search_names) { 0 };
    status = expand(&x, pattern, err);
    buffer_free(&x.path);
    if (status != LEAT_OK)
        search_names_free(to);
    else if (to->count > 0)
        qsort(to->items, to->count, sizeof *to->items, by_bytes);
    return status;
}

void search_names_free(struct search_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
    *names = (struct search_names) { 0 };
}
