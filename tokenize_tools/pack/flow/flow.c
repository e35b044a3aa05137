/*
 * flow.c: see flow.h. One lock guards the lanes (inputs on their way) and their units. A thread looks for a task under
 * the lock and does it without: the first lane's units are written as soon as they are encoded, the first unit that
 * nobody has taken is encoded, and a lane that has room is cut. Memory is counted when a unit is cut and given back
 * when it is written; the first lane may always go on, since what waits after it cannot be written before.
 */
#include "flow.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/status.h"
#include "pack_worker.h"

/* A unit that is used again keeps at most this much memory. */
#define KEEP_BYTES ((size_t)1 << 20)

struct flow {
    struct pack_setup *setup;
    flow_write *write;
    void *context;
    struct lane_start start;

    pthread_mutex_t lock;
    pthread_cond_t work;  /* there may be something to do */
    pthread_cond_t ended; /* all is written, or a failure; for flow_wait() */
    pthread_cond_t room;  /* for flow_take() */
    pthread_t *threads;
    unsigned thread_count;

    struct lane *lanes, *last_lane; /* in the order of the inputs */
    size_t lane_count, next_input;
    struct unit *spare;
    uint64_t in_flight; /* memory counted for units that are not written */
    bool puts;          /* a program puts units: there is one lane, and nothing to cut */
    bool no_more;       /* flow_stop(): nothing more is cut */
    bool stopped;       /* flow_stop(), and all is written that was cut without a gap */
    bool quit;          /* threads end now */
    bool write_busy;
    struct flow_facts facts;
    enum leat_status status;
    struct leat_error error;
};

/* What a thread has found to do. */
struct task {
    enum { TASK_NONE, TASK_WRITE, TASK_ENCODE, TASK_CUT } kind;
    struct lane *lane;
    struct unit *unit;
};

/* ---- Choosing, under the lock ---- */

static bool all_written(const struct flow *f)
{
    return !f->write_busy && (f->stopped || (!f->lanes && (f->puts || f->next_input == f->setup->inputs.count)));
}

static void fail(struct flow *f, enum leat_status status, const struct leat_error *err)
{
    if (f->status == LEAT_OK) {
        f->status = status;
        f->error = *err;
    }
    f->quit = true;
    pthread_cond_broadcast(&f->work);
    pthread_cond_broadcast(&f->room);
    pthread_cond_broadcast(&f->ended);
}

/* Drops lanes at the head that have nothing left. */
static void drop_lanes(struct flow *f)
{
    while (f->lanes && !f->lanes->first && !f->lanes->busy && f->lanes->whole) {
        struct lane *l = f->lanes;

        f->lanes = l->following;
        if (!f->lanes)
            f->last_lane = NULL;
        f->lane_count--;
        f->in_flight -= l->held;
        lane_free(l);
    }
    /* stopped inside the head: later units must not be written before the rest of it */
    if (f->no_more && !(f->lanes && (f->lanes->first || f->lanes->busy)))
        f->stopped = true;
    if (all_written(f)) {
        pthread_cond_broadcast(&f->ended);
        pthread_cond_broadcast(&f->work);
    }
}

/* The head of the lanes can always go on: what waits after it cannot be written before. Others take at most half. */
static bool has_room(const struct flow *f, const struct lane *l)
{
    uint64_t after = f->in_flight + f->setup->unit_cost;

    if (l == f->lanes)
        return !l->first || after <= f->setup->flight_bytes;
    return after <= f->setup->flight_bytes / 2;
}

static struct unit *spare_unit(struct flow *f)
{
    struct unit *u = f->spare;

    if (!u)
        return unit_new();
    f->spare = u->next;
    u->next = NULL;
    return u;
}

static bool find_ready(const struct flow *f, struct task *t)
{
    for (struct lane *l = f->lanes; l; l = l->following) {
        struct unit *u = l->waiting > 0 ? l->first : NULL;

        while (u && u->taken)
            u = u->next;
        if (u) {
            *t = (struct task) { TASK_ENCODE, l, u };
            return true;
        }
    }
    return false;
}

/* Opens the next lane, if there is one and memory allows. */
static struct lane *next_lane(struct flow *f)
{
    struct lane *l;

    if (f->no_more || f->puts || f->next_input == f->setup->inputs.count || f->lane_count > f->thread_count ||
        (f->lanes && f->in_flight + f->setup->unit_cost > f->setup->flight_bytes / 2))
        return NULL;
    l = lane_new(f->setup, f->next_input, &f->start);
    if (!l) {
        struct leat_error err;

        fail(f, status_no_memory(&err, sizeof *l), &err);
        return NULL;
    }
    f->next_input = l->input_end;
    if (f->last_lane)
        f->last_lane->following = l;
    else
        f->lanes = l;
    f->last_lane = l;
    f->lane_count++;
    return l;
}

