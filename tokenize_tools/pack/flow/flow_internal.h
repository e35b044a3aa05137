/*
 * flow_internal.h: what flow's threads share. One lock guards the lanes (inputs on their way) and their units. A thread
 * looks for a task under the lock (flow_choose.c) and does it without (flow_do.c).
 */
#ifndef LEAT_PACK_FLOW_INTERNAL_H
#define LEAT_PACK_FLOW_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "flow.h"

struct flow {
    struct pack_setup *setup;
    struct flow_output output;
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
    uint64_t in_flight;       /* memory counted for units that are not written */
    bool puts;                /* a program puts units: there is one lane, and nothing to cut */
    bool no_more;             /* flow_stop(): nothing more is cut */
    bool stopped;             /* flow_stop(), and all is written that was cut without a gap */
    bool quit;                /* threads end now */
    bool placing;             /* a thread gives a unit its place */
    unsigned putting;         /* threads that bring one there */
    atomic_bool stop_reading; /* for threads that wait for inputs without the lock */
    struct flow_facts facts;
    enum leat_status status;
    struct leat_error error;
};

/* What a thread has found to do. */
struct task {
    enum { TASK_NONE, TASK_WRITE, TASK_ENCODE, TASK_CUT, TASK_LOOK, TASK_DECOMPRESS } kind;
    struct lane *lane;
    struct unit *unit;
    struct span *span;
};

struct pack_worker;

/* ---- Choosing, under the lock: flow_choose.c ---- */

struct task flow_choose(struct flow *f);
bool flow_all_written(const struct flow *f);
bool flow_has_room(const struct flow *f, const struct lane *l);

/* Counts the memory of a lane's spans anew. */
void flow_count_spans(struct flow *f, struct lane *l);

/* Takes the lock, and counts for how long threads wait for each other here: with many of them it would show first. */
void flow_lock(struct flow *f);

/* ---- Doing: called and left with the lock held; flow_do.c ---- */

void flow_do(struct flow *f, struct pack_worker *w, struct task *t);

/* Ends the flow; the first failure is the one that counts. */
void flow_fail(struct flow *f, enum leat_status status, const struct leat_error *err);

/* Drops lanes at the head that have nothing left. */
void flow_drop_lanes(struct flow *f);

/* An empty unit, NULL without memory. */
struct unit *flow_spare_unit(struct flow *f);

/* Empties one, which may take a while: without the lock, if there is no hurry to have it back. */
void flow_clear_unit(const struct flow *f, struct unit *u);

/* Gives back an empty one, and the memory that was counted for it. */
void flow_put_back(struct flow *f, struct unit *u, uint64_t reserved);

#endif
