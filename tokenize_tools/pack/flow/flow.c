/* flow.c: see flow.h: how it begins and ends, and what others see; the work of threads: flow_choose.c, flow_do.c. */
#include "flow_internal.h"

#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/status.h"
#include "base/thread.h"
#include "pack_worker.h"

void flow_lock(struct flow *f)
{
    uint64_t began;

    if (pthread_mutex_trylock(&f->lock) == 0)
        return;
    began = clock_ns();
    pthread_mutex_lock(&f->lock);
    f->facts.lock_ns += clock_ns() - began;
}

static void *thread_main(void *context)
{
    struct flow *f = context;
    struct pack_worker w;
    struct leat_error err;
    enum leat_status s = pack_worker_make(&w, f->setup, &err);

    flow_lock(f);
    if (s != LEAT_OK)
        flow_fail(f, s, &err);
    while (!f->quit && !f->stopped && !flow_all_written(f)) {
        struct task t = flow_choose(f);

        if (f->quit)
            break;
        flow_do(f, &w, &t);
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

/* flow_wait() counts time by a clock that nobody sets. */
static void init_ended(pthread_cond_t *ended)
{
    pthread_condattr_t how;

    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_cond_init(ended, &how);
    pthread_condattr_destroy(&how);
}

enum leat_status flow_open(struct flow **out, struct pack_setup *setup, const struct lane_start *start,
                           const struct flow_output *output, struct leat_error *err)
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
    setup->stop = (struct input_stop) { reading_stopped, f };
    f->output = *output;
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
    init_ended(&f->ended);
    pthread_cond_init(&f->room, NULL);
    flow_lock(f); /* the first ones look at thread_count */
    while (s == LEAT_OK && f->thread_count < setup->threads) {
        int e = pthread_create(&f->threads[f->thread_count], NULL, thread_main, f);

        if (e != 0 && f->thread_count == 0)
            s = status_set_os(err, e, "cannot start a thread (" THREAD_LIMITS ")");
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

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += milliseconds / 1000;
    until.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    flow_lock(f);
    while (f->status == LEAT_OK && !flow_all_written(f))
        if (pthread_cond_timedwait(&f->ended, &f->lock, &until) != 0)
            break;
    s = f->status;
    if (s != LEAT_OK && err)
        *err = f->error;
    *ended = s != LEAT_OK || flow_all_written(f);
    pthread_mutex_unlock(&f->lock);
    return s;
}

enum leat_status flow_take(struct flow *f, struct unit **out, struct leat_error *err)
{
    enum leat_status s;

    *out = NULL;
    flow_lock(f);
    while (f->status == LEAT_OK && !flow_has_room(f, f->lanes))
        pthread_cond_wait(&f->room, &f->lock);
    s = f->status;
    if (s != LEAT_OK && err)
        *err = f->error;
    if (s == LEAT_OK) {
        *out = flow_spare_unit(f);
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
    flow_lock(f);
    lane_append(f->lanes, u);
    pthread_cond_signal(&f->work);
    pthread_mutex_unlock(&f->lock);
}

void flow_drop(struct flow *f, struct unit *u)
{
    uint64_t reserved = u->reserved;

    flow_clear_unit(f, u);
    flow_lock(f);
    flow_put_back(f, u, reserved);
    pthread_mutex_unlock(&f->lock);
}

enum leat_status flow_drain(struct flow *f, struct leat_error *err)
{
    enum leat_status s;

    flow_lock(f);
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
    flow_lock(f);
    f->no_more = true;
    atomic_store(&f->stop_reading, true);
    flow_drop_lanes(f);
    pthread_cond_broadcast(&f->work);
    pthread_mutex_unlock(&f->lock);
}

void flow_facts(struct flow *f, struct flow_facts *facts)
{
    flow_lock(f);
    *facts = f->facts;
    pthread_mutex_unlock(&f->lock);
}

void flow_free(struct flow *f)
{
    if (!f)
        return;
    flow_lock(f);
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
    free(f->threads);
    free(f);
}
