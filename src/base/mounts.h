/*
 * mounts.h: where the files of an open dataset lie, and what is done when that fails for a while.
 *
 * A file server that restarts, or fails over, answers with EIO, ESTALE, ETIMEDOUT, ESHUTDOWN or (FUSE) ENOTCONN until
 * it is back. On such a file system a call that failed so is tried again, after growing pauses, until it works or the
 * dataset's time is over; elsewhere once, at once. How to try again is the caller's:
 *
 *   struct mounts_tries tries = { 0 };
 *   do
 *       s = the call, which fills `why`;
 *   while (s != LEAT_OK && mounts_again(m, &tries, remote, &s, &why));
 */
#ifndef LEAT_BASE_MOUNTS_H
#define LEAT_BASE_MOUNTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "file.h"

#define MOUNTS_USUAL_SECONDS 60u
#define MOUNTS_KNOWN         8u /* mounts that are remembered; for files on other mounts, each file is asked */

/* A thread whose pauses end when `stop` is set and mounts_wake() called. */
struct mounts_thread {
    pthread_t thread;
    const atomic_bool *stop;
    struct mounts_thread *next;
};

struct mounts {
    uint32_t seconds; /* or LEAT_RETRY_NEVER */
    uint32_t (*waiting)(void *context, const char *why);
    void *context;
    struct folder home; /* folder in which relative names are looked up */
    bool opening;       /* true while the dataset is opened: its opener tries again itself, from the start of what
                           failed */
    atomic_int owner;   /* process that made the mutex; negative: it is being made */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct mounts_thread *threads;
    struct {
        dev_t device;
        unsigned system;
    } known[MOUNTS_KNOWN];
    unsigned known_count;
    uint64_t spent_ns, failed_ns; /* how much of `seconds` past failures took; time of the last failure */
    atomic_uint retries;
    bool unsaid; /* `why` has not been given as a notice yet */
    char why[1200];
};

void mounts_open(struct mounts *m, const struct leat_open_options *how);
void mounts_close(struct mounts *m);

/* Returns file_system_of() of a file, asking once for each mount. Without `m` (NULL), asks each time. */
unsigned mounts_system(struct mounts *m, dev_t device, int fd);

struct mounts_tries {
    unsigned count;
    uint64_t began_ns, pause_ns;
};

/*
 * Decides whether a call on a file that failed with `*s` and `why` is tried again; if so, waits and returns true.
 * `remote`: its file system is remote. Without `m` (NULL), it is tried again once. If the wait was ended, *s becomes
 * LEAT_E_STOPPED.
 *
 * All calls share the dataset's time. When it is over, a call that fails within that time after the last failure is
 * tried again only once, at once. Otherwise each damaged row of a dataset would wait that long.
 */
bool mounts_again(struct mounts *m, struct mounts_tries *t, bool remote, enum leat_status *s, struct leat_error *why);

/* Returns true if calls that fail with this error are tried again. */
bool mounts_may_pass(int error);

/* Returns true if an error says that what was opened is lost for good: only opening it again helps. */
bool mounts_lost(int error);

/* Notes that a call that was tried again has worked: with the next failure, the time begins anew. */
void mounts_worked(struct mounts *m, const struct mounts_tries *t);

/* Makes waits of the calling thread end when `stop` is set, instead of asking the dataset's `waiting`, until the
 * thread is removed. */
void mounts_add_thread(struct mounts *m, struct mounts_thread *thread, const atomic_bool *stop);
void mounts_remove_thread(struct mounts *m, struct mounts_thread *thread);

/* Makes all waiting threads look at their `stop`. */
void mounts_wake(struct mounts *m);

/* Returns a sentence on why calls are tried again, once for each time that this began; false if there is nothing
 * new. */
bool mounts_notice(struct mounts *m, char *text, size_t capacity);

#endif
