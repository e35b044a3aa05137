/* flow.c: has the threads of the packer, which choose a step and do it. */
#include "flow.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/status.h"
#include "base/thread.h"
#include "pack_worker.h"

/* ---- State ------------------------------------------------------------------------------------------------------- */

/*
 * The state that the threads share. One lock guards the lanes (inputs on their way) and their units. A thread looks for
 * a task under the lock (choose_task()) and does it without the lock.
 */

struct flow {
    struct pack_setup *setup;
    struct pack_output *output;
    struct lane_start start;

    pthread_mutex_t lock;
    pthread_cond_t work;  /* signals that there may be something to do */
    pthread_cond_t ended; /* signals the end, or a failure, to flow_wait() */
    pthread_cond_t room;  /* for flow_take() */
    pthread_t *threads;
    unsigned thread_count;

    struct lane *lanes, *last_lane; /* lanes in the order of the inputs */
    size_t lane_count, next_input;
    struct unit *spare;
    uint64_t in_flight;       /* memory that is counted for units which are not written */
    bool puts;                /* true if a program puts units: then there is one lane, and nothing to cut */
    bool no_more;             /* true after flow_stop(): nothing more is cut */
    bool stopped;             /* true if all is written that was cut without a gap before flow_stop() */
    bool quit;                /* threads end now */
    bool placing;             /* true while a thread gives a unit its place */
    unsigned putting;         /* number of threads that bring units to their places */
    atomic_bool stop_reading; /* tells threads that wait for inputs without the lock to stop */
    pthread_mutex_t waiting;  /* for these: */
    char waits[FLOW_WAITS];   /* why a thread waits; "": nothing is new */
    uint64_t waits_ns;        /* time of the last such notice; 0: none was given */
    struct flow_facts facts;
    enum leat_status status;
    struct leat_error error;
};

/* A task that a thread has found. */
struct task {
    enum { TASK_NONE, TASK_WRITE, TASK_ENCODE, TASK_CUT, TASK_LOOK, TASK_DECOMPRESS } kind;
    struct lane *lane;
    struct unit *unit;
    struct span *span;
};

/* Takes the lock, and measures how long threads wait for each other here. With many threads this lock would be the
 * first to slow them down. */
static void lock_flow(struct flow *f)
{
    uint64_t began;

    if (pthread_mutex_trylock(&f->lock) == 0)
        return;
    began = clock_ns();
    pthread_mutex_lock(&f->lock);
    f->facts.lock_ns += clock_ns() - began;
}

/* Ends the flow, whose lock is held. The first failure is the one that counts. */
static void fail_flow(struct flow *f, enum leat_status status, const struct leat_error *err)
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

/* ---- Choosing a step --------------------------------------------------------------------------------------------- */

/*
 * The choice of a thread's next task. The first lane's units are written as soon as they are encoded, the first unit
 * that nobody has taken is encoded, a lane that has room is cut, and a thread that would have nothing to do
 * decompresses ahead. Memory is counted when a unit is cut and given back when it is written. The first lane may
 * always go on, since the units after it cannot be written before its own.
 */

static bool all_written(const struct flow *f)
{
    bool all_placed = f->stopped || (!f->lanes && (f->puts || f->next_input == f->setup->inputs.count));

    return all_placed && !f->placing && f->putting == 0;
}

/*
 * Returns true if the lane may take more memory. The first lane can always go on, since the units after it cannot be
 * written before its own. Other lanes take at most half; of an input that is split, one more lane begins than there
 * are threads.
 */
static bool has_room(const struct flow *f, const struct lane *l)
{
    uint64_t after = f->in_flight + f->setup->unit_cost;

    if (l == f->lanes)
        return !l->first || after <= f->setup->flight_bytes;
    if (!l->begun && f->lane_count > f->thread_count + 1)
        return false;
    return after <= f->setup->flight_bytes / 2;
}

