/*
 * fetcher.c: the thread that keeps transfers moving. Once it has started, it alone uses the client. Requests of
 * others stand in two queues, under the lock; while the thread waits for transfers, the client asks ten times per
 * second, and whenever bytes come, whether the queues have something new.
 */
#include "fetcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/status.h"
#include "base/thread.h"
#include "base/tiny.h"

#define STACK_BYTES  ((size_t)1 << 20)
#define USUAL_WINDOW ((uint64_t)16 << 20)
#define WAIT_NS      100000000L

/* Answers whether the client should stop waiting: before the thread has started, for the caller that finds objects;
 * then for the thread itself. */
static bool interrupted(void *context)
{
    struct fetcher *f = context;

    if (f->started)
        return atomic_load(&f->attention);
    return f->stop && f->stop->asked && f->stop->asked(f->stop->context);
}

static void keep_waits(void *context, const char *why)
{
    struct fetcher *f = context;

    if (f->started) {
        pthread_mutex_lock(&f->lock);
        (void)snprintf(f->waits, sizeof f->waits, "%s", why);
        pthread_mutex_unlock(&f->lock);
    } else if (f->stop && f->stop->waits) {
        f->stop->waits(f->stop->context, why);
    }
}

static void init_done(pthread_cond_t *done)
{
    pthread_condattr_t how;

    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_cond_init(done, &how);
    pthread_condattr_destroy(&how);
}

enum leat_status fetcher_open(struct fetcher **out, struct leat_error *err)
{
    struct fetcher *f = calloc(1, sizeof *f);
    struct remote_options options = {
        .stall_seconds = TINY_OR(1, 0), .stop = interrupted, .context = f, .waits = keep_waits
    };
    enum leat_status s;

    *out = NULL;
    if (!f)
        return status_no_memory(err, sizeof *f);
    s = remote_open(&f->remote, &options, err);
    if (s != LEAT_OK) {
        free(f);
        return s;
    }
    f->window = USUAL_WINDOW;
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->work, NULL);
    init_done(&f->done);
    *out = f;
    return LEAT_OK;
}

void fetcher_window(struct fetcher *f, uint64_t bytes)
{
    f->window = bytes;
}

