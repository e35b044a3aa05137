/*
 * cache_fill.c: the rest of the token file, in its order, in ranges of some MiB, by one process of the node at a time.
 *
 * The lock lies in the cache's folder, above all datasets: several downloads at once would only share the line. Who
 * holds it passes over the whole file: a range that is here is read and compared with its hashes, another one is
 * fetched. The sums of all pages, in any order, add up to the one in the header; then the file gets its name.
 *
 * A range that fails gives the lock back, so that another process may try, and is remembered: what was passed over
 * stays right, whoever writes meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/own_file.h"
#include "base/path.h"
#include "base/status.h"
#include "cache_inside.h"

#define RANGE_PAGES (FILL_BYTES / PAGE)
#define AGAIN_NS    TINY_OR((uint64_t)100000000, (uint64_t)2000000000) /* after the first failure */
#define MAX_DOUBLES 8u                                                 /* of that time: to some minutes */
#define MAX_PASSES  3u                                                 /* over all of it */
#define LOOK_NS     ((uint64_t)1000000000)                             /* while another process fills */
#define SYNC_BYTES  ((uint64_t)64 << 20)

/* The lock of who fills. LEAT_E_BUSY: another process has it. */
static enum leat_status take_lock(struct cache *c, struct leat_error *err)
{
    char *path = path_join(c->root, "filling", NULL);
    enum leat_status s;

    if (!path)
        return status_no_memory(err, strlen(c->root));
    s = cache_lock(&c->fill_fd, path, false, err);
    free(path);
    return s;
}

/* It gets on. With the mutex. */
static void forget_failures(struct cache *c)
{
    c->fill_failures = 0;
    c->fill_error.message[0] = '\0';
}

/* Whether another process has completed the dataset since this one opened it: then nothing is left to do. */
static bool is_complete(struct cache *c)
{
    struct file_identity file;

    if (file_identify(c->paths[PATH_TOKENS], &file, NULL) != LEAT_OK || !file.exists)
        return false;
    pthread_mutex_lock(&c->mutex);
    c->fill_wanted = false;
    forget_failures(c);
    pthread_mutex_unlock(&c->mutex);
    atomic_store(&c->filled_bytes, c->header.token_file_bytes);
    return true;
}

static void end_filling(struct cache *c)
{
    own_file_unlock(&c->fill_fd);
    atomic_store(&c->filling, false);
}

/* Gives up for a while. With the mutex. */
static void fail(struct cache *c, const struct leat_error *err)
{
    unsigned doubles = c->fill_failures < MAX_DOUBLES ? c->fill_failures : MAX_DOUBLES;

    c->fill_not_before = clock_ns() + (AGAIN_NS << doubles);
    c->fill_failures++;
    c->fill_error = *err;
    end_filling(c);
}

static void fail_alone(struct cache *c, const struct leat_error *err)
{
    pthread_mutex_lock(&c->mutex);
    fail(c, err);
    pthread_mutex_unlock(&c->mutex);
}

/* All of the file is passed over again. */
static void begin_anew(struct cache *c)
{
    cache_release_all(c);
    c->fill_anew = false;
    c->fill_page = c->redo_count = 0;
    c->fill_sum = (struct hash128) { 0, 0 };
    atomic_store(&c->filled_bytes, 0);
}

/* What a range was counted for is undone when the next pass begins: by then nothing is under way. */
void cache_fill_yield(struct cache *c, const struct leat_error *err)
{
    if (c->fill_fd < 0)
        return;
    fail_alone(c, err);
    cache_release_all(c);
    c->fill_anew = true;
}

/* Becomes the process that fills; false: another one does or did, or there is no room. */
static bool begin_filling(struct cache *c)
{
    struct leat_error why;
    enum leat_status s = take_lock(c, &why);

    atomic_store(&c->filling, s == LEAT_E_BUSY);
    if (s == LEAT_E_BUSY || (s == LEAT_OK && is_complete(c))) {
        own_file_unlock(&c->fill_fd);
        c->fill_not_before = clock_ns() + LOOK_NS;
        return false;
    }
    if (c->fill_anew)
        begin_anew(c);
    if (s == LEAT_OK)
        s = cache_make_room(c, &why); /* with the lock: two could take the same room */
    if (s != LEAT_OK)                 /* others may evict what was passed over */
        begin_anew(c);
    if (s == LEAT_OK)
        s = cache_hold_all(c, &why);
    if (s == LEAT_E_BUSY) { /* somebody evicts, which takes a moment */
        end_filling(c);
        c->fill_not_before = clock_ns() + LOOK_NS;
    } else if (s != LEAT_OK) {
        fail_alone(c, &why);
    }
    if (s != LEAT_OK)
        return false;
    atomic_store(&c->filling, true);
    return true;
}

/* Whether a range is here already; then its sum is added. */
static bool is_here(struct cache *c, struct lane *lane)
{
    uint64_t wrong = 0, bytes = cache_page_bytes(c, lane->page, lane->count);
    struct hash128 before = c->fill_sum;
    uint8_t marks[RANGE_PAGES];
    struct leat_error unsaid;

    if (file_read_at(c->map_fd, lane->page, marks, lane->count, c->paths[PATH_MAP], &unsaid) != LEAT_OK)
        return false;
    for (uint64_t i = 0; i < lane->count; i++)
        if (marks[i] != 1)
            return false;
    if (file_read_at(c->tokens_fd, lane->page * PAGE, lane->bytes, bytes, c->paths[PATH_TOKENS_PARTIAL], &unsaid) !=
            LEAT_OK ||
        cache_check(c, lane->bytes, lane->page, lane->count, &wrong, &c->fill_sum, &unsaid) != LEAT_OK ||
        wrong != lane->page + lane->count) {
        c->fill_sum = before;
        return false;
    }
    atomic_fetch_add(&c->filled_bytes, bytes);
    return true;
}

