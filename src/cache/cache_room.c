/*
 * cache_room.c: how much the cache may take (LEAT_CACHE_SIZE). Before a dataset is copied whole, those that nobody has
 * open are removed, the one that was opened longest ago first, until it fits; if it does not fit even then, none is
 * removed, and it is not copied. What exact reads bring counts as well: a process measures the cache from time to time
 * and allows itself a part of what is left. If nothing is left, parts of datasets go; if all of these
 * are being read, pages that are needed come nevertheless, and go next.
 *
 * Who removes a dataset holds the lock of its file in-use, alone, and removes that file last: a process that opens the
 * dataset meanwhile waits for nothing, but finds that its lock is that of a file without a name, and begins anew
 * (cache_lock()).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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

/* ---- Parts of datasets ------------------------------------------------------------------------------------------- */

/*
 * Makes room within datasets that are open: the regions (cache_pages.c) that were used longest ago, of
 * all datasets of the cache that are not complete, whoever has them open. What a loader has announced is held until it
 * has read it, so what is needed next stays; what it has read is needed again in the next epoch, if ever, and of that
 * the oldest goes first.
 *
 * With the write lock on a region: its number of evictions changes, so that no process trusts what it knew of it; the
 * map says that nothing is there; then its blocks are freed. A process that is killed in between leaves what the next
 * one evicts again; after a crash of the machine, the map may promise pages that are gone, and their hashes show it.
 *
 * A region of a complete file is never freed: the process that fills a file holds all of it until it has its last name.
 */

#define OLDEST  1024u /* oldest regions that one eviction looks at */
#define AT_ONCE 512u  /* records that are read together */
#define PASSES  (MOST_REGIONS / OLDEST)

struct candidate {
    uint32_t dataset, age;
    uint64_t region;
};

struct eviction {
    char **folders;
    size_t room;
    uint32_t count, now;
    struct candidate all[2 * OLDEST];
    unsigned candidates;
    bool more; /* there are more regions, younger ones */
};

/* The open files of a dataset that is not complete. */
struct partial {
    char *tokens_path, *map_path;
    int tokens_fd, map_fd;
    struct cache_regions regions;
    uint64_t pages;
};

static int compare_ages(const void *a, const void *b)
{
    uint32_t x = ((const struct candidate *)a)->age, y = ((const struct candidate *)b)->age;

    return x > y ? -1 : x < y;
}

static void keep_oldest(struct eviction *e)
{
    qsort(e->all, e->candidates, sizeof *e->all, compare_ages);
    e->more |= e->candidates > OLDEST;
    if (e->candidates > OLDEST)
        e->candidates = OLDEST;
}

/* Returns the age of a region. A region that was used after this eviction began has age 0. */
static uint32_t age_of(const struct eviction *e, const struct region *record)
{
    uint32_t age = e->now - record->used;

    return age <= INT32_MAX ? age : 0;
}

static void partial_close(struct partial *p)
{
    file_close(&p->tokens_fd);
    file_close(&p->map_fd);
    free(p->tokens_path);
    free(p->map_path);
}

/* Opens the files of a dataset. Returns false if they are missing, or cannot be written. */
static bool partial_open(struct partial *p, const char *folder)
{
    uint64_t size = 0;

    *p = (struct partial) { .tokens_fd = -1, .map_fd = -1 };
    p->tokens_path = path_join(folder, cache_file_names[PATH_TOKENS_PARTIAL], NULL);
    p->map_path = path_join(folder, cache_file_names[PATH_MAP], NULL);
    if (p->tokens_path && p->map_path &&
        own_file_open(&p->tokens_fd, &size, p->tokens_path, OWN_FILE_WRITE, NULL) == LEAT_OK &&
        own_file_open(&p->map_fd, NULL, p->map_path, OWN_FILE_WRITE, NULL) == LEAT_OK) {
        p->pages = bytes_divide_up(size, PAGE);
        p->regions = cache_regions(p->pages);
        return true;
    }
    partial_close(p);
    return false;
}

/* ---- Choosing ---- */

bool cache_is_held(int fd)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = INT64_MAX - 1, .l_len = 1 };

    return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static void add_regions(struct eviction *e, uint32_t dataset, uint32_t least_age)
{
    struct region records[AT_ONCE];
    struct partial p;

    if (!partial_open(&p, e->folders[dataset]))
        return;
    if (cache_is_held(p.tokens_fd))
        p.regions.count = 0;
    for (uint64_t done = 0, here; done < p.regions.count; done += here) {
        here = p.regions.count - done < AT_ONCE ? p.regions.count - done : AT_ONCE;
        if (file_read_at(p.map_fd, p.regions.at + done * sizeof *records, records, here * sizeof *records, p.map_path,
                         NULL) != LEAT_OK)
            break;
        for (uint64_t i = 0; i < here; i++) {
            if (records[i].used == 0 || age_of(e, &records[i]) < least_age)
                continue;
            if (e->candidates == 2 * OLDEST)
                keep_oldest(e);
            e->all[e->candidates++] = (struct candidate) { dataset, age_of(e, &records[i]), done + i };
        }
    }
    partial_close(&p);
}

