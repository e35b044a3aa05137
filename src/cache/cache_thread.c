/*
 * cache_thread.c: the thread that fetches. It owns the client and the lanes; everything else is shared under the mutex,
 * which it does not hold while it waits for the network or writes files.
 *
 * Pages that were asked for come first. Stretches in the queue that lie close to each other become one request, as far
 * as a lane has room: the pages between them cost less than a round trip. The rest of the file uses lanes of its own,
 * and only while the queue is empty.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/own_file.h"
#include "base/path.h"
#include "base/status.h"
#include "base/thread.h"
#include "cache_inside.h"

/* ---- The rest of the file ---------------------------------------------------------------------------------------- */

/*
 * Fetches the rest of the token file, in its order, in ranges of some MiB, by one process of the node at a time.
 *
 * The lock lies in the cache's folder, above all datasets: several downloads at once would only share the line. The
 * process that has it passes over the whole file: a range that is here is read and compared with its hashes, another
 * one is fetched. The sums of all pages, in any order, add up to the one in the header; then the file gets its name.
 *
 * A range that fails gives the lock back, so that another process may try, and is remembered: what was passed over
 * stays right, whoever writes meanwhile.
 */

/* What the next range needs: there is none now; it was here and needs nothing; or this lane has to fetch it. */
enum fill_next { FILL_NONE, FILL_LOOKED, FILL_SEND };

#define RANGE_PAGES (FILL_BYTES / PAGE)
#define AGAIN_NS    TINY_OR((uint64_t)100000000, (uint64_t)2000000000) /* pause after the first failure */
#define MAX_DOUBLES 8u                     /* how often the pause doubles: to some minutes */
#define MAX_PASSES  3u                     /* passes over the whole file */
#define LOOK_NS     ((uint64_t)1000000000) /* pause while another process fills */
#define SYNC_BYTES  ((uint64_t)64 << 20)

/* Takes the lock of the process that fills. Returns LEAT_E_BUSY if another process has it. */
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

/* Forgets failures, because the filling made progress. The caller has the mutex. */
static void forget_failures(struct cache *c)
{
    c->fill_failures = 0;
    c->fill_error.message[0] = '\0';
}

/* Returns true if another process has completed the dataset since this one opened it: then nothing is left to do. */
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

/* Gives up for a while. The caller has the mutex. */
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

/* Lets the next pass begin with the first range. */
static void begin_anew(struct cache *c)
{
    cache_release_all(c);
    c->fill_anew = false;
    c->fill_page = c->redo_count = 0;
    c->fill_sum = (struct hash128) { 0, 0 };
    atomic_store(&c->filled_bytes, 0);
}

/* Gives the copying up for a while, on a full disk, so that all of the file can be evicted. The counts of ranges are
 * undone when the next pass begins: by then nothing is under way. */
static void yield_filling(struct cache *c, const struct leat_error *err)
{
    if (c->fill_fd < 0)
        return;
    fail_alone(c, err);
    cache_release_all(c);
    c->fill_anew = true;
}

