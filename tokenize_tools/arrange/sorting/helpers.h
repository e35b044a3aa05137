/*
 * helpers.h: threads that do jobs for the thread that arranges documents: ahead of it (reading, comparing hashes,
 * sorting) or after it (writing). A caller that waits for a job which no helper has begun does the job itself, so
 * everything is also done without helpers.
 *
 * A *job* is work of a merge that any thread may do: the one that arranges, or its *helpers*. Functions are called by
 * one thread at a time, never by a job.
 */
#ifndef LEAT_ARRANGE_HELPERS_H
#define LEAT_ARRANGE_HELPERS_H

#include <pthread.h>
#include <stdbool.h>

#define HELPERS_MAX 4u /* one thread arranges as much as about four threads read and write */

/* A job is a member of the struct that it works on, and keeps its result there. A zeroed job is done. */
struct job {
    void (*run)(struct job *j);
    struct job *next;
    enum { JOB_DONE, JOB_WAITS, JOB_RUNS } state;
    bool own; /* true if nobody waits for it: it may be freed while it runs */
};

struct helpers {
    pthread_t threads[HELPERS_MAX];
    unsigned count;
    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t work, done;
    struct job *first, **end;
    bool begun, ending;
};

/* Starts helpers, so that with the caller there are `threads` threads; 0 means one thread per CPU that the process may
 * use. There are fewer helpers if some threads cannot be started. */
void helpers_begin(struct helpers *h, unsigned threads);

/* Returns the number of helpers; 0 for NULL and for a zeroed struct. */
static inline unsigned helpers_count(const struct helpers *h)
{
    return h ? h->count : 0;
}

/* Queues the job for the helpers. Without helpers, it is done when somebody waits for it. */
void helpers_give(struct helpers *h, struct job *j);

/* Waits until the job is done, or does it if no helper has begun it. */
void helpers_wait(struct helpers *h, struct job *j);

/* Takes back a job whose result is not needed. Waits for its end if a helper has begun it. */
void helpers_drop(struct helpers *h, struct job *j);

/* Queues a job that nobody waits for. There must be helpers. */
void helpers_give_away(struct helpers *h, struct job *j);

/* Waits until all jobs are done, and ends the threads. A zeroed struct is fine. */
void helpers_end(struct helpers *h);

#endif
