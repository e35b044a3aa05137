/*
 * fuse_disk.c: see fuse_disk.h. Which calls are disturbed, and how. One thread: its requests are in an order, and none
 * needs another's answer.
 */
#include "fuse_disk.h"

#include <errno.h>

#include "fuse_disk_calls.h"

static const char *const names[] = { "lookup", "getattr", "setattr", "open",    "create",
                                     "read",   "write",   "flush",   "fsync",   "fsync of a folder",
                                     "rename", "link",    "unlink",  "readdir", "statfs" };

void fuse_disk_arm(const struct fuse_disk *d, unsigned calls, enum fuse_disk_fault fault, unsigned long n,
                   bool and_after, int error)
{
    struct fuse_disk_board *b = d->board;

    atomic_store(&b->calls, 0);
    atomic_store(&b->fault, fault);
    atomic_store(&b->error, (unsigned)error);
    atomic_store(&b->at, n);
    atomic_store(&b->and_after, and_after);
    atomic_store(&b->times, 0);
    atomic_store(&b->counted, 0);
    atomic_store(&b->hit, 0);
    atomic_store(&b->calls, calls);
}

unsigned long fuse_disk_disarm(const struct fuse_disk *d)
{
    atomic_store(&d->board->calls, 0);
    return atomic_load(&d->board->counted);
}

unsigned long fuse_disk_asked(const struct fuse_disk *d, unsigned calls)
{
    unsigned long sum = 0;

    for (unsigned i = 0; i < FUSE_DISK_CALLS; i++)
        if (calls >> i & 1)
            sum += atomic_load(&d->board->asked[i]);
    return sum;
}

const char *fuse_disk_hit(const struct fuse_disk *d)
{
    unsigned hit = atomic_load(&d->board->hit), i = 0;

    while (hit > 1) {
        hit >>= 1;
        i++;
    }
    return hit > 0 ? names[i] : NULL;
}

#if defined(HAVE_FUSE)

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- Disturbing ---- */

/* Calls by number; those without a kind are not known here, or never disturbed. */
static unsigned kind_of(uint32_t opcode)
{
    switch (opcode) {
    case FUSE_LOOKUP:
        return FUSE_DISK_FIND;
    case FUSE_GETATTR:
        return FUSE_DISK_ATTRIBUTES;
    case FUSE_SETATTR:
        return FUSE_DISK_RESIZE;
    case FUSE_OPEN:
        return FUSE_DISK_OPEN;
    case FUSE_CREATE:
    case FUSE_MKDIR:
        return FUSE_DISK_CREATE;
    case FUSE_READ:
        return FUSE_DISK_READ;
    case FUSE_WRITE:
        return FUSE_DISK_WRITE;
    case FUSE_FLUSH:
        return FUSE_DISK_CLOSE;
    case FUSE_FSYNC:
        return FUSE_DISK_SYNC;
    case FUSE_FSYNCDIR:
        return FUSE_DISK_SYNC_NAMES;
    case FUSE_RENAME:
    case FUSE_RENAME2:
        return FUSE_DISK_RENAME;
    case FUSE_LINK:
        return FUSE_DISK_LINK;
    case FUSE_UNLINK:
    case FUSE_RMDIR:
        return FUSE_DISK_REMOVE;
    case FUSE_OPENDIR:
    case FUSE_READDIR:
        return FUSE_DISK_LIST;
    case FUSE_STATFS:
        return FUSE_DISK_SYSTEM;
    default:
        return 0;
    }
}

/* Whether this call is disturbed. */
static bool is_due(struct fuse_disk_board *b, unsigned kind)
{
    unsigned long number, at, times;

    if (!(atomic_load(&b->calls) & kind))
        return false;
    number = atomic_fetch_add(&b->counted, 1) + 1;
    at = atomic_load(&b->at);
    times = atomic_load(&b->times);
    if (at == 0 || number < at || (!atomic_load(&b->and_after) && number >= at + (times ? times : 1)))
        return false;
    atomic_store(&b->hit, kind);
    return true;
}

/* What is answered with an error though it is done: the kernel does not know of its nodes and handles. */
static void take_back(struct disk *d, const struct fuse_request *q, const struct answer *a)
{
    switch (q->head.opcode) {
    case FUSE_CREATE:
        close((int)a->made.open.fh - 1);
        fuse_disk_forget(d, a->made.entry.nodeid, 1);
        break;
    case FUSE_LOOKUP:
    case FUSE_MKDIR:
    case FUSE_LINK:
        fuse_disk_forget(d, a->entry.nodeid, 1);
        break;
    case FUSE_OPEN:
        if (a->open.fh != 0)
            close((int)a->open.fh - 1);
        break;
    case FUSE_OPENDIR:
        closedir((DIR *)(uintptr_t)a->open.fh);
        break;
    default:
        break;
    }
}

/* Counts what is asked, and the pages that are read again. */
static void count(struct disk *d, const struct fuse_request *q, unsigned kind, const struct answer *a)
{
    if (kind != 0)
        atomic_fetch_add(&d->board->asked[__builtin_ctz(kind)], 1);
    if (kind == FUSE_DISK_READ) {
        atomic_fetch_add(&d->board->read_bytes, a->bytes);
        atomic_fetch_add(&d->board->read_twice, fuse_disk_read_twice(d, q->head.nodeid, q->read.offset, a->bytes));
    }
}

/* ---- Answering late ---- */