/* Becomes the process that fills. Returns false if another one fills or has filled the file, or if there is no room. */
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
        s = cache_make_room(c, &why); /* needs the lock: two processes could take the same room */
    if (s != LEAT_OK)                 /* without the room, others may evict what was passed over */
        begin_anew(c);
    if (s == LEAT_OK)
        s = cache_hold_all(c, &why);
    if (s == LEAT_E_BUSY) { /* another process evicts, which takes a moment */
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

/* Returns true if a range is here already, and adds its sum. */
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

/* Takes the next range to pass over; returns false if nothing is left. */
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

static enum fill_next next_range(struct cache *c, struct lane *lane)
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

/* Notes a range that failed, to try it again after a time that doubles. The caller has the mutex. */
static void range_failed(struct cache *c, const struct lane *lane, const struct leat_error *err)
{
    c->redo[c->redo_count++] = (struct fill_range) { lane->page, lane->count };
    if (c->fill_fd >= 0) /* transfers that were under way beside a failed range are not counted */
        fail(c, err);
}

/* Waits until what was written is on the disk, or nearly; fsync() could not be stopped. A failure of the disk to
 * take a page is reported once, here or by fsync(). */
static enum leat_status write_back(struct cache *c, struct leat_error *err)
{
    for (uint64_t at = 0; at < c->header.token_file_bytes; at += SYNC_BYTES) {
        if (atomic_load(&c->stop))
            return status_set(err, LEAT_E_STOPPED, "the cache is closed");
        if (sync_file_range(c->tokens_fd, (off64_t)at, SYNC_BYTES,
                            SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER) != 0 &&
            (errno == EIO || errno == ENOSPC || errno == EDQUOT)) /* other errors mean that the file cannot be asked
                                                                     in this way, only by fsync() */
            return status_set_os(err, errno, c->paths[PATH_TOKENS_PARTIAL], "cannot write %s to the disk",
                                 c->paths[PATH_TOKENS_PARTIAL]);
    }
    return LEAT_OK;
}

/* Makes the complete file durable, gives it its name, and removes the map. */
static enum leat_status name_file(struct cache *c, struct leat_error *err)
{
    const char *partial = c->paths[PATH_TOKENS_PARTIAL], *path = c->paths[PATH_TOKENS];
    enum leat_status s = write_back(c, err);
    bool named = false;

    if (s == LEAT_OK)
        s = file_sync(c->tokens_fd, partial, err);
    if (s != LEAT_OK && s != LEAT_E_STOPPED) /* memory may show bytes that the disk has lost */
        cache_forget_all(c);

    /* another process may have removed the folder and started the file anew */
    if (s == LEAT_OK)
        s = own_file_is_named(c->tokens_fd, partial, &named, err);
    if (s == LEAT_OK && !named)
        s = status_set_in(err, LEAT_E_MISMATCH, partial, "%s is no longer the file that was filled", partial);
    if (s == LEAT_OK)
        s = file_rename(partial, path, true, err);
    if (s == LEAT_OK)
        s = file_sync_folder(path, err);
    return s == LEAT_OK ? file_remove(c->paths[PATH_MAP], err) : s;
}

/* Gives up for good, since each pass costs as much as the first. */
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

/* Ends a pass when no transfer of the rest is under way. Returns true if the file is complete now, and has its name. */
static bool finish_filling(struct cache *c)
{
    struct leat_error why;
    enum leat_status s;

    if (c->fill_fd < 0 || c->fill_page < c->pages || c->redo_count > 0)
        return false;
    if (checksum_equal(c->fill_sum, c->header.token_sum))
        s = name_file(c, &why);
    else
        s = status_set_in(&why, LEAT_E_CHECKSUM, c->name, "%s: the pages match their hashes, but not the sum of all",
                          c->name);
    if (s == LEAT_OK) {
        pthread_mutex_lock(&c->mutex);
        forget_failures(c);
        pthread_mutex_unlock(&c->mutex);
        end_filling(c);
        cache_release_all(c); /* now that it has its name, no process evicts parts of it */
        return true;
    }
    begin_anew(c); /* the name may stand for another file by now */
    if (s != LEAT_E_STOPPED && ++c->fill_passes >= MAX_PASSES)
        give_up(c, s, &why);
    else
        fail_alone(c, &why);
    return false;
}

/* ---- Writing pages ----------------------------------------------------------------------------------------------- */

#define FULL_BYTES ((uint64_t)8 << 20) /* bytes to free on a full disk */
#define FULL_TRIES 50u                 /* ten a second */

/* Writes held pages to the file and the map. */
static enum leat_status write_pages(struct cache *c, const uint8_t *bytes, uint64_t page, uint64_t count,
                                    struct leat_error *err)
{
    uint8_t marks[64];
    enum leat_status s = file_write_at(c->tokens_fd, page * PAGE, bytes, cache_page_bytes(c, page, count),
                                       c->paths[PATH_TOKENS_PARTIAL], err);

    memset(marks, 1, sizeof marks);
    for (uint64_t done = 0, here; s == LEAT_OK && done < count; done += here) {
        here = count - done < sizeof marks ? count - done : sizeof marks;
        s = file_write_at(c->map_fd, page + done, marks, here, c->paths[PATH_MAP], err);
    }
    return s;
}

/* Writes to a full disk by evicting the pages that were not used for longest. A process that copies the rest holds
 * all of the file, and gives it back when it meets the full disk, too. */
static enum leat_status write_to_full_disk(struct cache *c, const uint8_t *bytes, uint64_t page, uint64_t count,
                                           struct leat_error *err)
{
    uint64_t size = cache_page_bytes(c, page, count), freed;
    enum leat_status s = LEAT_E_NO_SPACE;

    yield_filling(c, err);
    for (unsigned i = 0; i < FULL_TRIES; i++) {
        bool held = cache_is_held(c->tokens_fd);

        if (cache_evict(c, size > FULL_BYTES ? size : FULL_BYTES, &freed, NULL) == LEAT_OK && freed > 0)
            s = write_pages(c, bytes, page, count, err);
        if (s != LEAT_E_NO_SPACE || !held || atomic_load(&c->stop))
            return s;
        (void)nanosleep(&(struct timespec) { 0, 100000000 }, NULL);
    }
    return s;
}

/* Writes pages that are right, and makes them known, here and to other processes. */
static enum leat_status put_pages(struct cache *c, const uint8_t *bytes, uint64_t page, uint64_t count,
                                  struct leat_error *err)
{
    uint64_t size = cache_page_bytes(c, page, count);
    enum leat_status s = cache_may_write(c, count * PAGE, err);

    if (s == LEAT_OK)
        s = cache_hold(c, page * PAGE, size, 0, NULL, err);
    if (s != LEAT_OK)
        return s;
    s = write_pages(c, bytes, page, count, err);
    if (s == LEAT_E_NO_SPACE)
        s = write_to_full_disk(c, bytes, page, count, err);
    if (s != LEAT_OK)
        status_before(err, s, CACHE_FULL);
    for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
        cache_set(c->known, page + i);
    (void)cache_release(c, page * PAGE, size, NULL);
    return s;
}

/* ---- Lanes ------------------------------------------------------------------------------------------------------- */

#define STACK        ((size_t)512 << 10)
#define NEAR         TINY_OR((uint64_t)1, (uint64_t)2) /* most pages between two stretches of one request */
#define KEPT_BYTES   ((uint64_t)64 << 10)              /* largest buffer of a window that is kept for the next */
#define FILL_LOOK_MS 200u

static bool is_filling(const struct cache *c, const struct lane *lane)
{
    return lane >= &c->lanes[WINDOW_LANES];
}

static struct lane *free_lane(struct cache *c, bool filling)
{
    unsigned first = filling ? WINDOW_LANES : 0, end = filling ? LANES : WINDOW_LANES;

    for (unsigned i = first; i < end; i++)
        if (c->lanes[i].count == 0)
            return &c->lanes[i];
    return NULL;
}

static enum leat_status begin_transfer(struct cache *c, struct lane *lane, struct leat_error *err)
{
    lane->transfer.url = &c->tokens_url;
    lane->transfer.if_match = c->tokens.etag;
    lane->transfer.first = lane->page * PAGE;
    lane->transfer.count = cache_page_bytes(c, lane->page, lane->count);
    lane->transfer.out = lane->bytes;
    lane->transfer.context = lane;
    return remote_begin(c->remote, &lane->transfer, err);
}

/* ---- The queue --------------------------------------------------------------------------------------------------- */

/* Takes a stretch that touches, or nearly touches, the pages of a lane and fits into it; returns false if none does.
 * What is needed does not wait for what is only announced: one large request for both takes longer to come. */
static bool take_near(struct cache *c, struct lane *lane, bool early)
{
    for (struct queued **at = &c->queue; *at; at = &(*at)->next) {
        struct queued *w = *at;
        uint64_t page = w->page < lane->page ? w->page : lane->page;
        uint64_t end = w->page + w->count > lane->page + lane->count ? w->page + w->count : lane->page + lane->count;

        if (w->early != early || end - page > lane->count + w->count + NEAR || end - page > WINDOW_BYTES / PAGE)
            continue;
        lane->page = page;
        lane->count = end - page;
        *at = w->next;
        if (!w->next)
            c->queue_end = at;
        free(w);
        return true;
    }
    return false;
}

/* Fills a lane with the oldest stretch of the queue, and with stretches near it. */
static void take_queued(struct cache *c, struct lane *lane)
{
    struct queued *w = c->queue;
    bool early = w->early;

    lane->page = w->page;
    lane->count = w->count;
    lane->tries = 0;
    c->queue = w->next;
    if (!w->next)
        c->queue_end = &c->queue;
    free(w);
    while (take_near(c, lane, early))
        ;
}

/* Gives the pages of a lane back: either they are here, or the threads that wait for them get the error. The caller
 * has the mutex. */
static void settle(struct cache *c, struct lane *lane, enum leat_status s, const struct leat_error *err)
{
    uint64_t end = lane->page + lane->count;

    for (uint64_t page = lane->page; page < end && !is_filling(c, lane); page++)
        cache_clear(c->asked, page);
    for (struct waiter *w = c->waiters; w && s != LEAT_OK && !is_filling(c, lane); w = w->next)
        if (w->page < end && lane->page < w->end && w->status == LEAT_OK) {
            w->status = s;
            w->error = *err;
        }
    if (!is_filling(c, lane) && lane->room > KEPT_BYTES) {
        free(lane->bytes);
        lane->bytes = NULL;
        lane->room = 0;
    }
    lane->count = 0;
    pthread_cond_broadcast(&c->arrived);
}

/* Frees the memory of lanes for the rest of the file, when no range of it is to be fetched now. */
static void free_fill_lanes(struct cache *c)
{
    for (struct lane *lane = &c->lanes[WINDOW_LANES]; lane < &c->lanes[LANES]; lane++)
        if (lane->count == 0) {
            free(lane->bytes);
            lane->bytes = NULL;
        }
}

/* Sends the transfer of a lane: of the queued pages that it has, or of a missing range of the rest. *looked: a range
 * of the rest was here. Returns LEAT_E_END if there is nothing to send. The caller does not have the mutex. */
static enum leat_status send_lane(struct cache *c, struct lane *lane, bool *looked, struct leat_error *err)
{
    bool filling = is_filling(c, lane);
    enum fill_next next;

    if (filling) {
        next = next_range(c, lane);
        *looked = next == FILL_LOOKED;
        if (next == FILL_NONE)
            free_fill_lanes(c);
        if (next != FILL_SEND)
            return LEAT_E_END;
    } else if (lane->room < lane->count * PAGE) { /* windows are small, and lanes are many */
        free(lane->bytes);
        lane->room = lane->count * PAGE;
        lane->bytes = malloc(lane->room);
        lane->room = lane->bytes ? lane->room : 0;
    }
    return lane->bytes ? begin_transfer(c, lane, err)
                       : status_no_memory(err, filling ? FILL_BYTES : lane->count * PAGE);
}

/* Sends what can be sent now. The caller has the mutex, which is given up meanwhile. Returns true if there may be
 * more to do at once: the rest is looked through range by range, so that the queue need not wait for it. */
static bool send_all(struct cache *c)
{
    struct leat_error err;
    struct lane *lane;
    enum leat_status s;
    bool filling, looked = false;

    while (!atomic_load(&c->stop)) {
        filling = !c->queue;
        lane = free_lane(c, filling);
        if (!lane || (filling && !c->fill_wanted) || (!filling && c->window_pages * PAGE >= WINDOWS_AT_ONCE))
            return false;
        if (!filling)
            take_queued(c, lane);
        pthread_mutex_unlock(&c->mutex);
        s = send_lane(c, lane, &looked, &err);
        pthread_mutex_lock(&c->mutex);
        if (s == LEAT_E_END)
            return looked;
        if (s == LEAT_OK) {
            c->under_way++;
            c->filling_lanes += filling;
            c->window_pages += filling ? 0 : lane->count;
        } else {
            if (filling)
                range_failed(c, lane, &err);
            settle(c, lane, s, &err);
        }
    }
    return false;
}

/* ---- What arrives ------------------------------------------------------------------------------------------------ */

/* Checks what arrived, and writes it. Returns LEAT_E_AGAIN if it was wrong, and is asked for again. */
static enum leat_status store_lane(struct cache *c, struct lane *lane, struct leat_error *err)
{
    struct hash128 *sum = is_filling(c, lane) ? &c->fill_sum : NULL, before = c->fill_sum;
    uint64_t wrong;
    enum leat_status s = lane->transfer.status;

    if (s != LEAT_OK) {
        *err = lane->transfer.error;
        return s;
    }
    s = cache_check(c, lane->bytes, lane->page, lane->count, &wrong, sum, err);
    if (s == LEAT_OK && wrong == lane->page + lane->count)
        s = put_pages(c, lane->bytes, lane->page, lane->count, err);
    if (s != LEAT_OK)
        c->fill_sum = before;
    if (s != LEAT_OK || wrong == lane->page + lane->count)
        return s;
    c->fill_sum = before;
    if (++lane->tries < REMOTE_DAMAGED_TRIES) {
        s = begin_transfer(c, lane, err);
        return s == LEAT_OK ? LEAT_E_AGAIN : s;
    }
    return status_set_at(
        err, LEAT_E_CHECKSUM, c->tokens_url.name, wrong * PAGE,
        "%s: page %" PRIu64
        " arrived damaged %u times; verify the dataset where it was made, and copy it to the server again",
        c->tokens_url.name, wrong, REMOTE_DAMAGED_TRIES);
}

/* Counts what a lane received. Called before its pages are known: who reads them may look at the counts at once. */
static void count(struct cache *c, const struct lane *lane)
{
    struct remote_counts counts;

    remote_count(c->remote, &counts);
    atomic_store(&c->requests, counts.requests);
    atomic_store(&c->retries, counts.retries);
    atomic_fetch_add(&c->bytes, lane->transfer.received);
}

static void take_lane(struct cache *c, struct lane *lane)
{
    bool filling = is_filling(c, lane);
    struct leat_error err;
    enum leat_status s;

    count(c, lane);
    s = store_lane(c, lane, &err);
    pthread_mutex_lock(&c->mutex);
    if (s != LEAT_E_AGAIN) {
        c->under_way--;
        c->filling_lanes -= filling;
        c->window_pages -= filling ? 0 : lane->count;
        if (filling && s == LEAT_OK) {
            atomic_fetch_add(&c->filled_bytes, cache_page_bytes(c, lane->page, lane->count));
            if (c->fill_fd >= 0)
                forget_failures(c);
        } else if (filling) {
            range_failed(c, lane, &err);
        }
        settle(c, lane, s, &err);
    }
    pthread_mutex_unlock(&c->mutex);
}

/* Fails everything under way, because the client itself fails, not a single request. */
static void fail_all(struct cache *c, enum leat_status s, const struct leat_error *err)
{
    remote_abandon(c->remote);
    pthread_mutex_lock(&c->mutex);
    for (unsigned i = 0; i < LANES; i++)
        if (c->lanes[i].count > 0) {
            if (is_filling(c, &c->lanes[i]))
                range_failed(c, &c->lanes[i], err);
            settle(c, &c->lanes[i], s, err);
        }
    c->under_way = c->filling_lanes = 0;
    c->window_pages = 0;
    pthread_mutex_unlock(&c->mutex);
}

/* ---- The thread -------------------------------------------------------------------------------------------------- */

/* Sleeps while nothing is under way. The caller has the mutex. */
static void sleep_a_while(struct cache *c)
{
    struct timespec until;

    if (!c->fill_wanted) {
        pthread_cond_wait(&c->work, &c->mutex);
        return;
    }
    clock_gettime(CLOCK_REALTIME, &until); /* another process may fill it, or the server may be back later */
    until.tv_nsec += (long)FILL_LOOK_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&c->work, &c->mutex, &until);
}

