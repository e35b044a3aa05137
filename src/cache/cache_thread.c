/*
 * cache_thread.c: the thread that fetches. It owns the client and the lanes; everything else is shared under the mutex,
 * which it does not hold while it waits for the network or writes files.
 *
 * What was asked for comes first. Wishes that lie close to each other become one request, as far as a lane has room:
 * what lies between them costs less than a round trip. The rest of the file (cache_fill.c) uses lanes of its own, and
 * only while no wish waits.
 */
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/status.h"
#include "base/thread.h"
#include "cache_inside.h"

#define STACK        ((size_t)512 << 10)
#define NEAR         TINY_OR((uint64_t)1, (uint64_t)2) /* pages between two wishes */
#define FILL_LOOK_MS 200u

/* ---- Lanes ------------------------------------------------------------------------------------------------------ */

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

static enum leat_status begin(struct cache *c, struct lane *lane, struct leat_error *err)
{
    lane->transfer.url = &c->tokens_url;
    lane->transfer.if_match = c->tokens.etag;
    lane->transfer.first = lane->page * PAGE;
    lane->transfer.count = cache_page_bytes(c, lane->page, lane->count);
    lane->transfer.out = lane->bytes;
    lane->transfer.context = lane;
    return remote_begin(c->remote, &lane->transfer, err);
}

/* ---- Wishes ----------------------------------------------------------------------------------------------------- */

/* Takes a wish that touches, or nearly, the pages of a lane and fits into it; false: none does. */
static bool take_near(struct cache *c, struct lane *lane)
{
    for (struct wish **at = &c->wishes; *at; at = &(*at)->next) {
        struct wish *w = *at;
        uint64_t page = w->page < lane->page ? w->page : lane->page;
        uint64_t end = w->page + w->count > lane->page + lane->count ? w->page + w->count : lane->page + lane->count;

        if (end - page > lane->count + w->count + NEAR || end - page > WINDOW_BYTES / PAGE)
            continue;
        lane->page = page;
        lane->count = end - page;
        *at = w->next;
        if (!w->next)
            c->wishes_end = at;
        free(w);
        return true;
    }
    return false;
}

/* Fills a lane with the oldest wish, and what lies near it. */
static void take_wishes(struct cache *c, struct lane *lane)
{
    struct wish *w = c->wishes;

    lane->page = w->page;
    lane->count = w->count;
    lane->tries = 0;
    c->wishes = w->next;
    if (!w->next)
        c->wishes_end = &c->wishes;
    free(w);
    while (take_near(c, lane))
        ;
}

/* Gives the pages of a lane back: they are here, or those who wait for them hear why not. With the mutex. */
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
    lane->count = 0;
    pthread_cond_broadcast(&c->arrived);
}

/* No range of the rest is to be fetched now: the memory of those lanes is not kept for that. */
static void free_fill_lanes(struct cache *c)
{
    for (struct lane *lane = &c->lanes[WINDOW_LANES]; lane < &c->lanes[LANES]; lane++)
        if (lane->count == 0) {
            free(lane->bytes);
            lane->bytes = NULL;
        }
}

/* Sends what a lane is for: wishes, which it has, or what is missing of the rest. *looked: a range of the rest was
 * here. LEAT_E_END: there is nothing to send. Without the mutex. */
static enum leat_status send_lane(struct cache *c, struct lane *lane, bool *looked, struct leat_error *err)
{
    bool filling = is_filling(c, lane);
    enum fill_next next;

