/*
 * cache_room.c: how much the cache may take (LEAT_CACHE_SIZE). Before a dataset is copied whole, those that nobody has
 * open are removed, the one that was opened longest ago first, until it fits; if it does not fit even then, none is
 * removed, and it is not copied. What exact reads bring counts as well: a process measures the cache from time to time
 * and allows itself a part of what is left. If nothing is left, parts of datasets go (cache_evict.c); if all of these
 * are being read, pages that are needed come nevertheless, and go next.
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
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/own_file.h"
#include "base/path.h"
#include "base/status.h"
#include "cache_inside.h"

#define LEFT_SHARE    20u /* of the disk: so much (a 20th) stays free */
#define ALLOWED_SHARE 8u  /* of what the limit leaves: so much is written before the next look */
#define MAX_ALLOWED   ((uint64_t)64 << 20)
#define BEYOND        TINY_OR((uint64_t)65536, (uint64_t)1 << 20) /* the limit: then comes the next look */
#define TURN_NS       ((uint64_t)10000000000)                     /* removing takes a moment */

/* What one dataset of the cache takes. */
struct kept {
    char *folder;
    uint64_t bytes;
    time_t opened;
    bool goes; /* to be removed */
};

bool cache_is_dataset(const char *name)
{
    return strlen(name) == 49 && strspn(name, "0123456789abcdef") == 32 && name[32] == '-' &&
           strspn(name + 33, "0123456789abcdef") == 16;
}