struct late {
    struct late *next;
    uint64_t due_ns;
    struct fuse_request *q; /* its head alone */
    int error;
    size_t bytes;
    char body[];
};

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The thread that answers: all are as late, so they come in the order in which they are due. */
static void *answer_late(void *disk)
{
    struct disk *d = disk;

    for (;;) {
        struct late *l;
        struct timespec at;

        pthread_mutex_lock(&d->mutex);
        while (!d->late)
            pthread_cond_wait(&d->more, &d->mutex);
        l = d->late;
        d->late = l->next;
        if (!l->next)
            d->late_end = &d->late;
        pthread_mutex_unlock(&d->mutex);
        at = (struct timespec) { (time_t)(l->due_ns / 1000000000u), (long)(l->due_ns % 1000000000u) };
        do
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
        while (atomic_load(&d->board->held) && usleep(1000) == 0);
        fuse_answer(d->fuse, l->q, l->error, l->body, l->bytes);
        free(l->q);
        free(l);
    }
    return NULL;
}

static void answer(struct disk *d, const struct fuse_request *q, int error, const void *body, size_t bytes)
{
    unsigned long delay = atomic_load(&d->board->delay_us);
    struct late *l = delay > 0 ? malloc(sizeof *l + bytes) : NULL;

    if (!l) {
        fuse_answer(d->fuse, q, error, body, bytes);
        return;
    }
    *l = (struct late) { .due_ns = now_ns() + delay * 1000, .error = error, .bytes = bytes };
    l->q = malloc(sizeof q->head);
    memcpy(l->q, q, sizeof q->head);
    memcpy(l->body, body, bytes);
    pthread_mutex_lock(&d->mutex);
    *d->late_end = l;
    d->late_end = &l->next;
    pthread_cond_signal(&d->more);
    pthread_mutex_unlock(&d->mutex);
}

static void serve(void *disk, const struct fuse_request *q, char *room)
{
    struct disk *d = disk;
    unsigned kind = kind_of(q->head.opcode), fault = FUSE_DISK_FAILS;
    struct answer a = { .body = NULL };
    bool due = is_due(d->board, kind);
    int error;

    switch (q->head.opcode) {
    case FUSE_FORGET:
        fuse_disk_forget(d, q->head.nodeid, q->forget.nlookup);
        return;
    case FUSE_BATCH_FORGET:
        fuse_disk_forget_many(d, q);
        return;
    case FUSE_INTERRUPT:
        return; /* want no answer */
    default:
        break;
    }
    if (due)
        fault = atomic_load(&d->board->fault);
    if ((kind == 0 && q->head.opcode != FUSE_RELEASE && q->head.opcode != FUSE_RELEASEDIR) ||
        q->head.opcode == (uint32_t)(atomic_load(&d->board->lacks) & FUSE_DISK_RENAME ? FUSE_RENAME2 : 0) ||
        (kind != FUSE_DISK_RENAME && atomic_load(&d->board->lacks) & kind))
        error = ENOSYS;
    else if (due && fault == FUSE_DISK_FAILS)
        error = (int)atomic_load(&d->board->error);
    else
        error = fuse_disk_call(d, q, room, due && fault == FUSE_DISK_HALF, &a);
    if (due && fault == FUSE_DISK_LIES && error == 0) {
        take_back(d, q, &a);
        error = (int)atomic_load(&d->board->error);
    }
    count(d, q, kind, &a);
    answer(d, q, error, a.body ? a.body : &a, a.bytes);
}

static void *begin(int fuse, const char *from, void *board)
{
    struct disk *d = calloc(1, sizeof *d);
    pthread_t thread;

    if (!d)
        _exit(1);
    d->fuse = fuse;
    d->board = board;
    fuse_disk_begin(d, from);
    pthread_mutex_init(&d->mutex, NULL);
    pthread_cond_init(&d->more, NULL);
    d->late_end = &d->late;
    if (pthread_create(&thread, NULL, answer_late, d) != 0)
        _exit(1);
    return d;
}

#define FLAGS                                                                                                          \
    (FUSE_ASYNC_READ | FUSE_BIG_WRITES | FUSE_MAX_PAGES | FUSE_ASYNC_DIO | FUSE_PARALLEL_DIROPS | FUSE_ATOMIC_O_TRUNC)
#define KIND(flags_)                                                                                                   \
    {                                                                                                                  \
        .flags = (flags_), .max_write = FUSE_SERVER_MAX_WRITE, .threads = 1,                                           \
        .board_bytes = sizeof(struct fuse_disk_board), .begin = begin, .serve = serve                                  \
    }

bool fuse_disk_mount(struct fuse_disk *d, const char *from, const char *at, bool later)
{
    static const struct fuse_kind kinds[2] = { KIND(FLAGS), KIND(FLAGS | FUSE_WRITEBACK_CACHE) };

    if (!fuse_server_mount(&d->server, &kinds[later], from, at))
        return false;
    d->board = d->server.board;
    return true;
}

void fuse_disk_unmount(struct fuse_disk *d)
{
    fuse_disk_disarm(d);
    fuse_server_unmount(&d->server);
}

#else

bool fuse_disk_mount(struct fuse_disk *d, const char *from, const char *at, bool later)
{
    (void)d;
    (void)from;
    (void)at;
    (void)later;
    errno = ENOSYS;
    return false;
}

void fuse_disk_unmount(struct fuse_disk *d)
{
    (void)d;
}

#endif