/* Ends a pass. Gives up the caller's mutex meanwhile, since making a file durable takes time. */
static void end_fill(struct cache *c)
{
    bool complete;

    pthread_mutex_unlock(&c->mutex);
    complete = finish_filling(c);
    pthread_mutex_lock(&c->mutex);
    if (complete) {
        c->fill_wanted = false;
        free_fill_lanes(c);
    }
}

static void *fetch_in_thread(void *context)
{
    struct cache *c = context;
    struct transfer *done;
    struct leat_error err;
    enum leat_status s;
    bool more;

    pthread_mutex_lock(&c->mutex);
    while (!atomic_load(&c->stop)) {
        more = send_all(c);
        if (c->fill_wanted && c->filling_lanes == 0 && !more)
            end_fill(c);
        if (c->under_way == 0) {
            if (!c->queue && !more && !atomic_load(&c->stop))
                sleep_a_while(c);
            continue;
        }
        pthread_mutex_unlock(&c->mutex);
        if (more)
            remote_wake(c->remote); /* transfers under way move on, and are not waited for */
        s = remote_wait(c->remote, &done, &err);
        if (s != LEAT_OK && s != LEAT_E_AGAIN)
            fail_all(c, s, &err);
        else if (s == LEAT_OK && done)
            take_lane(c, done->context);
        pthread_mutex_lock(&c->mutex);
    }
    pthread_mutex_unlock(&c->mutex);
    remote_abandon(c->remote);
    return NULL;
}

enum leat_status cache_start(struct cache *c, struct leat_error *err)
{
    int r;

    if (c->has_thread)
        return LEAT_OK;
    r = thread_start(&c->thread, STACK, fetch_in_thread, c);
    if (r != 0)
        return status_set_os(err, r, NULL, "cannot start the thread that fetches %s (" THREAD_LIMITS ")", c->name);
    c->has_thread = true;
    return LEAT_OK;
}

void cache_stop(struct cache *c)
{
    if (c->has_thread) {
        pthread_mutex_lock(&c->mutex);
        atomic_store(&c->stop, true);
        pthread_cond_signal(&c->work);
        pthread_mutex_unlock(&c->mutex);
        remote_wake(c->remote);
        pthread_join(c->thread, NULL);
    }
    for (struct queued *w = c->queue, *next; w; w = next) {
        next = w->next;
        free(w);
    }
    for (unsigned i = 0; i < LANES; i++) {
        transfer_free(&c->lanes[i].transfer);
        free(c->lanes[i].bytes);
    }
    pthread_cond_destroy(&c->work);
    pthread_cond_destroy(&c->arrived);
    pthread_mutex_destroy(&c->mutex);
    pthread_mutex_destroy(&c->hold_mutex);
}