static enum leat_status list_folders(struct eviction *e, const char *root, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    DIR *dir = opendir(root);
    struct dirent *entry;

    while (s == LEAT_OK && dir && (entry = readdir(dir))) {
        char *folder;

        if (!cache_is_dataset(entry->d_name))
            continue;
        s = GROW(e->folders, e->count + 1, e->room, err);
        if (s != LEAT_OK)
            break;
        folder = path_join(root, entry->d_name, NULL);
        if (folder)
            e->folders[e->count++] = folder;
        else
            s = status_no_memory(err, strlen(root));
    }
    if (dir)
        closedir(dir);
    return s;
}

/* ---- Evicting ---- */

/* Frees a region. The caller has its write lock. */
static enum leat_status free_region(const struct partial *p, uint64_t region, uint64_t *freed, struct leat_error *err)
{
    uint64_t page = region * p->regions.pages, at = p->regions.at + region * sizeof(struct region);
    uint64_t count = p->pages - page < p->regions.pages ? p->pages - page : p->regions.pages, found = 0;
    uint8_t *marks = malloc(count);
    struct region record = { 0 };
    enum leat_status s =
        marks ? file_read_at(p->map_fd, at, &record, sizeof record, p->map_path, err) : status_no_memory(err, count);

    if (s == LEAT_OK)
        s = file_read_at(p->map_fd, page, marks, count, p->map_path, err);
    for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
        found += marks[i] == 1;
    record.evictions += cache_clock();
    if (s == LEAT_OK)
        s = file_write_at(p->map_fd, at, &record, sizeof record, p->map_path, err);
    if (s == LEAT_OK && found > 0) { /* otherwise the stretch may be a hole, and a full disk would not take the zeros */
        memset(marks, 0, count);
        s = file_write_at(p->map_fd, page, marks, count, p->map_path, err);
    }
    free(marks);
    if (s == LEAT_OK && fallocate(p->tokens_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(page * PAGE),
                                  (off_t)(count * PAGE)) != 0)
        return status_set_os(err, errno, p->tokens_path, "cannot free a part of %s", p->tokens_path);
    record.used = 0; /* written last, so that the region stays a candidate until it is free */
    if (s == LEAT_OK)
        s = file_write_at(p->map_fd, at, &record, sizeof record, p->map_path, err);
    if (s == LEAT_OK)
        *freed += found * PAGE;
    return s;
}

/* Notes that somebody holds a region. That counts as a use, so the region is not among the oldest next time. */
static void note_use(const struct partial *p, uint64_t region)
{
    uint64_t at = p->regions.at + region * sizeof(struct region) + offsetof(struct region, used);
    uint32_t now = cache_clock();

    (void)file_write_at(p->map_fd, at, &now, sizeof now, p->map_path, NULL);
}

/* Evicts a region. Returns LEAT_E_BUSY if it is held, or the file is complete. */
static enum leat_status evict_region(const char *folder, uint64_t region, uint64_t *freed, struct leat_error *err)
{
    char *complete = path_join(folder, cache_file_names[PATH_TOKENS], NULL);
    enum leat_status s = LEAT_E_BUSY;
    struct file_identity file;
    struct partial p;

    if (complete && partial_open(&p, folder)) {
        uint64_t bytes = p.regions.pages * PAGE;

        if (region < p.regions.count)
            s = cache_lock_bytes(p.tokens_fd, F_WRLCK, region * bytes, bytes, p.tokens_path, err);
        if (s == LEAT_E_BUSY && region < p.regions.count)
            note_use(&p, region);
        if (s == LEAT_OK && (file_identify(complete, &file, NULL) != LEAT_OK || file.exists))
            s = LEAT_E_BUSY;
        if (s == LEAT_OK)
            s = free_region(&p, region, freed, err);
        (void)cache_lock_bytes(p.tokens_fd, F_UNLCK, 0, 0, p.tokens_path, NULL); /* a child of fork() may have the
                                                                                    lock, too */
        partial_close(&p);
    }
    free(complete);
    return s;
}

/* Goes once through the oldest regions that have at least this age. */
static enum leat_status evict_oldest(struct eviction *e, uint32_t least_age, uint64_t wanted, uint64_t *freed,
                                     struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    e->candidates = 0;
    e->more = false;
    for (uint32_t i = 0; i < e->count; i++)
        add_regions(e, i, least_age);
    keep_oldest(e);
    for (unsigned i = 0; s == LEAT_OK && i < e->candidates && *freed < wanted; i++) {
        s = evict_region(e->folders[e->all[i].dataset], e->all[i].region, freed, err);
        if (s == LEAT_E_BUSY || s == LEAT_E_TRUNCATED) /* the map was cut off */
            s = LEAT_OK;
    }
    return s;
}

