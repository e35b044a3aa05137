/*
 * cache_hold.c: regions: ranges of pages that are held while somebody reads them, and evicted together.
 *
 * Who reads holds the regions around it: a read lock (fcntl's for open files, which ends with its holder) on these
 * bytes of tokens.partial. Who evicts has a write lock on a region, through a descriptor of its own, so that it also
 * keeps off what its own process reads. Within a process, holders of a region are counted.
 *
 * The map has a record of each region behind its bytes for pages: a number that each eviction raises, and when it was
 * used last. What a process knows of a page is worth something only as long as that number is the one that it saw: it
 * is compared when a hold begins, and can change only between holds. It is raised by the time, not by 1, so that old
 * values do not come again where somebody sets the map back.
 *
 * A child of fork() shares the locks of its parent, so it takes and gives back none: it compares the numbers before and
 * after it has read.
 */
#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/own_file.h"
#include "base/status.h"
#include "cache_inside.h"

#define WAIT_NS ((long)1000000)

struct cache_regions cache_regions(uint64_t pages)
{
    struct cache_regions r = { .pages = LEAST_REGION };

    while (bytes_divide_up(pages, r.pages) > MOST_REGIONS)
        r.pages *= 2;
    r.count = bytes_divide_up(pages, r.pages);
    r.at = bytes_divide_up(pages, sizeof(struct region)) * sizeof(struct region);
    return r;
}

uint32_t cache_clock(void)
{
    struct timespec now = { 0 };

    clock_gettime(CLOCK_REALTIME, &now);
    return ((uint32_t)now.tv_sec << 5 | (uint32_t)(now.tv_nsec >> 25)) | 1; /* 0: nothing is there */
}

enum leat_status cache_lock_bytes(int fd, short type, uint64_t first, uint64_t count, const char *path,
                                  struct leat_error *err)
{
    struct flock lock = { .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)first, .l_len = (off_t)count };
    int r;

    do
        r = fcntl(fd, F_OFD_SETLK, &lock);
    while (r != 0 && errno == EINTR);
    if (r == 0)
        return LEAT_OK;
    if (errno == EAGAIN || errno == EACCES)
        return status_set(err, LEAT_E_BUSY, "a part of %s is locked by another process", path);
    return status_set_os(err, errno, "cannot lock a part of %s", path);
}

static enum leat_status lock_region(struct cache *c, short type, uint64_t region, struct leat_error *err)
{
    uint64_t bytes = c->regions.pages * PAGE;

    return cache_lock_bytes(c->tokens_fd, type, region * bytes, bytes, c->paths[PATH_TOKENS_PARTIAL], err);
}

static enum leat_status read_region(const struct cache *c, uint64_t region, struct region *record)
{
    return file_read_at(c->map_fd, c->regions.at + region * sizeof *record, record, sizeof *record, c->paths[PATH_MAP],
                        NULL);
}

/* The lock was taken: forgets what is known of the region if it was evicted meanwhile, and notes that it is used. */
static void look(struct cache *c, uint64_t region)
{
    struct region record = { .evictions = c->held[region].seen + 1 }; /* if somebody cut the map off */
    uint64_t page = region * c->regions.pages, end = page + c->regions.pages;
    uint32_t now = cache_clock();

    (void)read_region(c, region, &record);
    if (record.evictions != c->held[region].seen) {
        for (; page < end && page < c->pages; page++)
            cache_clear(c->known, page);
        c->held[region].seen = record.evictions;
    }
    if (record.used == now)
        return;
    record.used = now;
    (void)file_write_at(c->map_fd, c->regions.at + region * sizeof record + offsetof(struct region, used), &record.used,
                        sizeof record.used, c->paths[PATH_MAP], NULL);
}

static enum leat_status hold_region(struct cache *c, uint64_t region, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    pthread_mutex_lock(&c->hold_mutex);
    if (c->held[region].count == 0) {
        s = lock_region(c, F_RDLCK, region, err);
        if (s == LEAT_OK)
            look(c, region);
    }
    c->held[region].count += s == LEAT_OK;
    pthread_mutex_unlock(&c->hold_mutex);
    return s;
}

