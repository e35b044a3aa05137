/*
 * helpers.h: threads that do jobs for the one that arranges documents: what can be done ahead (reading, comparing
 * hashes, sorting) or later (writing). Who needs the result of a job that nobody has begun does it itself; so without
 * helpers all is done too, in turn.
 *
 * A *job* is work of a merge that any thread may do: the one that arranges, or its *helpers*. Functions are called by
 * one thread at a time, never by a job.
 */
#ifndef LEAT_ARRANGE_HELPERS_H
#define LEAT_ARRANGE_HELPERS_H

#include <pthread.h>
#include <stdbool.h>

#define HELPERS_MAX 4u /* one thread arranges as much as some four read and write */

/* A job is a part of the struct that it works on, and keeps its result there. A zeroed one is done. */
struct job {
    void (*run)(struct job *j);
    struct job *next;
    enum { JOB_DONE, JOB_WAITS, JOB_RUNS } state;
    bool own; /* nobody waits for it: when it is run, it is no longer the helpers' */
};

struct helpers {
    pthread_t threads[HELPERS_MAX];
    unsigned count;
    pthread_mutex_t lock; /* for the rest: */
    pthread_cond_t work, done;
    struct job *first, **end;
    bool begun, ending;
};

/* `threads` in all, with the caller's; 0: as many as the process has CPUs to run on. If some cannot be started, there
 * are fewer. */
void helpers_begin(struct helpers *h, unsigned threads);

/* How many there are; NULL or a zeroed struct: none. */
static inline unsigned helpers_count(const struct helpers *h)
{
    return h ? h->count : 0;
}

/* Gives the job to a helper; without helpers, it is done when somebody waits for it. */
void helpers_give(struct helpers *h, struct job *j);

/* Waits until the job is done, or does it. */
void helpers_wait(struct helpers *h, struct job *j);

/* The job's result is not needed any more: it is not begun, or waited for if it has been. */
void helpers_drop(struct helpers *h, struct job *j);

/* Like helpers_give(), for a job that nobody waits for; only if there are helpers. */
void helpers_give_away(struct helpers *h, struct job *j);

/* Waits until everything is done, and ends the threads. A zeroed struct is fine. */
void helpers_end(struct helpers *h);

#endif
