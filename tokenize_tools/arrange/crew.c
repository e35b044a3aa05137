/* crew.c: see crew.h. */
#include "crew.h"

#include <stdlib.h>

#include "base/status.h"
#include "base/thread.h"

#define STACK_BYTES ((size_t)256 << 10)
#define WAITING_MAX 2u /* batches for each thread */

static enum leat_status put(struct batch *b, struct leat_error *err)
{
    struct leat_documents d = batch_documents(b);

    return leat_writer_put(b->writer, &d, &b->place, err);
}

/* With the lock; NULL: it is time to end. */
static struct batch *wait_for_batch(struct crew *c)
{
    struct batch *b;

    while (!c->first && !c->ending)
        pthread_cond_wait(&c->work, &c->lock);
    b = c->first;
    if (!b)
        return NULL;
    c->first = b->next;
    if (!c->first)
        c->end = &c->first;
    c->waiting--;
    return b;
}

static void *thread_main(void *context)
{
    struct crew *c = context;
    struct batch *b;

    pthread_mutex_lock(&c->lock);
    while ((b = wait_for_batch(c)) != NULL) {
        pthread_mutex_unlock(&c->lock);
        put(b, NULL);
        crew_drop(c, b);
        pthread_mutex_lock(&c->lock);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

void crew_begin(struct crew *c, unsigned threads)
{
    unsigned helpers = (threads > 0 ? threads : thread_cpus()) - 1;

    *c = (struct crew) { .begun = true };
    c->end = &c->first;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->work, NULL);
    while (c->count < helpers && c->count < CREW_MAX)
        if (thread_start(&c->threads[c->count], STACK_BYTES, thread_main, c) != 0)
            break;
        else
            c->count++;
}

struct batch *crew_batch(struct crew *c, struct leat_writer *writer, uint32_t width, struct leat_error *err)
{
    struct batch *b;

    pthread_mutex_lock(&c->lock);
    b = c->spare;
    if (b)
        c->spare = b->next;
    pthread_mutex_unlock(&c->lock);
    if (!b)
        b = malloc(sizeof *b);
    if (b)
        batch_begin(b, writer, width);
    else
        status_no_memory(err, sizeof *b);
    return b;
}

enum leat_status crew_put(struct crew *c, struct batch *b, struct leat_error *err)
{
    struct leat_documents d = batch_documents(b);
    enum leat_status s = leat_writer_place(b->writer, &d, &b->place, err);
    bool given = false;

    if (s != LEAT_OK) {
        crew_drop(c, b);
        return s;
    }
    pthread_mutex_lock(&c->lock);
    if (c->waiting < WAITING_MAX * c->count) {
        b->next = NULL;
        *c->end = b;
        c->end = &b->next;
        c->waiting++;
        given = true;
        pthread_cond_signal(&c->work);
    }
    pthread_mutex_unlock(&c->lock);
    if (given)
        return LEAT_OK;
    s = put(b, err);
    crew_drop(c, b);
    return s;
}

void crew_drop(struct crew *c, struct batch *b)
{
    if (!b)
        return;
    pthread_mutex_lock(&c->lock);
    b->next = c->spare;
    c->spare = b;
    pthread_mutex_unlock(&c->lock);
}

void crew_end(struct crew *c)
{
    if (!c->begun)
        return;
    pthread_mutex_lock(&c->lock);
    c->ending = true;
    pthread_cond_broadcast(&c->work);
    pthread_mutex_unlock(&c->lock);
    for (unsigned i = 0; i < c->count; i++)
        pthread_join(c->threads[i], NULL);
    for (struct batch *b = c->spare, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    pthread_cond_destroy(&c->work);
    pthread_mutex_destroy(&c->lock);
    *c = (struct crew) { .begun = false };
}
