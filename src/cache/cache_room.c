/*
 * cache_room.c: how much the cache may take (LEAT_CACHE_SIZE). Before a dataset is copied whole, those that nobody has
 * open are removed, the one that was opened longest ago first, until it fits; if it does not, it is not copied.
 *
 * Who removes a dataset holds the lock of its file in-use, alone, and removes that file last: a process that opens the
 * dataset meanwhile waits for nothing, but finds that its lock is that of a file without a name, and begins anew
 * (cache_lock()).
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "cache_inside.h"

#define LEFT_SHARE 20u /* of the disk: so much (a 20th) stays free */

/* What one dataset of the cache takes. */
struct kept {
    char *folder;
    uint64_t bytes;
    time_t opened;
};

static char *join(const char *folder, const char *name)
{
    size_t length = strlen(folder) + 1 + strlen(name) + 1;
    char *path = malloc(length);

    if (path)
        snprintf(path, length, "%s/%s", folder, name);
    return path;
}

/* Whether a name in the cache is a dataset's folder: IDENTITY-HASH. */
static bool is_dataset(const char *name)
{
    return strlen(name) == 49 && strspn(name, "0123456789abcdef") == 32 && name[32] == '-' &&
           strspn(name + 33, "0123456789abcdef") == 16;
}

/* What the files in a folder take, holes not counted. False: it is no dataset of the cache. */
static bool measure(const char *folder, struct kept *kept)
{
    bool found = false;

    for (int i = 0; i < PATHS; i++) {
        char *path = join(folder, cache_file_names[i]);
        struct stat st;

        if (path && lstat(path, &st) == 0 && S_ISREG(st.st_mode)) {
            kept->bytes += (uint64_t)st.st_blocks * 512;
            if (i == PATH_IN_USE)
                kept->opened = st.st_mtime;
            found = true;
        }
        free(path);
    }
    return found;
}

static int compare_opened(const void *a, const void *b)
{
    time_t x = ((const struct kept *)a)->opened, y = ((const struct kept *)b)->opened;

    return x < y ? -1 : x > y;
}

/* The other datasets of the cache, the one opened longest ago first. */
static uint64_t list(const struct cache *c, struct kept **all)
{
    uint64_t count = 0, room = 0;
    DIR *dir = opendir(c->root);
    struct dirent *entry;

    *all = NULL;
    while (dir && (entry = readdir(dir))) {
        struct kept kept = { .bytes = 0 }, *more;

        if (!is_dataset(entry->d_name) || !(kept.folder = join(c->root, entry->d_name)))
            continue;
        if (strcmp(kept.folder, c->folder) == 0 || !measure(kept.folder, &kept)) {
            free(kept.folder);
            continue;
        }
        if (count == room) {
            room = room ? 2 * room : 16;
            more = realloc(*all, room * sizeof *more);
            if (!more) {
                free(kept.folder);
                break;
            }
            *all = more;
        }
        (*all)[count++] = kept;
    }
    if (dir)
        closedir(dir);
    if (count > 1)
        qsort(*all, count, sizeof **all, compare_opened);
    return count;
}

/* False: some process has it open. */
static bool remove_dataset(const char *folder)
{
    char *in_use = join(folder, cache_file_names[PATH_IN_USE]);
    struct leat_error unsaid;
    bool done = false;
    int lock = -1;

    if (in_use && cache_lock(&lock, in_use, false, &unsaid) == LEAT_OK) {
        for (int i = 0; i < PATHS; i++) {
            char *path = i == PATH_IN_USE ? NULL : join(folder, cache_file_names[i]);

            if (path)
                file_remove(path, NULL);
            free(path);
        }
        file_remove(in_use, NULL);
        (void)rmdir(folder);
        done = true;
    }
    cache_unlock(&lock);
    free(in_use);
    return done;
}

static bool disk_has_room(const struct cache *c, uint64_t missing)
{
    struct statvfs fs;

    return statvfs(c->folder, &fs) == 0 &&
           (uint64_t)fs.f_bavail * fs.f_frsize > missing + (uint64_t)fs.f_blocks * fs.f_frsize / LEFT_SHARE;
}

bool cache_make_room(const struct cache *c)
{
    uint64_t all = c->index.size + c->header.token_file_bytes, taken = 0, count;
    struct kept *others, own = { .bytes = 0 };

    if (c->limit > 0 && all > c->limit)
        return false;
    count = list(c, &others);
    for (uint64_t i = 0; i < count; i++)
        taken += others[i].bytes;
    for (uint64_t i = 0; i < count; i++) {
        if (c->limit > 0 && taken > c->limit - all && remove_dataset(others[i].folder))
            taken -= others[i].bytes;
        free(others[i].folder);
    }
    free(others);
    measure(c->folder, &own);
    return (c->limit == 0 || taken <= c->limit - all) && disk_has_room(c, all > own.bytes ? all - own.bytes : 0);
}
