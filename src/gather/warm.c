/*
 * warm.c: see warm.h. Some threads share a stretch MiB by MiB, in turns, so that the disk sees one stream; each advises
 * the kernel of its next ones. Why several? What the kernel does for each page that it reads ahead (finding memory,
 * entering it into the cache) takes a thread nearly as long as a fast disk needs for the page.
 */
#include "warm.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/thread.h"
#include "residency.h"

#define CHUNK   ((uint64_t)1 << 20)
#define AHEAD   ((uint64_t)32) /* chunks, of all threads */
#define THREADS 4u
/* Of advice that is longer than what the kernel reads at once, it takes only the beginning. 256 KiB are enough for a
 * local disk, and always taken; a remote file system pays a round trip per read, so the longest advice is searched
 * for. */
#define WISH     ((uint64_t)256 << 10)
#define MIN_WISH ((uint64_t)128 << 10)
#define STACK    ((size_t)128 << 10)

struct warm_thread {
    struct warm *w;
    unsigned number;
    pthread_t thread;
    uint8_t *buffer;
};

struct warm {
    struct warm_thread threads[THREADS];
    unsigned sharing; /* threads */
    uint64_t count;
    atomic_uint_fast64_t bytes;
    atomic_uint running;
    uint8_t *buffers; /* a chunk for each thread */
    atomic_bool stop;
    struct warm_stretch stretches[];
};

static void announce(const struct warm_stretch *s, uint64_t at, uint64_t bytes, uint64_t *wish)
{
#if defined(POSIX_FADV_WILLNEED)
    for (uint64_t end = at + bytes, count; at < end; at += count) {
        count = end - at < *wish ? end - at : *wish;
        while (posix_fadvise(s->fd, (off_t)(s->offset + at), (off_t)count, POSIX_FADV_WILLNEED) == 0 && s->remote &&
               *wish > MIN_WISH && residency_lacks(s->fd, s->offset + at, count)) {
            *wish /= 2; /* the kernel did not take the end of it: pages being read count as present */
            count = count < *wish ? count : *wish;
        }
    }
#else
    (void)s;
    (void)at;
    (void)bytes;
    (void)wish;
#endif
}

static uint64_t chunk_bytes(const struct warm_stretch *s, uint64_t chunk)
{
    return s->bytes - chunk * CHUNK < CHUNK ? s->bytes - chunk * CHUNK : CHUNK;
}

/* Waits for a chunk that was advised; false: it cannot be read. Its last byte comes last, mostly, and nothing else need
 * be copied for that; what the kernel did not take is read. */
static bool wait_for(const struct warm_stretch *s, uint64_t chunk, uint8_t *buffer)
{
    uint64_t at = s->offset + chunk * CHUNK, bytes = chunk_bytes(s, chunk);

    return (pread(s->fd, buffer, 1, (off_t)(at + bytes - 1)) > 0 && residency_whole(s->fd, at, bytes)) ||
           pread(s->fd, buffer, (size_t)bytes, (off_t)at) > 0;
}

/* Every so many chunks: keeps the kernel advised up to AHEAD of them, so that the disk never waits. */
static void warm_stretch(struct warm_thread *t, const struct warm_stretch *s)
{
    uint64_t step = t->w->sharing, done = t->number, wish = s->remote ? CHUNK : WISH;
    bool missing[AHEAD + 1] = { false }; /* of this thread's n-th chunk at n % (AHEAD + 1) */

    for (uint64_t i = t->number; i * CHUNK < s->bytes && !atomic_load(&t->w->stop); i += step) {
        for (; done <= i + AHEAD && done * CHUNK < s->bytes; done += step) {
            bool *m = &missing[done / step % (AHEAD + 1)];

            *m = !residency_whole(s->fd, s->offset + done * CHUNK, chunk_bytes(s, done));
            if (*m)
                announce(s, done * CHUNK, chunk_bytes(s, done), &wish);
        }
        /* what fails here fails again when a row is read, and is reported there */
        if (missing[i / step % (AHEAD + 1)] && wait_for(s, i, t->buffer))
            atomic_fetch_add(&t->w->bytes, chunk_bytes(s, i));
    }
}

static void *work(void *context)
{
    struct warm_thread *t = context;

    for (uint64_t i = 0; i < t->w->count && !atomic_load(&t->w->stop); i++)
        warm_stretch(t, &t->w->stretches[i]);
    atomic_fetch_sub(&t->w->running, 1);
    return NULL;
}

static void join(struct warm *w, unsigned started)
{
    atomic_store(&w->stop, true);
    for (unsigned i = 0; i < started; i++)
        pthread_join(w->threads[i].thread, NULL);
}

/* Those that run count on all that share with them: if there cannot be so many, fewer begin again. */
static bool start(struct warm *w, unsigned wanted)
{
    for (unsigned i; wanted > 0; wanted = i) {
        w->sharing = wanted;
        atomic_store(&w->stop, false);
        atomic_store(&w->running, wanted);
        for (i = 0; i < wanted; i++) {
            w->threads[i] = (struct warm_thread) { .w = w, .number = i, .buffer = w->buffers + i * CHUNK };
            if (thread_start(&w->threads[i].thread, STACK, work, &w->threads[i]) != 0)
                break;
        }
        if (i == wanted)
            return true;
        join(w, i);
    }
    return false;
}

struct warm *warm_open(const struct warm_stretch *stretches, uint64_t count)
{
    struct warm *w = calloc(1, sizeof *w + count * sizeof *stretches);

    if (!w)
        return NULL;
    w->count = count;
    memcpy(w->stretches, stretches, count * sizeof *stretches);
    w->buffers = mmap(NULL, THREADS * CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (w->buffers != MAP_FAILED && start(w, thread_cpus() < THREADS ? thread_cpus() : THREADS))
        return w;
    if (w->buffers != MAP_FAILED)
        munmap(w->buffers, THREADS * CHUNK);
    free(w);
    return NULL;
}

void warm_close(struct warm *w)
{
    if (!w)
        return;
    join(w, w->sharing);
    munmap(w->buffers, THREADS * CHUNK);
    free(w);
}

uint64_t warm_bytes(const struct warm *w)
{
    return w ? atomic_load(&w->bytes) : 0;
}

bool warm_ended(const struct warm *w)
{
    return !w || atomic_load(&w->running) == 0;
}
