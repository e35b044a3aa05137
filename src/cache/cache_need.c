/* cache_need.c: serves what callers ask for. A page that is known costs a look at a bit. Another one is looked for
 * in the local file, and queued if it is not there; the thread takes the queue in its order. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/status.h"
#include "cache_inside.h"

#define QUEUED_PAGES (WINDOW_BYTES / PAGE)
#define LEAST_LIMIT  ((uint64_t)1 << 30)    /* least limit of a cache that has room for pages needed later */
#define LONGEST_NS   ((uint64_t)1000000000) /* longest wait on the condition, in nanoseconds */

/* How soon pages are needed. */
enum need { NEED_LATER, NEED_SOON, NEED_NOW };

/* Adds a range to the queue. What is needed now goes before all others. */
static enum leat_status add_queued(struct cache *c, uint64_t page, uint64_t count, enum need when,
                                   struct leat_error *err)
{
    struct queued *w = malloc(sizeof *w);
    bool urgent = when == NEED_NOW;

    if (!w)
        return status_no_memory(err, sizeof *w);
    *w =
        (struct queued) { .page = page, .count = count, .early = when == NEED_LATER, .next = urgent ? c->queue : NULL };
    if (!urgent)
        *c->queue_end = w;
    if (!urgent || !w->next)
        c->queue_end = &w->next;
    if (urgent)
        c->queue = w;
    for (uint64_t i = 0; i < count; i++)
        cache_set(c->asked, page + i);
    atomic_fetch_add(&c->remote_pages, count);
    return LEAT_OK;
}

/* Queues those of pages [page, end) that are neither here nor asked for. The caller has the mutex. */
static enum leat_status queue_pages(struct cache *c, uint64_t page, uint64_t end, enum need when,
                                    struct leat_error *err)
{
    enum leat_status s = cache_start(c, err);
    bool new = false;

    for (uint64_t last; s == LEAT_OK && page < end; page = last + (last == page)) {
        for (last = page;
             last < end && last - page < QUEUED_PAGES && !cache_bit(c->known, last) && !cache_bit(c->asked, last);
             last++)
            ;
        if (last == page)
            continue;
        s = add_queued(c, page, last - page, when, err);
        new = true;
    }
    if (new) {
        pthread_cond_signal(&c->work);
        remote_wake(c->remote);
    }
    return s;
}

/* Waits until the pages are here, one of them failed, or `max_ns` are over (0: never). The caller has the mutex. */
static enum leat_status wait_for(struct cache *c, uint64_t page, uint64_t end, uint64_t max_ns, struct leat_error *err)
{
    struct waiter me = { .page = page, .end = end, .next = c->waiters }, **at;
    uint64_t began = clock_ns(), waited = 0;
    enum leat_status s = LEAT_OK;

    c->waiters = &me;
    while (s == LEAT_OK && me.status == LEAT_OK && !cache_all_known(c, page, end)) {
        uint64_t left = max_ns > 0 && max_ns - waited < LONGEST_NS ? max_ns - waited : LONGEST_NS;
        struct timespec until;

        /* a page that others asked for may have failed before this thread waited */
        s = queue_pages(c, page, end, NEED_NOW, err);
        if (s != LEAT_OK)
            break;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += (time_t)((until.tv_nsec + (long)left) / 1000000000);
        until.tv_nsec = (until.tv_nsec + (long)left) % 1000000000;
        pthread_cond_timedwait(&c->arrived, &c->mutex, &until);
        waited = clock_ns() - began;
        if (max_ns > 0 && waited >= max_ns && me.status == LEAT_OK && !cache_all_known(c, page, end))
            s = LEAT_E_AGAIN;
    }
    for (at = &c->waiters; *at != &me; at = &(*at)->next)
        ;
    *at = me.next;
    if (me.status != LEAT_OK && err)
        *err = me.error;
    return me.status != LEAT_OK ? me.status : s;
}

enum leat_status cache_need(struct cache *c, uint64_t first, uint64_t count, uint64_t max_ns, struct leat_error *err)
{
    uint64_t page = first / PAGE, end;
    enum leat_status s;

    if (c->whole || count == 0 || !bytes_inside(first, count, c->header.token_file_bytes))
        return LEAT_OK; /* readers of the file refuse a range outside of it */
    end = bytes_divide_up(first + count, PAGE);
    if (cache_all_known(c, page, end))
        return LEAT_OK;
    s = cache_check_process(c, err);
    if (s == LEAT_OK)
        s = cache_find(c, page, end, err);
    if (s != LEAT_OK || cache_all_known(c, page, end))
        return s;
    pthread_mutex_lock(&c->mutex);
    s = wait_for(c, page, end, max_ns, err);
    pthread_mutex_unlock(&c->mutex);
    return s;
}

bool cache_announce(struct cache *c, uint64_t first, uint64_t count, bool soon)
{
    uint64_t page = first / PAGE, end;
    struct leat_error unsaid;

    if (c->whole || count == 0 || !bytes_inside(first, count, c->header.token_file_bytes))
        return true;
    end = bytes_divide_up(first + count, PAGE);
    atomic_fetch_add_explicit(&c->wanted_pages, soon ? end - page : 0, memory_order_relaxed);
    if (cache_all_known(c, page, end))
        return true;
    if ((!soon && c->limit > 0 && c->limit < LEAST_LIMIT) || cache_check_process(c, &unsaid) != LEAT_OK)
        return false;
    if (cache_find(c, page, end, &unsaid) == LEAT_OK && cache_all_known(c, page, end))
        return true;
    pthread_mutex_lock(&c->mutex);
    queue_pages(c, page, end, soon ? NEED_SOON : NEED_LATER, &unsaid);
    pthread_mutex_unlock(&c->mutex);
    return false;
}

void cache_fill(struct cache *c)
{
    struct leat_error unsaid;

    if (c->whole || c->pages == 0 || c->owner != getpid() ||
        atomic_load(&c->fill_failed)) /* the filling was given up */
        return;
    pthread_mutex_lock(&c->mutex);
    c->fill_wanted = true;
    if (cache_start(c, &unsaid) == LEAT_OK)
        pthread_cond_signal(&c->work);
    pthread_mutex_unlock(&c->mutex);
}

void cache_count(struct cache *c, struct cache_counts *counts)
{
    counts->requests += atomic_load(&c->requests);
    counts->retries += atomic_load(&c->retries);
    counts->bytes += atomic_load(&c->bytes);
    counts->pages += atomic_load(&c->wanted_pages);
    counts->remote_pages += atomic_load(&c->remote_pages);
    counts->evicted_bytes += atomic_load(&c->evicted);
    if (atomic_load(&c->in_use) > 0) {
        counts->limit = c->limit;
        counts->in_use = atomic_load(&c->in_use);
    }
    counts->all_bytes += c->header.token_file_bytes;
    counts->here_bytes += c->whole ? c->header.token_file_bytes : atomic_load(&c->filled_bytes);
    counts->filling |= atomic_load(&c->filling);
    counts->failed |= atomic_load(&c->fill_failed);
    if (c->owner != getpid() || counts->why_not[0])
        return;
    pthread_mutex_lock(&c->mutex);
    snprintf(counts->why_not, sizeof counts->why_not, "%.*s", (int)CACHE_REASON - 1, c->fill_error.message);
    pthread_mutex_unlock(&c->mutex);
}