/* What is passed over next; false: nothing is left. */
static bool take_range(struct cache *c, struct lane *lane)
{
    lane->tries = 0;
    if (c->redo_count > 0) {
        lane->page = c->redo[--c->redo_count].page;
        lane->count = c->redo[c->redo_count].count;
        return true;
    }
    lane->page = c->fill_page;
    lane->count = c->pages - lane->page < RANGE_PAGES ? c->pages - lane->page : RANGE_PAGES;
    c->fill_page += lane->count;
    return lane->count > 0;
}

enum fill_next cache_fill_next(struct cache *c, struct lane *lane)
{
    if (c->fill_fd < 0 && (c->filling_lanes > 0 || clock_ns() < c->fill_not_before || !begin_filling(c)))
        return FILL_NONE;
    if (!take_range(c, lane))
        return FILL_NONE;
    if (!lane->bytes && !(lane->bytes = malloc(FILL_BYTES)))
        return FILL_SEND; /* which says so */
    if (!is_here(c, lane))
        return FILL_SEND;
    lane->count = 0;
    return FILL_LOOKED;
}

void cache_fill_failed(struct cache *c, const struct lane *lane, const struct leat_error *err)
{
    c->redo[c->redo_count++] = (struct fill_range) { lane->page, lane->count };
    if (c->fill_fd >= 0) /* not what was under way beside a range that failed */
        fail(c, err);
}

void cache_fill_done(struct cache *c, uint64_t bytes)
{
    atomic_fetch_add(&c->filled_bytes, bytes);
    if (c->fill_fd >= 0)
        forget_failures(c);
}

/* What was written is on the disk, or nearly: fsync() could not be stopped. A page that the disk did not take is said
 * once, here or by fsync(). */
static enum leat_status write_back(struct cache *c, struct leat_error *err)
{
    for (uint64_t at = 0; at < c->header.token_file_bytes; at += SYNC_BYTES) {
        if (atomic_load(&c->stop))
            return status_set(err, LEAT_E_STOPPED, "the cache is closed");
        if (sync_file_range(c->tokens_fd, (off64_t)at, SYNC_BYTES,
                            SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER) != 0 &&
            (errno == EIO || errno == ENOSPC || errno == EDQUOT)) /* else it cannot be asked so, but by fsync() */
            return status_set_os(err, errno, "cannot write %s to the disk", c->paths[PATH_TOKENS_PARTIAL]);
    }
    return LEAT_OK;
}

/* The file is complete: durable first, then its name; the map says nothing any more. */
static enum leat_status name_file(struct cache *c, struct leat_error *err)
{
    const char *partial = c->paths[PATH_TOKENS_PARTIAL], *path = c->paths[PATH_TOKENS];
    enum leat_status s = write_back(c, err);
    bool named = false;

    if (s == LEAT_OK)
        s = file_sync(c->tokens_fd, partial, err);
    if (s != LEAT_OK && s != LEAT_E_STOPPED) /* memory may show what the disk has lost */
        cache_forget_all(c);

    /* somebody may have removed the folder, and another process have begun the file anew */
    if (s == LEAT_OK)
        s = own_file_is_named(c->tokens_fd, partial, &named, err);
    if (s == LEAT_OK && !named)
        s = status_set(err, LEAT_E_MISMATCH, "%s is no longer the file that was filled", partial);
    if (s == LEAT_OK)
        s = file_rename(partial, path, true, err);
    if (s == LEAT_OK)
        s = file_sync_folder(path, err);
    return s == LEAT_OK ? file_remove(c->paths[PATH_MAP], err) : s;
}

/* Each pass costs as much as the first. */
static void give_up(struct cache *c, enum leat_status s, struct leat_error *why)
{
    status_before(why, s, "all of %s was fetched %u times, but cannot be kept (tokens come as they are needed; %s)",
                  c->name, MAX_PASSES,
                  s == LEAT_E_CHECKSUM ? "verify the dataset where it was made"
                                       : "look at the disk, or set LEAT_CACHE to a folder on another one");
    pthread_mutex_lock(&c->mutex);
    fail(c, why);
    c->fill_wanted = false;
    pthread_mutex_unlock(&c->mutex);
    atomic_store(&c->fill_failed, true);
}

bool cache_fill_end(struct cache *c)
{
    struct leat_error why;
    enum leat_status s;

    if (c->fill_fd < 0 || c->fill_page < c->pages || c->redo_count > 0)
        return false;
    if (checksum_equal(c->fill_sum, c->header.token_sum))
        s = name_file(c, &why);
    else
        s = status_set(&why, LEAT_E_CHECKSUM, "%s: the pages match their hashes, but not the sum of all", c->name);
    if (s == LEAT_OK) {
        pthread_mutex_lock(&c->mutex);
        forget_failures(c);
        pthread_mutex_unlock(&c->mutex);
        end_filling(c);
        cache_release_all(c); /* now that it has its name, nobody evicts parts of it */
        return true;
    }
    begin_anew(c); /* the file may be another one */
    if (s != LEAT_E_STOPPED && ++c->fill_passes >= MAX_PASSES)
        give_up(c, s, &why);
    else
        fail_alone(c, &why);
    return false;
}