static void release_regions(struct cache *c, uint64_t region, uint64_t end)
{
    pthread_mutex_lock(&c->hold_mutex);
    for (; region < end; region++)
        if (--c->held[region].count == 0)
            (void)lock_region(c, F_UNLCK, region, NULL);
    pthread_mutex_unlock(&c->hold_mutex);
}

/* In a child of fork(): whether nothing was evicted since its parent looked. */
static enum leat_status compare_regions(struct cache *c, uint64_t region, uint64_t end, struct leat_error *err)
{
    struct region record;

    for (; region < end; region++)
        if (read_region(c, region, &record) != LEAT_OK || record.evictions != c->held[region].seen)
            return cache_check_process(c, err);
    return LEAT_OK;
}

/* False: no region; a range outside of the file is refused by those who read it. */
static bool regions_of(const struct cache *c, uint64_t first, uint64_t count, uint64_t *region, uint64_t *end)
{
    if (c->whole || count == 0 || !bytes_inside(first, count, c->header.token_file_bytes))
        return false;
    *region = first / PAGE / c->regions.pages;
    *end = (first + count - 1) / PAGE / c->regions.pages + 1;
    return true;
}

enum leat_status cache_hold(struct cache *c, uint64_t first, uint64_t count, uint64_t max_ns, uint64_t *waited,
                            struct leat_error *err)
{
    uint64_t begin, end, at, since = 0, before = waited ? *waited : 0, here = 0;
    enum leat_status s = LEAT_OK;

    if (!regions_of(c, first, count, &begin, &end))
        return LEAT_OK;
    if (c->owner != getpid())
        return compare_regions(c, begin, end, err);
    for (at = begin; at < end; at += s == LEAT_OK) {
        s = hold_region(c, at, err);
        if (s == LEAT_OK)
            continue;
        since = since ? since : clock_ns();
        if (s != LEAT_E_BUSY || atomic_load(&c->stop))
            break;
        here = clock_ns() - since;
        if ((max_ns > 0 && here >= max_ns) || before + here >= STUCK_NS)
            break;
        (void)nanosleep(&(struct timespec) { 0, WAIT_NS }, NULL); /* it is evicted, which takes a moment */
    }
    if (at == end)
        return LEAT_OK;
    release_regions(c, begin, at);
    if (waited)
        *waited = before + here;
    if (s == LEAT_E_BUSY && before + here < STUCK_NS)
        return LEAT_E_AGAIN;
    return s == LEAT_E_BUSY ? status_before(err, s,
                                            "a process that is making room in the cache has made no progress "
                                            "for two minutes; is a process that uses the cache stopped?")
                            : s;
}

enum leat_status cache_release(struct cache *c, uint64_t first, uint64_t count, struct leat_error *err)
{
    uint64_t begin, end;

    if (!regions_of(c, first, count, &begin, &end))
        return LEAT_OK;
    if (c->owner != getpid())
        return compare_regions(c, begin, end, err);
    release_regions(c, begin, end);
    return LEAT_OK;
}

enum leat_status cache_hold_all(struct cache *c, struct leat_error *err)
{
    const char *path = c->paths[PATH_TOKENS_PARTIAL];
    enum leat_status s;

    if (c->hold_fd >= 0)
        return LEAT_OK;
    s = own_file_open(&c->hold_fd, NULL, path, OWN_FILE_WRITE, err);
    if (s == LEAT_OK)
        s = cache_lock_bytes(c->hold_fd, F_RDLCK, 0, 0, path, err);
    if (s != LEAT_OK)
        file_close(&c->hold_fd);
    return s;
}

void cache_release_all(struct cache *c)
{
    if (c->hold_fd >= 0) /* a child of fork() has the lock, too, as long as it lives */
        (void)cache_lock_bytes(c->hold_fd, F_UNLCK, 0, 0, c->paths[PATH_TOKENS_PARTIAL], NULL);
    file_close(&c->hold_fd);
}