static bool find_cut(struct flow *f, struct task *t)
{
    struct lane *l = f->no_more || f->puts ? NULL : f->lanes;

    while (l && (l->busy || l->whole || !has_room(f, l)))
        l = l->following;
    if (!l)
        l = next_lane(f);
    if (!l)
        return false;
    *t = (struct task) { TASK_CUT, l, NULL };
    return true;
}

static struct task choose(struct flow *f)
{
    struct task ready = { 0 }, t = { 0 };

    if (!f->write_busy && f->lanes && f->lanes->first && f->lanes->first->done)
        return (struct task) { TASK_WRITE, f->lanes, f->lanes->first };
    /* waiting threads were woken for what is ready; this one keeps cutting for them */
    if (find_ready(f, &ready) && f->facts.waiting == 0)
        return ready;
    return find_cut(f, &t) ? t : ready;
}

/* ---- Doing ---- */

static void do_write(struct flow *f, struct task *t)
{
    struct unit *u = t->unit;
    struct leat_error err;
    enum leat_status s;
    uint64_t reserved;

    t->lane->first = u->next;
    if (!u->next)
        t->lane->last = NULL;
    f->write_busy = true;
    f->facts.writing++;
    pthread_mutex_unlock(&f->lock);
    err = u->error;
    s = u->status == LEAT_OK ? f->write(f->context, u, &err) : u->status;
    reserved = u->reserved;
    unit_clear(u, KEEP_BYTES);
    pthread_mutex_lock(&f->lock);
    f->write_busy = false;
    f->facts.writing--;
    f->in_flight -= reserved;
    u->next = f->spare;
    f->spare = u;
    if (s != LEAT_OK) {
        fail(f, s, &err);
        return;
    }
    drop_lanes(f);
    pthread_cond_broadcast(&f->work);
    pthread_cond_broadcast(&f->room);
}

static void do_encode(struct flow *f, struct pack_worker *w, struct task *t)
{
    struct unit *u = t->unit;
    uint64_t reserved;

    u->taken = true;
    t->lane->waiting--;
    f->facts.encoding++;
    pthread_mutex_unlock(&f->lock);
    pack_worker_run(w, u, t->lane->fd);
    reserved = unit_bytes(u);
    pthread_mutex_lock(&f->lock);
    f->facts.encoding--;
    f->in_flight = f->in_flight - u->reserved + reserved;
    u->reserved = reserved;
    u->done = true;
    if (f->facts.waiting > 0) /* there may be room again */
        pthread_cond_broadcast(&f->work);
}

static void do_cut(struct flow *f, struct task *t)
{
    struct unit *u = spare_unit(f);
    struct lane *l = t->lane;
    uint64_t held = l->held;

    if (!u) {
        struct leat_error err;

        fail(f, status_no_memory(&err, sizeof *u), &err);
        return;
    }
    l->busy = true;
    u->reserved = f->setup->unit_cost;
    f->in_flight += u->reserved;
    f->facts.cutting++;
    pthread_mutex_unlock(&f->lock);
    lane_cut(l, u);
    pthread_mutex_lock(&f->lock);
    f->facts.cutting--;
    f->in_flight += l->held - held;
    l->busy = false;
    l->whole = l->ended;
    lane_append(l, u);
    pthread_cond_signal(&f->work);
}

static void *thread_main(void *context)
{
    struct flow *f = context;
    struct pack_worker w;
    struct leat_error err;
    enum leat_status s = pack_worker_make(&w, f->setup, &err);

    pthread_mutex_lock(&f->lock);
    if (s != LEAT_OK)
        fail(f, s, &err);
    while (!f->quit && !f->stopped && !all_written(f)) {
        struct task t = choose(f);

        if (f->quit)
            break;
        if (t.kind == TASK_WRITE)
            do_write(f, &t);
        else if (t.kind == TASK_ENCODE)
            do_encode(f, &w, &t);
        else if (t.kind == TASK_CUT)
            do_cut(f, &t);
        else {
            f->facts.waiting++;
            pthread_cond_wait(&f->work, &f->lock);
            f->facts.waiting--;
        }
    }
    pthread_mutex_unlock(&f->lock);
    pack_worker_free(&w);
    return NULL;
}

/* ---- From outside ---- */

