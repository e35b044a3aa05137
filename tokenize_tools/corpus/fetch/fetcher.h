/* fetcher.h: the structs of a fetcher: its queues of ranges, and its objects. */
#ifndef LEAT_CORPUS_FETCHER_H
#define LEAT_CORPUS_FETCHER_H

#include <pthread.h>
#include <stdatomic.h>

#include "fetch.h"
#include "remote/remote.h"

struct fetch_object {
    struct fetcher *by;
    struct url url;
    struct remote_object found;
    bool known;
    char *moved;   /* URL at which the Hub keeps it; NULL if it is not known, or not on the Hub */
    uint8_t *head; /* first bytes, which came when it was looked up; may be NULL */
    size_t head_bytes;
};

enum range_state { RANGE_WANTED, RANGE_UNDER_WAY, RANGE_READY, RANGE_FAILED };

/* Some bytes of an object, on their way. */
struct fetch_range {
    struct transfer transfer; /* transfer, whose context is the range */
    struct fetch_object *object;
    uint64_t at, count;
    uint8_t *bytes;
    size_t room;
    enum range_state state;
    struct fetch_range *next;
};

struct fetcher {
    struct remote *remote; /* client, used by the thread alone once that has started */
    uint64_t window;
    const struct input_stop *stop; /* the stop of the caller that finds objects */

    pthread_mutex_t lock;
    pthread_cond_t work; /* wakes the thread, which has something to do */
    pthread_cond_t done; /* wakes readers: a range is ready, or has failed */
    pthread_t thread;
    bool started, quit;
    atomic_bool attention; /* true if the thread must look at its queues */
    struct fetch_range *wanted, *last_wanted, *dropped;
    size_t under_way;
    char waits[REMOTE_WAITS]; /* reason why the client waits; "" if it does not, or a reader has been told */
};

/* Asks for the bytes of a range, whose object, place and room are set. The caller holds the lock. */
enum leat_status fetcher_ask(struct fetcher *f, struct fetch_range *r, struct leat_error *err);

/* Drops a range that was asked for, or is ready. The caller holds the lock. */
void fetcher_drop(struct fetcher *f, struct fetch_range *r);

/* Waits until the range is ready or has failed. The caller holds the lock. Returns LEAT_E_STOPPED if `stop` says so. */
enum leat_status fetcher_wait(struct fetcher *f, const struct fetch_range *r, const struct input_stop *stop,
                              struct leat_error *err);

void fetcher_free_range(struct fetch_range *r);

#endif