/* What the files in a folder take, holes not counted. False: it is no dataset of the cache. */
static bool measure(const char *folder, struct kept *kept)
{
    bool found = false;

    for (int i = 0; i < PATHS; i++) {
        char *path = path_join(folder, cache_file_names[i], NULL);
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
    uint64_t count = 0;
    size_t room = 0;
    DIR *dir = opendir(c->root);
    struct dirent *entry;

    *all = NULL;
    while (dir && (entry = readdir(dir))) {
        struct kept kept = { .bytes = 0 };

        if (!cache_is_dataset(entry->d_name) || !(kept.folder = path_join(c->root, entry->d_name, NULL)))
            continue;
        if (strcmp(kept.folder, c->folder) == 0 || !measure(kept.folder, &kept)) {
            free(kept.folder);
            continue;
        }
        if (GROW(*all, count + 1, room, NULL) != LEAT_OK) {
            free(kept.folder);
            break;
        }
        (*all)[count++] = kept;
    }
    if (dir)
        closedir(dir);
    if (count > 1)
        qsort(*all, count, sizeof **all, compare_opened);
    return count;
}

/* Whether no process has it open. */
static bool is_idle(const char *folder)
{
    char *in_use = path_join(folder, cache_file_names[PATH_IN_USE], NULL);
    struct leat_error unsaid;
    int lock = -1;
    bool idle = in_use && cache_lock(&lock, in_use, false, &unsaid) == LEAT_OK;

    own_file_unlock(&lock);
    free(in_use);
    return idle;
}

/* False: some process has it open. */
static bool remove_dataset(const char *folder)
{
    char *in_use = path_join(folder, cache_file_names[PATH_IN_USE], NULL);
    struct leat_error unsaid;
    bool done = false;
    int lock = -1;

    if (in_use && cache_lock(&lock, in_use, false, &unsaid) == LEAT_OK) {
        for (int i = 0; i < PATHS; i++) {
            char *path = i == PATH_IN_USE ? NULL : path_join(folder, cache_file_names[i], NULL);

            if (path)
                file_remove(path, NULL);
            free(path);
        }
        file_remove(in_use, NULL);
        (void)rmdir(folder);
        done = true;
    }
    own_file_unlock(&lock);
    free(in_use);
    return done;
}

/* Of the disk, beyond what stays free. */
static uint64_t free_bytes(const struct cache *c)
{
    struct statvfs fs;
    uint64_t left, kept;

    if (statvfs(c->folder, &fs) != 0)
        return 0;
    left = (uint64_t)fs.f_bavail * fs.f_frsize;
    kept = (uint64_t)fs.f_blocks * fs.f_frsize / LEFT_SHARE;
    return left > kept ? left - kept : 0;
}

/* Chooses what has to go so that `more` bytes fit beside `taken`, which counts all of the cache. Only what is open
 * stays. `left`: what the disk has. False: that does not suffice. */
static bool choose(const struct cache *c, struct kept *others, uint64_t count, uint64_t taken, uint64_t more,
                   uint64_t left)
{
    uint64_t limit = c->limit, freed = 0;

    if (limit == 0) /* nothing is removed unasked */
        return left >= more;
    if (more > limit)
        return false;
    for (uint64_t i = 0; i < count && (taken - freed > limit - more || left < more); i++) {
        others[i].goes = is_idle(others[i].folder);
        if (others[i].goes) {
            freed += others[i].bytes;
            left = left < UINT64_MAX - others[i].bytes ? left + others[i].bytes : UINT64_MAX;
        }
    }
    return taken - freed <= limit - more && left >= more;
}

/* Waits for others who make room: what they are about to remove would look as if somebody had it open. -1: they took
 * too long, or there is no such file. */
static int wait_for_turn(const struct cache *c)
{
    char *path = c->limit > 0 ? path_join(c->root, "room", NULL) : NULL;
    const uint64_t began = clock_ns();
    struct leat_error unsaid;
    int lock = -1;

    while (path && cache_lock(&lock, path, false, &unsaid) == LEAT_E_BUSY && clock_ns() - began < TURN_NS &&
           !atomic_load(&c->stop))
        (void)nanosleep(&(struct timespec) { 0, 10000000 }, NULL);
    free(path);
    return lock;
}

/* Makes room for `more` bytes, or changes nothing; *taken: what the cache takes now. */
static bool make_room(const struct cache *c, uint64_t more, uint64_t left, uint64_t *taken)
{
    struct kept *others, own = { .bytes = 0 };
    int turn = wait_for_turn(c);
    uint64_t count = list(c, &others);
    bool fits;

    measure(c->folder, &own);
    *taken = own.bytes;
    for (uint64_t i = 0; i < count; i++)
        *taken += others[i].bytes;
    /* who is closed needs none, and may have no turn */
    fits = !atomic_load(&c->stop) && choose(c, others, count, *taken, more, left);
    for (uint64_t i = 0; i < count; i++) {
        if (fits && others[i].goes) {
            fits = remove_dataset(others[i].folder); /* false: somebody has opened it meanwhile */
            *taken -= fits ? others[i].bytes : 0;
        }
        free(others[i].folder);
    }
    free(others);
    own_file_unlock(&turn);
    return fits;
}

enum leat_status cache_make_room(const struct cache *c, struct leat_error *err)
{
    uint64_t all = c->index.size + c->header.token_file_bytes, taken;
    struct kept own = { .bytes = 0 };

    measure(c->folder, &own);
    if (make_room(c, all > own.bytes ? all - own.bytes : 0, free_bytes(c), &taken))
        return LEAT_OK;
    return status_set(
        err, LEAT_E_NO_SPACE,
        "the cache has no room for all of %s (%s, and %s are taken): give it a larger disk (LEAT_CACHE) or a "
        "larger limit (LEAT_CACHE_SIZE)",
        c->name, cache_size(all).text, cache_size(taken).text);
}

/* What is written before the next look: a share of `left`. */
static uint64_t next_share(uint64_t left, uint64_t bytes)
{
    uint64_t share = left / ALLOWED_SHARE < MAX_ALLOWED ? left / ALLOWED_SHARE : MAX_ALLOWED;

    return share > bytes ? share : bytes;
}

enum leat_status cache_may_write(struct cache *c, uint64_t bytes, struct leat_error *err)
{
    uint64_t taken, freed, over;
    enum leat_status s;

    if (c->limit == 0)
        return LEAT_OK;
    if (c->allowed < bytes) {
        if (!make_room(c, bytes, UINT64_MAX, &taken)) {
            over = taken > c->limit ? taken - c->limit : 0;
            s = cache_evict(c, over + next_share(c->limit, bytes), &freed, err);
            if (s != LEAT_OK)
                return status_before(err, s, "the cache of remote datasets cannot stay within its limit");
            taken -= freed < taken ? freed : taken;
            if (taken > c->limit)
                atomic_store(&c->in_use, taken);
        }
        /* Nothing more can be evicted, but pages are still needed. Looking through all datasets before each page took
         * 20 times the CPU time of everything else. */
        if (taken > c->limit)
            c->allowed = bytes > BEYOND ? bytes : BEYOND;
        else
            c->allowed = next_share(c->limit - taken, bytes);
    }
    c->allowed -= bytes;
    return LEAT_OK;
}
