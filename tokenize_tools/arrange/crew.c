/* crew.c: see crew.h. */
#include "crew.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/status.h"

#define WAITING_MAX 2u /* batches for each helper */

static enum leat_status put(struct batch *b, struct leat_error *err)
{
    struct leat_documents d = batch_documents(b);

    return leat_writer_put(b->writer, &d, &b->place, err);
}

static void put_job(struct job *j)
{
    struct batch *b = (void *)((char *)j - offsetof(struct batch, job));
    struct crew *c = b->crew;

    pthread_mutex_lock(&c->lock);
    c->waiting--;
    pthread_mutex_unlock(&c->lock);
    put(b, NULL);
    crew_drop(c, b);
}

void crew_begin(struct crew *c, unsigned threads)
{
    *c = (struct crew) { .spare = NULL };
    pthread_mutex_init(&c->lock, NULL);
    helpers_begin(&c->helpers, threads);
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
    if (!b) {
        status_no_memory(err, sizeof *b);
        return NULL;
    }
    batch_begin(b, writer, width);
    b->crew = c;
    return b;
}

enum leat_status crew_put(struct crew *c, struct batch *b, struct leat_error *err)
{
    struct leat_documents d = batch_documents(b);
    enum leat_status s = leat_writer_place(b->writer, &d, &b->place, err);
    bool given;

    if (s != LEAT_OK) {
        crew_drop(c, b);
        return s;
    }
    pthread_mutex_lock(&c->lock);
    given = c->waiting < WAITING_MAX * c->helpers.count;
    c->waiting += given;
    pthread_mutex_unlock(&c->lock);
    if (given) {
        b->job.run = put_job;
        helpers_give_away(&c->helpers, &b->job);
        return LEAT_OK;
    }
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
    if (!c->helpers.begun)
        return;
    helpers_end(&c->helpers);
    for (struct batch *b = c->spare, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    pthread_mutex_destroy(&c->lock);
    *c = (struct crew) { .spare = NULL };
}
