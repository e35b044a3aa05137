/*
 * cache_pages.c: the token file with holes, and what is known about its pages.
 *
 * The map has a byte per page, not a bit: processes that share it write single bytes, and none of these is lost. It is
 * read and written by calls, not mapped, so that a file that is cut off is an error, not a SIGBUS.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/own_file.h"
#include "base/status.h"
#include "cache_inside.h"

/* ---- Regions ----------------------------------------------------------------------------------------------------- */

/*
 * Regions: ranges of pages that are held while they are read, and evicted together.
 *
 * A reader holds the regions around its pages: it has a read lock (fcntl's for open files, which ends with its
 * holder) on these bytes of tokens.partial. A process that evicts has a write lock on a region, through a descriptor
 * of its own, which also keeps out the readers of its own process. Within a process, holders of a region are
 * counted.
 *
 * The map has a record of each region behind its bytes for pages: a number that each eviction raises, and the time
 * of the last use. What a process knows of a page is valid only as long as that number is the one that it saw: it is
 * compared when a hold begins, and can change only between holds. It is raised by the time, not by 1, so that old
 * values do not come again if the map is set back. But 0 comes again if the map was cut off and grew: it is not
 * valid, and a process that finds it puts the time in its place.
 *
 * A child of fork() shares the locks of its parent, so it takes and releases none: it compares the numbers before
 * and after it has read.
 */

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
    return ((uint32_t)now.tv_sec << 5 | (uint32_t)(now.tv_nsec >> 25)) | 1; /* never 0, which means that nothing is
                                                                               there */
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
        return status_set_in(err, LEAT_E_BUSY, path, "a part of %s is locked by another process", path);
    return status_set_os(err, errno, path, "cannot lock a part of %s", path);
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

/* Notes a hold after its lock was taken: forgets what is known of the region if it was evicted meanwhile, and marks
 * it as used. */
