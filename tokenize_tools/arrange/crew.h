/*
 * crew.h: threads that write. The caller reads and arranges documents, and gives each full batch its place, in order;
 * then a thread of the crew checks, copies, hashes and writes it. If all of them have enough to do, the caller does it.
 *
 * Functions are called by one thread at a time.
 */
#ifndef LEAT_ARRANGE_CREW_H
#define LEAT_ARRANGE_CREW_H

#include <pthread.h>

#include "batch.h"

#define CREW_MAX 4u /* one thread reads as much as some four write */

struct crew {
    pthread_t threads[CREW_MAX];
    unsigned count;
    pthread_mutex_t lock; /* for the rest: */
    pthread_cond_t work;
    struct batch *first, **end, *spare;
    unsigned waiting; /* batches in the queue */
    bool begun, ending;
};

/* `threads` in all, with the caller's; 0: as many as the process has CPUs to run on. If some cannot be started, there
 * are fewer. */
void crew_begin(struct crew *c, unsigned threads);

/* An empty batch. NULL: no memory. */
struct batch *crew_batch(struct crew *c, struct leat_writer *writer, uint32_t width, struct leat_error *err);

/* Gives the batch's documents their place, and puts them, sooner or later; the batch has no open document, and is the
 * crew's again. If putting fails in another thread, the writer fails, which says why when it is used next. */
enum leat_status crew_put(struct crew *c, struct batch *b, struct leat_error *err);

/* For a batch that is not to be put; NULL is fine. */
void crew_drop(struct crew *c, struct batch *b);

/* Waits until everything is put, and ends the threads. A zeroed struct is fine. */
void crew_end(struct crew *c);

#endif
