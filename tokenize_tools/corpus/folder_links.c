/* folder_links.c: see folder_links.h. Real paths are compared, without any link in them. */
#include "folder_links.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

static enum leat_status real_path(char **real, const char *path, struct leat_error *err)
{
    *real = realpath(path, NULL);
    if (*real)
        return LEAT_OK;
    return errno == ENOMEM ? status_no_memory(err, strlen(path))
                           : status_set_os(err, errno, "cannot find what %s leads to", path);
}

/* Whether `path` is folder[0..length), or lies in it. */
static bool is_in(const char *path, const char *folder, size_t length)
{
    if (length == 1) /* "/" */
        return true;
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* Whether folder[0..length) is called as the hub's client calls a repository in its cache. */
static bool is_repository(const char *folder, size_t length)
{
    static const char *const kinds[] = { "datasets--", "models--", "spaces--" };
    size_t at = length;

    while (at > 0 && folder[at - 1] != '/')
        at--;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (length - at > strlen(kinds[i]) && memcmp(folder + at, kinds[i], strlen(kinds[i])) == 0)
            return true;
    return false;
}

/* REPOSITORY/snapshots/REVISION has links to REPOSITORY/blobs. */
static bool is_blob_of(const char *path, const char *folder)
{
    static const char snapshots[] = "/snapshots", blobs[] = "/blobs/";

    for (const char *at = folder; (at = strstr(at, snapshots)) != NULL; at++) {
        size_t length = (size_t)(at - folder);
        char after = at[strlen(snapshots)];

        if ((after == '/' || after == '\0') && is_repository(folder, length) && strncmp(path, folder, length) == 0 &&
            strncmp(path + length, blobs, strlen(blobs)) == 0)
            return true;
    }
    return false;
}

enum leat_status folder_links_leaves(struct folder_links *links, const char *path, bool *leaves, struct leat_error *err)
{
    enum leat_status s = links->real ? LEAT_OK : real_path(&links->real, links->folder, err);
    char *real;

    *leaves = true;
    if (s == LEAT_OK)
        s = real_path(&real, path, err);
    if (s != LEAT_OK)
        return s;
    *leaves = !is_in(real, links->real, strlen(links->real)) && !is_blob_of(real, links->real);
    free(real);
    return LEAT_OK;
}

void folder_links_free(struct folder_links *links)
{
    free(links->real);
    links->real = NULL;
}