static bool find_ready(const struct flow *f, struct task *t)
{
    for (struct lane *l = f->lanes; l; l = l->following) {
        struct unit *u = l->waiting > 0 ? l->first : NULL;

        while (u && u->flow.taken)
            u = u->next;
        if (u) {
            *t = (struct task) { TASK_ENCODE, l, u, NULL };
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

        fail_flow(f, status_no_memory(&err, sizeof *l), &err);
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

/* Returns true if a thread that cuts now would wait for one that decompresses. */
static bool would_wait(const struct flow *f, const struct lane *l)
{
    return l->spans && byte_stream_waits(l->stream, f->setup->unit_bytes);
}

static bool find_cut(struct flow *f, struct task *t)
{
    struct lane *l = f->no_more || f->puts ? NULL : f->lanes;

    while (l && (l->busy || l->whole || (l->alone && l != f->lanes) || !has_room(f, l) || would_wait(f, l)))
        l = l->following;
    if (!l)
        l = next_lane(f);
    if (!l || (l->alone && l != f->lanes))
        return false;
    *t = (struct task) { TASK_CUT, l, NULL, NULL };
    return true;
}

/* Counts the memory of a lane's spans anew. */
static void count_spans(struct flow *f, struct lane *l)
{
    uint64_t held = l->spans ? spans_memory(l->spans) : 0;

    f->in_flight += held - l->spans_held;
    l->spans_held = held;
}

/* Finds something to decompress ahead, for a thread that would have nothing to do, with memory that units leave. */
static bool find_ahead(struct flow *f, struct task *t)
{
    uint64_t most = f->setup->flight_bytes / 2;

    for (struct lane *l = f->no_more ? NULL : f->lanes; l; l = l->following) {
        struct span *span = NULL;
        enum spans_work work = SPANS_NOTHING;

        if (l->spans)
            work = spans_claim(l->spans, most > f->in_flight ? most - f->in_flight : 0, &span);
        if (work == SPANS_NOTHING)
            continue;
        count_spans(f, l);
        *t = (struct task) { work == SPANS_LOOK ? TASK_LOOK : TASK_DECOMPRESS, l, NULL, span };
        return true;
    }
    return false;
}

static struct task choose_task(struct flow *f)
{
    struct task ready = { 0 }, t = { 0 };

    if (!f->placing && f->lanes && f->lanes->first && f->lanes->first->flow.done)
        return (struct task) { TASK_WRITE, f->lanes, f->lanes->first, NULL };
    /* Waiting threads were woken for the units that are ready; this thread keeps cutting for them. */
    if (find_ready(f, &ready) && f->facts.waiting == 0)
        return ready;
    if (find_cut(f, &t))
        return t;
    if (ready.kind == TASK_NONE && !f->quit) /* a claimed task must be done, but find_cut() may have failed */
        find_ahead(f, &ready);
    return ready;
}

/* ---- Doing it ---------------------------------------------------------------------------------------------------- */

/* The tasks that choose_task() finds. Each begins and ends under the lock. */

/* A unit that is used again keeps buffers of up to this many times the bytes of its text: one byte may become an id
 * of four bytes. */
#define KEEP_TIMES 4

/* Drops lanes at the head of the list that have no work left. */
static void drop_lanes(struct flow *f)
{
    while (f->lanes && !f->lanes->first && !f->lanes->busy && f->lanes->whole) {
        struct lane *l = f->lanes;

        f->lanes = l->following;
        if (!f->lanes)
            f->last_lane = NULL;
        f->lane_count--;
        f->in_flight -= l->held + l->spans_held;
        if (l->cut_ns > f->facts.longest_cut.cut_ns)
            f->facts.longest_cut = (struct flow_cut) { l->input, l->cut_ns, l->decompress_ns, l->waited_ns };
        lane_free(l);
    }
    /* It stopped inside the first lane: units of later lanes must not be written before the rest of it. */
    if (f->no_more && !(f->lanes && (f->lanes->first || f->lanes->busy)))
        f->stopped = true;
    if (all_written(f)) {
        pthread_cond_broadcast(&f->ended);
        pthread_cond_broadcast(&f->work);
    }
}

/* Returns an empty unit, or NULL if there is no memory. */
static struct unit *spare_unit(struct flow *f)
{
    struct unit *u = f->spare;

    if (!u)
        return unit_new();
    f->spare = u->next;
    u->next = NULL;
    return u;
}

/* Empties a unit, which may take a while: without the lock, if it is not needed back at once. */
static void clear_unit(const struct flow *f, struct unit *u)
{
    unit_clear(u, (size_t)f->setup->unit_bytes * KEEP_TIMES);
}

/* Gives an empty unit back, and the memory that was counted for it. */
static void put_back(struct flow *f, struct unit *u, uint64_t reserved)
{
    f->in_flight -= reserved;
    u->next = f->spare;
    f->spare = u;
}

/* Puts the lane that a cut has split off after the lane that it was cut from. */
static void take_rest(struct flow *f, struct lane *l)
{
    struct lane *rest = l->rest;

    if (!rest)
        return;
    l->rest = NULL;
    rest->following = l->following;
    l->following = rest;
    if (f->last_lane == l)
        f->last_lane = rest;
    f->lane_count++;
    f->in_flight += rest->held;
}

/* Wakes one thread, or several, for new work. */
static void wake_some(struct flow *f, bool several)
{
    if (f->facts.waiting > 1 && several)
        pthread_cond_broadcast(&f->work);
    else
        pthread_cond_signal(&f->work);
}

/* Puts a lane off until its turn: its input needs more memory than others leave it. */
static void put_off(struct flow *f, struct lane *l, struct unit *u)
{
    uint64_t reserved = u->flow.reserved;

    l->alone = true;
    spans_release(l->spans);
    l->spans = NULL;
    count_spans(f, l);
    clear_unit(f, u);
    put_back(f, u, reserved);
    drop_lanes(f); /* the first lane may be at its end now */
    pthread_cond_broadcast(&f->work);
}

/* Gives a unit its place, in turn. */
static void do_place(struct flow *f, struct unit *u)
{
    struct leat_error err = u->error;
    enum leat_status s;

    f->placing = true;
    f->facts.units++;
    pthread_mutex_unlock(&f->lock);
    s = u->status == LEAT_OK ? pack_output_place(f->output, u, &err) : u->status;
    lock_flow(f);
    f->placing = false;
    f->putting++;
    if (s != LEAT_OK)
        fail_flow(f, s, &err); /* before another thread can have its turn */
    pthread_cond_broadcast(&f->work);
}

static void do_write(struct flow *f, struct task *t)
{
    struct unit *u = t->unit;
    struct leat_error err;
    enum leat_status s;
    uint64_t reserved;

    t->lane->first = u->next;
    if (!u->next)
        t->lane->last = NULL;
    f->facts.writing++;
    do_place(f, u);
    pthread_mutex_unlock(&f->lock);
    s = pack_output_put(f->output, u, &err); /* even after a failure: what has a place must be put */
    reserved = u->flow.reserved;
    clear_unit(f, u);
    lock_flow(f);
    f->putting--;
    f->facts.writing--;
    put_back(f, u, reserved);
    if (s != LEAT_OK) {
        fail_flow(f, s, &err);
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

    u->flow.taken = true;
    u->flow.turn = t->lane == f->lanes;
    t->lane->waiting--;
    f->facts.encoding++;
    pthread_mutex_unlock(&f->lock);
    pack_worker_run(w, u, t->lane->fd);
    reserved = unit_bytes(u);
    lock_flow(f);
    f->facts.encoding--;
    if (u->flow.later) {
        lane_restart(t->lane);
        put_off(f, t->lane, u);
        return;
    }
    f->in_flight = f->in_flight - u->flow.reserved + reserved;
    u->flow.reserved = reserved;
    u->flow.done = true;
    if (f->facts.waiting > 0) /* there may be room again */
        pthread_cond_broadcast(&f->work);
}

static void do_cut(struct flow *f, struct task *t)
{
    struct unit *u = spare_unit(f);
    struct lane *l = t->lane;
    uint64_t held = l->held;
    bool cut;

    if (!u) {
        struct leat_error err;

        fail_flow(f, status_no_memory(&err, sizeof *u), &err);
        return;
    }
    l->begun = l->busy = true;
    l->turn = l == f->lanes;
    u->flow.reserved = f->setup->unit_cost;
    f->in_flight += u->flow.reserved;
    f->facts.cutting++;
    pthread_mutex_unlock(&f->lock);
    cut = lane_cut(l, u);
    lock_flow(f);
    f->facts.cutting--;
    f->in_flight += l->held - held;
    l->busy = false;
    take_rest(f, l);
    if (!cut) {
        put_off(f, l, u);
        return;
    }
    l->whole = l->ended;
    if (l->stream && !l->spans && byte_stream_spans(l->stream)) {
        l->spans = byte_stream_spans(l->stream);
        spans_hold(l->spans);
    }
    count_spans(f, l);
    lane_append(l, u);
    wake_some(f, l->spans);
}

/* Does work for threads that do not cut. Its lane may be gone before it is done. */
static void do_ahead(struct flow *f, struct task *t)
{
    struct spans *spans = t->lane->spans;
    uint64_t began = clock_cpu_ns();

    spans_hold(spans);
    if (t->kind == TASK_DECOMPRESS) /* Another thread may look for the next span meanwhile. */
        wake_some(f, true);
    pthread_mutex_unlock(&f->lock);
    if (t->kind == TASK_LOOK)
        spans_look(spans);
    else
        spans_decompress(spans, t->span);
    spans_release(spans);
    lock_flow(f);
    f->facts.ahead_ns += clock_cpu_ns() - began;
    wake_some(f, true);
}

/* Sleeps until there may be something to do. If only one input is being cut, the time counts as waiting for this
 * input. */
static void wait_for_work(struct flow *f)
{
    uint64_t began = clock_ns();
    size_t input = SIZE_MAX;

    for (const struct lane *l = f->lanes; l && f->facts.cutting == 1; l = l->following)
        input = l->busy ? l->input : input;
    f->facts.waiting++;
    pthread_cond_wait(&f->work, &f->lock);
    f->facts.waiting--;
    for (struct lane *l = f->lanes; l; l = l->following)
        l->waited_ns += l->input == input ? clock_ns() - began : 0;
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

static void *thread_main(void *context)
{
    struct flow *f = context;
    struct pack_worker w;
    struct leat_error err;
    enum leat_status s = pack_worker_make(&w, f->setup, &err);

    lock_flow(f);
    if (s != LEAT_OK)
        fail_flow(f, s, &err);
    while (!f->quit && !f->stopped && !all_written(f)) {
        struct task t = choose_task(f);

        if (f->quit)
            break;
        switch (t.kind) {
        case TASK_WRITE:
            do_write(f, &t);
            break;
        case TASK_ENCODE:
            do_encode(f, &w, &t);
            break;
        case TASK_CUT:
            do_cut(f, &t);
            break;
        case TASK_LOOK:
        case TASK_DECOMPRESS:
            do_ahead(f, &t);
            break;
        case TASK_NONE:
            wait_for_work(f);
        }
    }
    pthread_mutex_unlock(&f->lock);
    pack_worker_free(&w);
    return NULL;
}

static bool reading_stopped(void *context)
{
    struct flow *f = context;

    return atomic_load_explicit(&f->stop_reading, memory_order_relaxed);
}

#define WAITS_NS ((uint64_t)60000000000)

static void reading_waits(void *context, const char *why)
{
    struct flow *f = context;
    uint64_t now = clock_ns();

    pthread_mutex_lock(&f->waiting);
    if (f->waits_ns == 0 || now - f->waits_ns >= WAITS_NS) {
        f->waits_ns = now;
        snprintf(f->waits, sizeof f->waits, "%s", why);
    }
    pthread_mutex_unlock(&f->waiting);
}

bool flow_waits(struct flow *f, char why[FLOW_WAITS])
{
    pthread_mutex_lock(&f->waiting);
    memcpy(why, f->waits, sizeof f->waits);
    f->waits[0] = '\0';
    pthread_mutex_unlock(&f->waiting);
    return why[0] != '\0';
}

/* Makes `ended` wait by a clock that nobody sets, since flow_wait() has a time limit. */
static void init_ended(pthread_cond_t *ended)
{
    pthread_condattr_t how;

    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_cond_init(ended, &how);
    pthread_condattr_destroy(&how);
}

enum leat_status flow_open(struct flow **out, struct pack_setup *setup, const struct lane_start *start,
                           struct pack_output *output, struct leat_error *err)
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
    setup->stop = (struct input_stop) { reading_stopped, f, reading_waits };
    f->output = output;
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
    pthread_mutex_init(&f->waiting, NULL);
    pthread_cond_init(&f->work, NULL);
    init_ended(&f->ended);
    pthread_cond_init(&f->room, NULL);
    lock_flow(f); /* the first ones look at thread_count */
    while (s == LEAT_OK && f->thread_count < setup->threads) {
        int e = pthread_create(&f->threads[f->thread_count], NULL, thread_main, f);

        if (e != 0 && f->thread_count == 0)
            s = status_set_os(err, e, NULL, "cannot start a thread (" THREAD_LIMITS ")");
        if (e != 0)
            break; /* the threads that did start do all of the work */
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

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += milliseconds / 1000;
    until.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    lock_flow(f);
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
    lock_flow(f);
    while (f->status == LEAT_OK && !has_room(f, f->lanes))
        pthread_cond_wait(&f->room, &f->lock);
    s = f->status;
    if (s != LEAT_OK && err)
        *err = f->error;
    if (s == LEAT_OK) {
        *out = spare_unit(f);
        if (*out) {
            (*out)->flow.reserved = f->setup->unit_cost;
            f->in_flight += (*out)->flow.reserved;
        } else {
            s = status_no_memory(err, sizeof **out);
        }
    }
    pthread_mutex_unlock(&f->lock);
    return s;
}

void flow_put(struct flow *f, struct unit *u)
{
    lock_flow(f);
    lane_append(f->lanes, u);
    pthread_cond_signal(&f->work);
    pthread_mutex_unlock(&f->lock);
}

void flow_drop(struct flow *f, struct unit *u)
{
    uint64_t reserved = u->flow.reserved;

    clear_unit(f, u);
    lock_flow(f);
    put_back(f, u, reserved);
    pthread_mutex_unlock(&f->lock);
}

enum leat_status flow_drain(struct flow *f, struct leat_error *err)
{
    enum leat_status s;

    lock_flow(f);
    while (f->status == LEAT_OK && f->lanes && (f->lanes->first || f->placing || f->putting > 0))
        pthread_cond_wait(&f->room, &f->lock);
    s = f->status;
    if (s != LEAT_OK && err)
        *err = f->error;
    pthread_mutex_unlock(&f->lock);
    return s;
}

void flow_stop(struct flow *f)
{
    lock_flow(f);
    f->no_more = true;
    atomic_store(&f->stop_reading, true);
    drop_lanes(f);
    pthread_cond_broadcast(&f->work);
    pthread_mutex_unlock(&f->lock);
}

void flow_facts(struct flow *f, struct flow_facts *facts)
{
    lock_flow(f);
    *facts = f->facts;
    pthread_mutex_unlock(&f->lock);
}

void flow_free(struct flow *f)
{
    if (!f)
        return;
    lock_flow(f);
    f->quit = true;
    atomic_store(&f->stop_reading, true);
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
    pthread_mutex_destroy(&f->waiting);
    free(f->threads);
    free(f);
}