enum leat_status flow_open(struct flow **out, struct pack_setup *setup, const struct lane_start *start,
                           flow_write *write, void *context, struct leat_error *err)
{
    struct flow *f = calloc(1, sizeof *f);
    enum leat_status s = LEAT_OK;

    *out = NULL;
    if (f)
        f->threads = calloc(setup->threads, sizeof *f->threads);
    if (!f || !f->threads) {
        free(f);
        return status_no_memory(err, sizeof *f);
    }
    f->setup = setup;
    f->write = write;
    f->context = context;
    if (start) {
        f->start = *start;
        f->next_input = start->input;
    }
    f->puts = setup->inputs.count == 0;
    if (f->puts) {
        f->lanes = f->last_lane = lane_new_for_puts(setup);
        if (!f->lanes) {
            free(f->threads);
            free(f);
            return status_no_memory(err, sizeof *f->lanes);
        }
    }
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->work, NULL);
    pthread_cond_init(&f->ended, NULL);
    pthread_cond_init(&f->room, NULL);
    pthread_mutex_lock(&f->lock); /* the first ones look at thread_count */
    while (s == LEAT_OK && f->thread_count < setup->threads) {
        int e = pthread_create(&f->threads[f->thread_count], NULL, thread_main, f);

        if (e != 0 && f->thread_count == 0)
            s = status_set_os(err, e, "cannot start a thread");
        if (e != 0)
            break; /* the threads that did start do the work */
        f->thread_count++;
    }
    pthread_mutex_unlock(&f->lock);
    if (s != LEAT_OK) {
        flow_free(f);
        return s;
    }
    *out = f;
    return LEAT_OK;
}

enum leat_status flow_wait(struct flow *f, unsigned milliseconds, bool *ended, struct leat_error *err)
{
    struct timespec until;
    enum leat_status s;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += milliseconds / 1000;
    until.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&f->lock);
    while (f->status == LEAT_OK && !all_written(f))
        if (pthread_cond_timedwait(&f->ended, &f->lock, &until) != 0)
            break;
    s = f->status;
    if (s != LEAT_OK && err)
        *err = f->error;
    *ended = s != LEAT_OK || all_written(f);
    pthread_mutex_unlock(&f->lock);
    return s;
}

enum leat_status flow_take(struct flow *f, struct unit **out, struct leat_error *err)
{
    enum leat_status s;

    *out = NULL;
    pthread_mutex_lock(&f->lock);
    while (f->status == LEAT_OK && !has_room(f, f->lanes))
        pthread_cond_wait(&f->room, &f->lock);
    s = f->status;
    if (s != LEAT_OK && err)
        *err = f->error;
    if (s == LEAT_OK) {
        *out = spare_unit(f);
        if (*out) {
            (*out)->reserved = f->setup->unit_cost;
            f->in_flight += (*out)->reserved;
        } else {
            s = status_no_memory(err, sizeof **out);
        }
    }
    pthread_mutex_unlock(&f->lock);
    return s;
}

void flow_put(struct flow *f, struct unit *u)
{
    pthread_mutex_lock(&f->lock);
    lane_append(f->lanes, u);
    pthread_cond_signal(&f->work);
    pthread_mutex_unlock(&f->lock);
}

void flow_drop(struct flow *f, struct unit *u)
{
    uint64_t reserved = u->reserved;

    unit_clear(u, KEEP_BYTES);
    pthread_mutex_lock(&f->lock);
    f->in_flight -= reserved;
    u->next = f->spare;
    f->spare = u;
    pthread_mutex_unlock(&f->lock);
}

enum leat_status flow_drain(struct flow *f, struct leat_error *err)
{
    enum leat_status s;

    pthread_mutex_lock(&f->lock);
    while (f->status == LEAT_OK && f->lanes && (f->lanes->first || f->write_busy))
        pthread_cond_wait(&f->room, &f->lock);
    s = f->status;
    if (s != LEAT_OK && err)
        *err = f->error;
    pthread_mutex_unlock(&f->lock);
    return s;
}

void flow_stop(struct flow *f)
{
    pthread_mutex_lock(&f->lock);
    f->no_more = true;
    drop_lanes(f);
    pthread_cond_broadcast(&f->work);
    pthread_mutex_unlock(&f->lock);
}

void flow_facts(struct flow *f, struct flow_facts *facts)
{
    pthread_mutex_lock(&f->lock);
    *facts = f->facts;
    pthread_mutex_unlock(&f->lock);
}

void flow_free(struct flow *f)
{
    if (!f)
        return;
    pthread_mutex_lock(&f->lock);
    f->quit = true;
    pthread_cond_broadcast(&f->work);
    pthread_mutex_unlock(&f->lock);
    for (unsigned i = 0; i < f->thread_count; i++)
        pthread_join(f->threads[i], NULL);
    while (f->lanes) {
        struct lane *l = f->lanes;

        f->lanes = l->following;
        lane_free(l);
    }
    while (f->spare) {
        struct unit *u = f->spare;

        f->spare = u->next;
        unit_free(u);
    }
    pthread_cond_destroy(&f->room);
    pthread_cond_destroy(&f->ended);
    pthread_cond_destroy(&f->work);
    pthread_mutex_destroy(&f->lock);
    free(f->threads);
    free(f);
}