static void note_hold(struct cache *c, uint64_t region)
{
    struct region record = { .evictions = c->held[region].seen + 1 }; /* stays if the map has no record */
    uint64_t page = region * c->regions.pages, end = page + c->regions.pages;
    uint32_t now = cache_clock();

    (void)read_region(c, region, &record);
    if (record.evictions == 0 || record.evictions != c->held[region].seen) {
        for (; page < end && page < c->pages; page++)
            cache_clear(c->known, page);
        if (record.evictions == 0) {
            record.evictions = now;
            (void)file_write_at(c->map_fd, c->regions.at + region * sizeof record, &record.evictions,
                                sizeof record.evictions, c->paths[PATH_MAP], NULL);
        }
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
            note_hold(c, region);
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

enum leat_status cache_check_process(const struct cache *c, struct leat_error *err)
{
    if (c->owner == getpid())
        return LEAT_OK;
    return status_set_in(err, LEAT_E_FORKED, c->name,
                         "%s was opened by another process, and not all of it is here: open it in each process",
                         c->name);
}

/* Checks in a child of fork() that nothing was evicted since its parent looked. */
static enum leat_status compare_regions(struct cache *c, uint64_t region, uint64_t end, struct leat_error *err)
{
    struct region record;

    for (; region < end; region++)
        if (read_region(c, region, &record) != LEAT_OK || record.evictions != c->held[region].seen)
            return cache_check_process(c, err);
    return LEAT_OK;
}

/* Finds the regions of a range. Returns false if there are none; readers of the file refuse a range outside of it. */
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
        (void)nanosleep(&(struct timespec) { 0, WAIT_NS }, NULL); /* the region is being evicted, which takes a
                                                                     moment */
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
    if (c->hold_fd >= 0) /* a child of fork() also has the lock as long as it lives */
        (void)cache_lock_bytes(c->hold_fd, F_UNLCK, 0, 0, c->paths[PATH_TOKENS_PARTIAL], NULL);
    file_close(&c->hold_fd);
}

/* ---- Pages ------------------------------------------------------------------------------------------------------- */

#define AT_ONCE 16u /* pages that are read together */

uint64_t cache_page_bytes(const struct cache *c, uint64_t page, uint64_t count)
{
    uint64_t left = c->header.token_file_bytes - page * PAGE;

    return left < count * PAGE ? left : count * PAGE;
}

bool cache_all_known(const struct cache *c, uint64_t page, uint64_t end)
{
    for (; page < end; page++)
        if (!cache_bit(c->known, page))
            return false;
    return true;
}

/* ---- Opening ---- */

static enum leat_status open_whole(struct cache *c, struct leat_error *err)
{
    uint64_t size = 0;
    enum leat_status s = own_file_open(&c->tokens_fd, &size, c->paths[PATH_TOKENS], OWN_FILE_READ, err);

    if (s == LEAT_OK && size != c->header.token_file_bytes) {
        file_close(&c->tokens_fd);
        return status_set_in(err, LEAT_E_TRUNCATED, c->paths[PATH_TOKENS],
                             "%s has %" PRIu64 " bytes, but should have %" PRIu64
                             ": it was changed; remove its folder in the cache to fetch it again",
                             c->paths[PATH_TOKENS], size, c->header.token_file_bytes);
    }
    c->whole = s == LEAT_OK;
    return s;
}

static enum leat_status open_partial(struct cache *c, struct leat_error *err)
{
    size_t words = (size_t)bytes_divide_up(c->pages, 64) + 1;
    enum leat_status s = cache_open_file(&c->tokens_fd, c->paths[PATH_TOKENS_PARTIAL], err);

    c->regions = cache_regions(c->pages);

    if (s == LEAT_OK)
        s = file_truncate(c->tokens_fd, c->header.token_file_bytes, c->paths[PATH_TOKENS_PARTIAL], err);
    if (s == LEAT_OK)
        s = cache_open_file(&c->map_fd, c->paths[PATH_MAP], err);
    if (s == LEAT_OK)
        s = file_truncate(c->map_fd, c->regions.at + c->regions.count * sizeof(struct region), c->paths[PATH_MAP], err);
    if (s != LEAT_OK)
        return s;
    c->held = calloc((size_t)c->regions.count + 1, sizeof *c->held);
    c->known = calloc(words, sizeof *c->known);
    c->asked = calloc(words, sizeof *c->asked);
    return c->known && c->asked && c->held ? LEAT_OK : status_no_memory(err, words * sizeof *c->known);
}

enum leat_status cache_pages_open(struct cache *c, struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = open_whole(c, &why);

    if (s == LEAT_E_NO_FILE) {
        struct leat_error again;

        s = open_partial(c, &why);
        /* the process that fills the file may have named it in between, and then the new file is not the shared one */
        if (s == LEAT_OK && own_file_open(&c->fill_fd, NULL, c->paths[PATH_TOKENS], OWN_FILE_READ, &again) == LEAT_OK) {
            file_close(&c->fill_fd);
            cache_pages_close(c);
            s = open_whole(c, &why);
        }
    }
    if (s != LEAT_OK && err)
        *err = why;
    return s;
}

void cache_pages_close(struct cache *c)
{
    file_close(&c->tokens_fd);
    file_close(&c->map_fd);
    free(c->known);
    free(c->asked);
    free(c->held);
    c->known = c->asked = NULL;
    c->held = NULL;
}

/* ---- Checking ---- */

enum leat_status cache_check(struct cache *c, const uint8_t *bytes, uint64_t page, uint64_t count, uint64_t *wrong,
                             struct hash128 *sum, struct leat_error *err)
{
    const struct format_place *place = &c->header.sections[FORMAT_PAGES];
    uint32_t stored[64], computed[64];
    enum leat_status s = LEAT_OK;

    for (uint64_t done = 0, here; s == LEAT_OK && done < count; done += here) {
        struct hash128 part = { 0, 0 };

        here = count - done < 64 ? count - done : 64;
        *wrong = page + done;
        s = file_read_at(c->index_fd, place->offset + *wrong * sizeof *stored, stored, here * sizeof *stored,
                         c->paths[PATH_INDEX], err);
        if (s != LEAT_OK)
            return s;
        c->kernels->pages(&part, bytes + done * PAGE, (size_t)cache_page_bytes(c, *wrong, here), *wrong, computed);
        for (uint64_t i = 0; i < here; i++, ++*wrong)
            if (bytes_le32(stored[i]) != computed[i])
                return LEAT_OK;
        if (sum)
            checksum_add(sum, part);
    }
    *wrong = page + count;
    return s;
}

/* ---- Finding ---- */

/* Makes those pages known that are right in the file. A page that is missing, cannot be read, or is wrong is fetched
 * later. */
static enum leat_status look_at(struct cache *c, uint64_t page, uint64_t count, uint8_t *room, struct leat_error *err)
{
    uint64_t end = page + count, wrong;
    enum leat_status s;

    if (file_read_at(c->tokens_fd, page * PAGE, room, cache_page_bytes(c, page, count), c->paths[PATH_TOKENS_PARTIAL],
                     NULL) != LEAT_OK)
        return LEAT_OK;
    for (uint64_t at = page; at < end; at = wrong + 1) {
        s = cache_check(c, room + (at - page) * PAGE, at, end - at, &wrong, NULL, err);
        if (s != LEAT_OK)
            return s;
        for (uint64_t right = at; right < wrong; right++)
            cache_set(c->known, right);
    }
    return LEAT_OK;
}

enum leat_status cache_find(struct cache *c, uint64_t page, uint64_t end, struct leat_error *err)
{
    uint8_t marks[AT_ONCE], *room = NULL;
    enum leat_status s = LEAT_OK;

    for (uint64_t count; s == LEAT_OK && page < end; page += count) {
        count = end - page < AT_ONCE ? end - page : AT_ONCE;
        if (file_read_at(c->map_fd, page, marks, count, c->paths[PATH_MAP], NULL) != LEAT_OK)
            continue; /* the map was cut off: nothing is known to be here */
        for (uint64_t first = 0, last; s == LEAT_OK && first < count; first = last + 1) {
            for (last = first; last < count && marks[last] == 1 && !cache_bit(c->known, page + last); last++)
                ;
            if (last == first)
                continue;
            if (!room && !(room = malloc(AT_ONCE * PAGE)))
                return status_no_memory(err, AT_ONCE * PAGE);
            s = look_at(c, page + first, last - first, room, err);
        }
    }
    free(room);
    return s;
}
