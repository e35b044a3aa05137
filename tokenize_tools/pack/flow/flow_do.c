/* flow_do.c: the work that flow_choose() has found, see flow_internal.h. Begins and ends under the lock. */
#include "flow_internal.h"

#include "base/clock.h"
#include "base/status.h"
#include "pack_worker.h"

/* A unit that is used again keeps buffers of up to so many times a unit's text: ids of four bytes for each. */
#define KEEP_TIMES 4

void flow_fail(struct flow *f, enum leat_status status, const struct leat_error *err)
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

void flow_drop_lanes(struct flow *f)
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
    /* stopped inside the head: later units must not be written before the rest of it */
    if (f->no_more && !(f->lanes && (f->lanes->first || f->lanes->busy)))
        f->stopped = true;
    if (flow_all_written(f)) {
        pthread_cond_broadcast(&f->ended);
        pthread_cond_broadcast(&f->work);
    }
}

struct unit *flow_spare_unit(struct flow *f)
{
    struct unit *u = f->spare;

    if (!u)
        return unit_new();
    f->spare = u->next;
    u->next = NULL;
    return u;
}

void flow_clear_unit(const struct flow *f, struct unit *u)
{
    unit_clear(u, (size_t)f->setup->unit_bytes * KEEP_TIMES);
}

void flow_put_back(struct flow *f, struct unit *u, uint64_t reserved)
{
    f->in_flight -= reserved;
    u->next = f->spare;
    f->spare = u;
}

/* What a cut has split off a lane follows it. */
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

/* For one more thing to do, or several. */
static void wake_some(struct flow *f, bool several)
{
    if (f->facts.waiting > 1 && several)
        pthread_cond_broadcast(&f->work);
    else
        pthread_cond_signal(&f->work);
}

/* The lane's input needs more memory than others leave it: it waits for its turn. */
static void put_off(struct flow *f, struct lane *l, struct unit *u)
{
    uint64_t reserved = u->reserved;

    l->alone = true;
    spans_release(l->spans);
    l->spans = NULL;
    flow_count_spans(f, l);
    flow_clear_unit(f, u);
    flow_put_back(f, u, reserved);
    flow_drop_lanes(f); /* which may be at a stop now */
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
    s = u->status == LEAT_OK ? f->output.place(f->output.context, u, &err) : u->status;
    flow_lock(f);
    f->placing = false;
    f->putting++;
    if (s != LEAT_OK)
        flow_fail(f, s, &err); /* before another thread can have its turn */
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
    s = f->output.put(f->output.context, u, &err); /* even after a failure: what has a place must be put */
    reserved = u->reserved;
    flow_clear_unit(f, u);
    flow_lock(f);
    f->putting--;
    f->facts.writing--;
    flow_put_back(f, u, reserved);
    if (s != LEAT_OK) {
        flow_fail(f, s, &err);
        return;
    }
    flow_drop_lanes(f);
    pthread_cond_broadcast(&f->work);
    pthread_cond_broadcast(&f->room);
}

static void do_encode(struct flow *f, struct pack_worker *w, struct task *t)
{
    struct unit *u = t->unit;
    uint64_t reserved;

    u->taken = true;
    u->turn = t->lane == f->lanes;
    t->lane->waiting--;
    f->facts.encoding++;
    pthread_mutex_unlock(&f->lock);
    pack_worker_run(w, u, t->lane->fd);
    reserved = unit_bytes(u);
    flow_lock(f);
    f->facts.encoding--;
    if (u->later) {
        lane_restart(t->lane);
        put_off(f, t->lane, u);
        return;
    }
    f->in_flight = f->in_flight - u->reserved + reserved;
    u->reserved = reserved;
    u->done = true;
    if (f->facts.waiting > 0) /* there may be room again */
        pthread_cond_broadcast(&f->work);
}

static void do_cut(struct flow *f, struct task *t)
{
    struct unit *u = flow_spare_unit(f);
    struct lane *l = t->lane;
    uint64_t held = l->held;
    bool cut;

    if (!u) {
        struct leat_error err;

        flow_fail(f, status_no_memory(&err, sizeof *u), &err);
        return;
    }
    l->begun = l->busy = true;
    l->turn = l == f->lanes;
    u->reserved = f->setup->unit_cost;
    f->in_flight += u->reserved;
    f->facts.cutting++;
    pthread_mutex_unlock(&f->lock);
    cut = lane_cut(l, u);
    flow_lock(f);
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
    flow_count_spans(f, l);
    lane_append(l, u);
    wake_some(f, l->spans);
}

/* Work for threads that do not cut; its lane may be gone before it is done. */
static void do_ahead(struct flow *f, struct task *t)
{
    struct spans *spans = t->lane->spans;
    uint64_t began = clock_cpu_ns();

    spans_hold(spans);
    if (t->kind == TASK_DECOMPRESS) /* another thread may look for the next one */
        wake_some(f, true);
    pthread_mutex_unlock(&f->lock);
    if (t->kind == TASK_LOOK)
        spans_look(spans);
    else
        spans_decompress(spans, t->span);
    spans_release(spans);
    flow_lock(f);
    f->facts.ahead_ns += clock_cpu_ns() - began;
    wake_some(f, true);
}

/* Sleeps until there may be something to do. If only one input is being cut, it is what the thread waits for. */
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

void flow_do(struct flow *f, struct pack_worker *w, struct task *t)
{
    switch (t->kind) {
    case TASK_WRITE:
        do_write(f, t);
        break;
    case TASK_ENCODE:
        do_encode(f, w, t);
        break;
    case TASK_CUT:
        do_cut(f, t);
        break;
    case TASK_LOOK:
    case TASK_DECOMPRESS:
        do_ahead(f, t);
        break;
    case TASK_NONE:
        wait_for_work(f);
    }
}
