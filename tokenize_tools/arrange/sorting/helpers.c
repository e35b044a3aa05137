/* helpers.c: a queue of jobs under one lock, and the threads that run them. */
#include "helpers.h"

#include "base/thread.h"

#define STACK_BYTES ((size_t)256 << 10)

/* Takes the job `j`, or the first one if `j` is NULL, out of the queue. Returns NULL if it is not in the queue. The
 * caller holds the lock. */
static struct job *take_job(struct helpers *h, const struct job *j)
{
    struct job **link = &h->first, *taken;

    while (*link && j && *link != j)
        link = &(*link)->next;
    taken = *link;
    if (!taken)
        return NULL;
    *link = taken->next;
    if (!taken->next)
        h->end = link;
    taken->state = JOB_RUNS;
    return taken;
}

static void *thread_main(void *context)
{
    struct helpers *h = context;

    pthread_mutex_lock(&h->lock);
    for (;;) {
        struct job *j;
        bool own;

        while (!h->first && !h->ending)
            pthread_cond_wait(&h->work, &h->lock);
        j = take_job(h, NULL);
        if (!j)
            break;
        own = j->own;
        pthread_mutex_unlock(&h->lock);
        j->run(j);
        pthread_mutex_lock(&h->lock);
        if (own)
            continue;
        j->state = JOB_DONE;
        pthread_cond_signal(&h->done);
    }
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

void helpers_begin(struct helpers *h, unsigned threads)
{
    unsigned count = (threads > 0 ? threads : thread_cpus()) - 1;

    *h = (struct helpers) { .begun = true };
    h->end = &h->first;
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->work, NULL);
    pthread_cond_init(&h->done, NULL);
    while (h->count < count && h->count < HELPERS_MAX)
        if (thread_start(&h->threads[h->count], STACK_BYTES, thread_main, h) != 0)
            break;
        else
            h->count++;
}

static void queue_job(struct helpers *h, struct job *j, bool own)
{
    j->state = JOB_WAITS;
    j->own = own;
    j->next = NULL;
    if (helpers_count(h) == 0)
        return;
    pthread_mutex_lock(&h->lock);
    *h->end = j;
    h->end = &j->next;
    pthread_cond_signal(&h->work);
    pthread_mutex_unlock(&h->lock);
}

void helpers_give(struct helpers *h, struct job *j)
{
    queue_job(h, j, false);
}

void helpers_give_away(struct helpers *h, struct job *j)
{
    queue_job(h, j, true);
}

void helpers_wait(struct helpers *h, struct job *j)
{
    bool mine;

    if (helpers_count(h) == 0) {
        mine = j->state == JOB_WAITS;
    } else {
        pthread_mutex_lock(&h->lock);
        mine = j->state == JOB_WAITS && take_job(h, j);
        while (!mine && j->state != JOB_DONE)
            pthread_cond_wait(&h->done, &h->lock);
        pthread_mutex_unlock(&h->lock);
    }
    if (!mine)
        return;
    j->run(j);
    j->state = JOB_DONE;
}

void helpers_drop(struct helpers *h, struct job *j)
{
    if (helpers_count(h) == 0) {
        j->state = JOB_DONE;
        return;
    }
    pthread_mutex_lock(&h->lock);
    if (j->state == JOB_WAITS && take_job(h, j))
        j->state = JOB_DONE;
    while (j->state != JOB_DONE)
        pthread_cond_wait(&h->done, &h->lock);
    pthread_mutex_unlock(&h->lock);
}

void helpers_end(struct helpers *h)
{
    if (!h->begun)
        return;
    pthread_mutex_lock(&h->lock);
    h->ending = true;
    pthread_cond_broadcast(&h->work);
    pthread_mutex_unlock(&h->lock);
    for (unsigned i = 0; i < h->count; i++)
        pthread_join(h->threads[i], NULL);
    pthread_cond_destroy(&h->done);
    pthread_cond_destroy(&h->work);
    pthread_mutex_destroy(&h->lock);
    *h = (struct helpers) { .begun = false };
}