void fetcher_close(struct fetcher *f)
{
    if (!f)
        return;
    pthread_mutex_lock(&f->lock);
    f->quit = true;
    atomic_store(&f->attention, true);
    pthread_cond_signal(&f->work);
    pthread_mutex_unlock(&f->lock);
    remote_give_up(f->remote);
    if (f->started)
        pthread_join(f->thread, NULL);
    remote_close(f->remote);
    pthread_cond_destroy(&f->work);
    pthread_cond_destroy(&f->done);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

/* ---- The thread ------------------------------------------------------------------------------------------------- */

void fetcher_free_range(struct fetch_range *r)
{
    if (!r)
        return;
    transfer_free(&r->transfer);
    free(r->bytes);
    free(r);
}

/* Fails a range if the server's object is not the one that was found. An object that has become shorter is another one,
 * not a damaged one. */
static void judge(struct fetch_range *r)
{
    struct transfer *t = &r->transfer;
    struct remote_object *found = &r->object->found;
    bool other = t->status == LEAT_OK && t->answer.size != found->size && t->answer.bytes_of_range;

    if (t->status == LEAT_OK && !*found->etag)
        memcpy(found->etag, t->answer.etag, sizeof found->etag); /* the list had no etag */
    if (other || t->status == LEAT_E_TRUNCATED)
        t->status = status_set_in(&t->error, LEAT_E_MISMATCH, r->object->url.name,
                                  "%s has changed while it was read; start again", r->object->url.name);
}

/* Ends a transfer, whose range is ready or has failed. The caller holds the lock. */
static void finish(struct fetcher *f, struct fetch_range *r)
{
    f->under_way--;
    f->waits[0] = '\0'; /* the wait is over, and no reader needs to know of it */
    judge(r);
    r->state = r->transfer.status == LEAT_OK ? RANGE_READY : RANGE_FAILED;
    pthread_cond_broadcast(&f->done);
}

/*
 * Begins a transfer. The caller holds the lock, which is given up while new keys may be asked for, so that others
 * can read on or stop. They may drop the range meanwhile; then the thread frees it later, when it looks at its
 * queues again.
 */
static void begin_transfer(struct fetcher *f, struct fetch_range *r)
{
    struct transfer *t = &r->transfer;

    *t = (struct transfer) { .url = &r->object->url,
                             .first = r->at,
                             .count = r->count,
                             .out = r->bytes,
                             .if_match = r->object->found.etag,
                             .moved = &r->object->moved,
                             .context = r };
    r->state = RANGE_UNDER_WAY;
    f->under_way++;
    pthread_mutex_unlock(&f->lock);
    t->status = remote_begin(f->remote, t, &t->error);
    pthread_mutex_lock(&f->lock);
    if (t->status != LEAT_OK)
        finish(f, r);
}

/* Begins transfers that are wanted, and ends those that were dropped. The caller holds the lock, which
 * begin_transfer() may give up for a while. */
static void look_at_queues(struct fetcher *f)
{
    atomic_store(&f->attention, false);
    while (f->dropped) {
        struct fetch_range *r = f->dropped;

        f->dropped = r->next;
        if (r->state == RANGE_UNDER_WAY) {
            remote_cancel(f->remote, &r->transfer);
            f->under_way--;
        }
        fetcher_free_range(r);
    }
    while (f->wanted) {
        struct fetch_range *r = f->wanted;

        f->wanted = r->next;
        begin_transfer(f, r);
    }
    f->last_wanted = NULL;
}

static void *thread_main(void *context)
{
    struct fetcher *f = context;

    pthread_mutex_lock(&f->lock);
    while (!f->quit) {
        struct transfer *done = NULL;
        enum leat_status s;

        look_at_queues(f);
        if (f->under_way == 0) {
            if (!f->quit && !f->wanted && !f->dropped)
                pthread_cond_wait(&f->work, &f->lock);
            continue;
        }
        pthread_mutex_unlock(&f->lock);
        s = remote_wait(f->remote, &done, NULL);
        pthread_mutex_lock(&f->lock);
        if (s == LEAT_OK && done)
            finish(f, done->context);
    }
    remote_abandon(f->remote);
    look_at_queues(f);
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

/* ---- For who reads ---------------------------------------------------------------------------------------------- */

enum leat_status fetcher_ask(struct fetcher *f, struct fetch_range *r, struct leat_error *err)
{
    int e;

    if (!f->started) {
        f->started = true; /* from now on the client asks for the thread */
        e = thread_start(&f->thread, STACK_BYTES, thread_main, f);
        if (e != 0) {
            f->started = false;
            return status_set_os(err, e, NULL, "cannot start a thread (" THREAD_LIMITS ")");
        }
    }
    r->state = RANGE_WANTED;
    r->next = NULL;
    if (f->wanted)
        f->last_wanted->next = r;
    else
        f->wanted = r;
    f->last_wanted = r;
    atomic_store(&f->attention, true);
    pthread_cond_signal(&f->work);
    return LEAT_OK;
}

/* Removes a range from the queue of wanted ranges. */
static void leave_queue(struct fetcher *f, struct fetch_range *r)
{
    struct fetch_range *before = NULL, **at = &f->wanted;

    while (*at != r) {
        before = *at;
        at = &(*at)->next;
    }
    *at = r->next;
    if (f->last_wanted == r)
        f->last_wanted = before;
}

void fetcher_drop(struct fetcher *f, struct fetch_range *r)
{
    if (r->state == RANGE_WANTED)
        leave_queue(f, r);
    if (r->state != RANGE_UNDER_WAY) {
        fetcher_free_range(r);
        return;
    }
    r->next = f->dropped;
    f->dropped = r;
    atomic_store(&f->attention, true);
    pthread_cond_signal(&f->work);
}

enum leat_status fetcher_wait(struct fetcher *f, const struct fetch_range *r, const struct input_stop *stop,
                              struct leat_error *err)
{
    while (r->state == RANGE_WANTED || r->state == RANGE_UNDER_WAY) {
        struct timespec until;

        if (stop && stop->asked && stop->asked(stop->context))
            return status_set(err, LEAT_E_STOPPED, "reading %s was stopped", r->object->url.name);
        if (f->waits[0] != '\0' && stop && stop->waits) {
            stop->waits(stop->context, f->waits);
            f->waits[0] = '\0';
        }
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += WAIT_NS;
        if (until.tv_nsec >= 1000000000L) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000L;
        }
        pthread_cond_timedwait(&f->done, &f->lock, &until);
    }
    if (r->state == RANGE_FAILED && err)
        *err = r->transfer.error;
    return r->state == RANGE_FAILED ? r->transfer.status : LEAT_OK;
}