enum leat_status cache_evict(struct cache *c, uint64_t wanted, uint64_t *freed, struct leat_error *err)
{
    struct eviction *e = calloc(1, sizeof *e);
    enum leat_status s = e ? list_folders(e, c->root, err) : status_no_memory(err, sizeof *e);
    bool more = true;

    *freed = 0;
    for (unsigned pass = 0; s == LEAT_OK && more && pass < PASSES; pass++) {
        e->now = pass == 0 ? cache_clock() : e->now;
        s = evict_oldest(e, pass > 0, wanted, freed, err); /* regions that were held are the newest now */
        more = e->more && *freed < wanted;
    }
    for (uint32_t i = 0; e && i < e->count; i++)
        free(e->folders[i]);
    if (e)
        free(e->folders);
    free(e);
    atomic_fetch_add(&c->evicted, *freed);
    return s;
}

void cache_forget_all(struct cache *c)
{
    const uint8_t marks[4096] = { 0 };
    struct region record;

    /* the marks go first: a process that sees the new numbers must not find the old marks */
    for (uint64_t page = 0, here; page < c->pages; page += here) {
        here = c->pages - page < sizeof marks ? c->pages - page : sizeof marks;
        (void)file_write_at(c->map_fd, page, marks, here, c->paths[PATH_MAP], NULL);
    }
    for (uint64_t i = 0, at; i < c->regions.count; i++) {
        at = c->regions.at + i * sizeof record;
        if (file_read_at(c->map_fd, at, &record, sizeof record, c->paths[PATH_MAP], NULL) != LEAT_OK)
            continue;
        record.evictions += cache_clock();
        (void)file_write_at(c->map_fd, at, &record.evictions, sizeof record.evictions, c->paths[PATH_MAP], NULL);
    }
}

/* ---- Whole datasets ---------------------------------------------------------------------------------------------- */

#define LEFT_SHARE    20u /* a twentieth of the disk stays free */
#define ALLOWED_SHARE 8u  /* an eighth of what the limit leaves is written before the next look */
#define MAX_ALLOWED   ((uint64_t)64 << 20)
#define BEYOND                                                                                                         \
    TINY_OR((uint64_t)65536, (uint64_t)1 << 20) /* bytes written before the next look when the
                                                                     limit is exceeded */
#define TURN_NS ((uint64_t)10000000000)         /* removing datasets takes a moment */

/* The size and age of one dataset of the cache. */
struct kept {
    char *folder;
    uint64_t bytes;
    time_t opened;
    bool goes; /* true: the dataset is to be removed */
};

/* Adds up what the files in a folder take, without their holes. Returns false if it is no dataset of the cache. */
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

/* Returns the other datasets of the cache, the one opened longest ago first. */
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

/* Returns true if no process has the dataset open. */
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

/* Removes a dataset. Returns false if some process has it open. */
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

/* Returns the free bytes of the disk, without those that must stay free. */
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

/* Chooses which datasets must go so that `more` bytes fit beside `taken`, which counts all of the cache. Datasets
 * that are open stay. `left` is what the disk has. Returns false if that does not suffice. */
static bool choose(const struct cache *c, struct kept *others, uint64_t count, uint64_t taken, uint64_t more,
                   uint64_t left)
{
    uint64_t limit = c->limit, freed = 0;

    if (limit == 0) /* without a limit, nothing is removed */
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

/* Waits for other processes that make room, because what they are about to remove still looks used. Returns -1 if
 * they took too long, or the file does not exist. */
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

/* Makes room for `more` bytes, or changes nothing. *taken gets how many bytes the cache takes now. */
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
    /* a closed cache needs no room, and may have no turn */
    fits = !atomic_load(&c->stop) && choose(c, others, count, *taken, more, left);
    for (uint64_t i = 0; i < count; i++) {
        if (fits && others[i].goes) {
            fits = remove_dataset(others[i].folder); /* false if the dataset was opened meanwhile */
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
    return status_set_in(
        err, LEAT_E_NO_SPACE, c->name,
        "the cache has no room for all of %s (%s, and %s are taken): give it a larger disk (LEAT_CACHE) or a "
        "larger limit (LEAT_CACHE_SIZE)",
        c->name, cache_size(all).text, cache_size(taken).text);
}

/* Returns how much is written before the next look: a share of `left`. */
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
        /* Nothing more can be evicted, but pages are still needed, so some are allowed. Looking through all datasets
         * before each page took 20 times the CPU time of everything else. */
        if (taken > c->limit)
            c->allowed = bytes > BEYOND ? bytes : BEYOND;
        else
            c->allowed = next_share(c->limit - taken, bytes);
    }
    c->allowed -= bytes;
    return LEAT_OK;
}