    if (filling) {
        next = cache_fill_next(c, lane);
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
    return lane->bytes ? begin(c, lane, err) : status_no_memory(err, filling ? FILL_BYTES : lane->count * PAGE);
}

/* Sends what can be sent now. With the mutex, which is given up for that. Returns whether there may be more to do at
 * once: the rest is looked through range by range, so that wishes need not wait for it. */
static bool send_all(struct cache *c)
{
    struct leat_error err;
    struct lane *lane;
    enum leat_status s;
    bool filling, looked = false;

    while (!atomic_load(&c->stop)) {
        filling = !c->wishes;
        lane = free_lane(c, filling);
        if (!lane || (filling && !c->fill_wanted))
            return false;
        if (!filling)
            take_wishes(c, lane);
        pthread_mutex_unlock(&c->mutex);
        s = send_lane(c, lane, &looked, &err);
        pthread_mutex_lock(&c->mutex);
        if (s == LEAT_E_END)
            return looked;
        if (s == LEAT_OK) {
            c->under_way++;
            c->filling_lanes += filling;
        } else {
            if (filling)
                cache_fill_failed(c, lane, &err);
            settle(c, lane, s, &err);
        }
    }
    return false;
}

/* ---- What arrives ----------------------------------------------------------------------------------------------- */

/* Checks what came, and writes it. LEAT_E_AGAIN: it was wrong, and is asked for again. */
static enum leat_status take(struct cache *c, struct lane *lane, struct leat_error *err)
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
        s = cache_put(c, lane->bytes, lane->page, lane->count, err);
    if (s != LEAT_OK)
        c->fill_sum = before;
    if (s != LEAT_OK || wrong == lane->page + lane->count)
        return s;
    c->fill_sum = before;
    if (++lane->tries < REMOTE_DAMAGED_TRIES) {
        s = begin(c, lane, err);
        return s == LEAT_OK ? LEAT_E_AGAIN : s;
    }
    return status_set_at(err, LEAT_E_CHECKSUM, wrong * PAGE,
                         "%s: page %llu arrived damaged %u times; verify the dataset where it was made, and copy it to "
                         "the server again",
                         c->tokens_url.name, (unsigned long long)wrong, REMOTE_DAMAGED_TRIES);
}

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
    enum leat_status s = take(c, lane, &err);

    count(c, lane);
    pthread_mutex_lock(&c->mutex);
    if (s != LEAT_E_AGAIN) {
        c->under_way--;
        c->filling_lanes -= filling;
        if (filling && s == LEAT_OK)
            cache_fill_done(c, cache_page_bytes(c, lane->page, lane->count));
        else if (filling)
            cache_fill_failed(c, lane, &err);
        settle(c, lane, s, &err);
    }
    pthread_mutex_unlock(&c->mutex);
}

/* The client itself fails, which no single request does: all that is under way does, too. */
static void fail_all(struct cache *c, enum leat_status s, const struct leat_error *err)
{
    remote_abandon(c->remote);
    pthread_mutex_lock(&c->mutex);
    for (unsigned i = 0; i < LANES; i++)
        if (c->lanes[i].count > 0) {
            if (is_filling(c, &c->lanes[i]))
                cache_fill_failed(c, &c->lanes[i], err);
            settle(c, &c->lanes[i], s, err);
        }
    c->under_way = c->filling_lanes = 0;
    pthread_mutex_unlock(&c->mutex);
}

/* ---- The thread ------------------------------------------------------------------------------------------------- */

/* Nothing is under way. With the mutex. */
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

/* With the mutex, which is given up: making a file durable takes time. */
static void end_fill(struct cache *c)
{
    bool complete;

    pthread_mutex_unlock(&c->mutex);
    complete = cache_fill_end(c);
    pthread_mutex_lock(&c->mutex);
    if (complete) {
        c->fill_wanted = false;
        free_fill_lanes(c);
    }
}

static void *work(void *context)
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
            if (!c->wishes && !more && !atomic_load(&c->stop))
                sleep_a_while(c);
            continue;
        }
        pthread_mutex_unlock(&c->mutex);
        if (more)
            remote_wake(c->remote); /* what is under way is moved on, and not waited for */
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
    r = thread_start(&c->thread, STACK, work, c);
    if (r != 0)
        return status_set_os(err, r, "cannot start the thread that fetches %s (" THREAD_LIMITS ")", c->name);
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
    for (struct wish *w = c->wishes, *next; w; w = next) {
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
