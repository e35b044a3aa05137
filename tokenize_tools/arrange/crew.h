/*
 * crew.h: helpers that write. The caller reads and arranges documents, and gives each full batch its place, in order;
 * then a helper checks, copies, hashes and writes it. If all of them have enough to do, the caller does it.
 *
 * Functions are called by one thread at a time.
 *
 * A *job* is work of a merge that any thread may do: the one that arranges, or its *helpers*.
 */
#ifndef LEAT_ARRANGE_CREW_H
#define LEAT_ARRANGE_CREW_H

#include "batch.h"
#include "sorting/helpers.h"

struct crew {
    struct helpers helpers; /* for other jobs too */
    pthread_mutex_t lock;   /* for the rest: */
    struct batch *spare;
    unsigned waiting; /* batches that are to be put */
};

/* `threads`: as for helpers_begin(). */
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
