/*
 * warm.c: Some threads share a stretch MiB by MiB, in turns, so that the disk sees one stream; each advises
 * the kernel of its next ones. Why several? What the kernel does for each page that it reads ahead (finding memory,
 * entering it into the cache) takes a thread nearly as long as a fast disk needs for the page.
 */
#include "warm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/gate.h"
#include "base/thread.h"

/* ---- What is there ----------------------------------------------------------------------------------------------- */

/*
 * A file's share in memory is guessed from samples spread over it, since asking for every page costs too much.
 * cachestat(2) answers for a range; older kernels are asked for a byte, by a read that must not wait.
 */

#if defined(__linux__)
#include <linux/magic.h>
#include <sys/vfs.h>
#endif

#define SAMPLES      32u
#define SAMPLE_BYTES 4096u

/* cachestat(2), Linux 6.5: newer than the headers of many systems. */
#if defined(__linux__) && !defined(__alpha__)
#define CACHESTAT_NUMBER 451
struct cachestat_range_of {
    uint64_t offset, bytes;
};
struct cachestat_counts {
    uint64_t cached, dirty, writeback, evicted, recently_evicted;
};
#endif

/* Returns true if all pages of the range are cached: 1 yes, 0 no, -1 unknown. */
static int range_cached(int fd, uint64_t offset, uint64_t bytes)
{
#if defined(CACHESTAT_NUMBER)
    struct cachestat_range_of range = { offset, bytes };
    struct cachestat_counts counts;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), first = offset / page, end = (offset + bytes + page - 1) / page;

    if (bytes == 0)
        return 1;
    if (syscall(CACHESTAT_NUMBER, fd, &range, &counts, 0u) == 0)
        return counts.cached >= end - first;
#endif
    return -1;
}

/* For older kernels: tries to read a byte without waiting. A tmpfs refuses that, and any read there does not wait. */
static int byte_cached(int fd, uint64_t offset)
{
#if defined(RWF_NOWAIT)
    char byte;
    struct iovec to = { &byte, 1 };
    struct statfs system;
    ssize_t got = preadv2(fd, &to, 1, (off_t)offset, RWF_NOWAIT);

    if (got < 0 && errno == EOPNOTSUPP && fstatfs(fd, &system) == 0 && system.f_type == TMPFS_MAGIC)
        got = pread(fd, &byte, 1, (off_t)offset);
    return got == 1 ? 1 : got < 0 && errno == EAGAIN ? 0 : -1;
#else
    (void)fd;
    (void)offset;
    return -1;
#endif
}

double residency_share(int fd, uint64_t offset, uint64_t bytes, uint64_t seed)
{
    uint64_t pages = (bytes + SAMPLE_BYTES - 1) / SAMPLE_BYTES, samples = pages < SAMPLES ? pages : SAMPLES;
    unsigned cached = 0;

    for (uint64_t i = 0; i < samples; i++) {
        /* one byte in each of equal stretches, at another place each time */
        uint64_t first = (uint64_t)((double)pages * (double)i / (double)samples);
        uint64_t end = (uint64_t)((double)pages * (double)(i + 1) / (double)samples);
        uint64_t page = first + (end > first ? (seed * 0x9e3779b97f4a7c15u >> 20) % (end - first) : 0);
        int known = range_cached(fd, offset + page * SAMPLE_BYTES, 1);

        if (known < 0)
            known = byte_cached(fd, offset + page * SAMPLE_BYTES);
        if (known < 0)
            return 0;
        cached += (unsigned)known;
        seed = seed * 0xd6e8feb86659fd93u + 1;
    }
    return samples ? (double)cached / (double)samples : 1;
}

bool residency_whole(int fd, uint64_t offset, uint64_t bytes)
{
    return range_cached(fd, offset, bytes) == 1;
}

bool residency_lacks(int fd, uint64_t offset, uint64_t bytes)
{
    return range_cached(fd, offset, bytes) == 0;
}

/* ---- Reading more ------------------------------------------------------------------------------------------------ */

#define CHUNK   ((uint64_t)1 << 20)
#define AHEAD   ((uint64_t)32) /* chunks, of all threads */
#define THREADS 4u
/* The kernel takes only the beginning of advice that is longer than what it reads at once. 256 KiB are enough for a
 * local disk, and always taken; a remote file system pays a round trip per read, so the longest advice is searched for.
 */
#define ADVICE     ((uint64_t)256 << 10)
#define MIN_ADVICE ((uint64_t)128 << 10)
#define STACK      ((size_t)128 << 10)
#define ROOM       ((uint64_t)256) /* for stretches that are added */

struct warm_thread {
    struct warm *w;
    unsigned number;
    pthread_t thread;
    uint8_t *buffer;
    atomic_uint_fast64_t done; /* stretches */
};

struct warm {
    struct warm_thread threads[THREADS];
    unsigned sharing;           /* threads */
    bool more;                  /* stretches may be added */
    struct gate work;           /* where threads wait for them */
    atomic_uint_fast64_t count; /* stretches so far; number n is at n % room */
    uint64_t room;
    atomic_uint_fast64_t bytes;
    uint8_t *buffers; /* a chunk for each thread */
    atomic_bool stop;
    struct warm_stretch stretches[];
};

static void announce(const struct warm_stretch *s, uint64_t at, uint64_t bytes, uint64_t *most)
{
#if defined(POSIX_FADV_WILLNEED)
    for (uint64_t end = at + bytes, count; at < end; at += count) {
        count = end - at < *most ? end - at : *most;
        while (posix_fadvise(s->fd, (off_t)(s->offset + at), (off_t)count, POSIX_FADV_WILLNEED) == 0 && s->remote &&
               *most > MIN_ADVICE && residency_lacks(s->fd, s->offset + at, count)) {
            *most /= 2; /* the kernel did not take the end of it: pages being read count as present */
            count = count < *most ? count : *most;
        }
    }
#else
    (void)s;
    (void)at;
    (void)bytes;
    (void)most;
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

/* Keeps the kernel advised up to AHEAD chunks, so that the disk never waits. */
static void warm_stretch(struct warm_thread *t, const struct warm_stretch *s)
{
    uint64_t step = t->w->sharing, done = t->number, most = s->remote ? CHUNK : ADVICE;
    bool missing[AHEAD + 1] = { false }; /* of this thread's n-th chunk at n % (AHEAD + 1) */

    for (uint64_t i = t->number; i * CHUNK < s->bytes && !atomic_load(&t->w->stop); i += step) {
        for (; done <= i + AHEAD && done * CHUNK < s->bytes; done += step) {
            bool *m = &missing[done / step % (AHEAD + 1)];

            *m = !residency_whole(s->fd, s->offset + done * CHUNK, chunk_bytes(s, done));
            if (*m)
                announce(s, done * CHUNK, chunk_bytes(s, done), &most);
        }
        /* what fails here fails again when a row is read, and is reported there */
        if (missing[i / step % (AHEAD + 1)] && wait_for(s, i, t->buffer))
            atomic_fetch_add(&t->w->bytes, chunk_bytes(s, i));
    }
}

static void *warm_in_thread(void *context)
{
    struct warm_thread *t = context;

    struct warm *w = t->w;
    uint64_t next = 0;

    while (!atomic_load(&w->stop)) {
        unsigned ticket = gate_ticket(&w->work);

        if (next < atomic_load(&w->count)) {
            warm_stretch(t, &w->stretches[next % w->room]);
            atomic_store(&t->done, ++next);
        } else if (!w->more) {
            break;
        } else if (!atomic_load(&w->stop)) {
            gate_sleep(&w->work, ticket, 0);
        }
    }
    return NULL;
}

/* Returns how many stretches all threads have read. */
static uint64_t done_by_all(const struct warm *w)
{
    uint64_t least = UINT64_MAX;

    for (unsigned i = 0; i < w->sharing; i++) {
        uint64_t done = atomic_load(&w->threads[i].done);

        least = done < least ? done : least;
    }
    return least;
}

bool warm_add(struct warm *w, const struct warm_stretch *stretch)
{
    uint64_t count = atomic_load(&w->count);

    if (count - done_by_all(w) == w->room)
        return false;
    w->stretches[count % w->room] = *stretch;
    atomic_store(&w->count, count + 1);
    gate_open(&w->work);
    return true;
}

static void stop_threads(struct warm *w, unsigned started)
{
    atomic_store(&w->stop, true);
    gate_open(&w->work);
    for (unsigned i = 0; i < started; i++)
        pthread_join(w->threads[i].thread, NULL);
}

/* Those that run count on all that share with them: if there cannot be so many, fewer begin again. */
static bool start_threads(struct warm *w, unsigned wanted)
{
    for (unsigned i; wanted > 0; wanted = i) {
        w->sharing = wanted;
        atomic_store(&w->stop, false);
        for (i = 0; i < wanted; i++) {
            w->threads[i] = (struct warm_thread) { .w = w, .number = i, .buffer = w->buffers + i * CHUNK };
            if (thread_start(&w->threads[i].thread, STACK, warm_in_thread, &w->threads[i]) != 0)
                break;
        }
        if (i == wanted)
            return true;
        stop_threads(w, i);
    }
    return false;
}

struct warm *warm_open(const struct warm_stretch *stretches, uint64_t count, bool more)
{
    uint64_t room = count + (more ? ROOM : 0);
    struct warm *w = calloc(1, sizeof *w + room * sizeof *stretches);

    if (!w)
        return NULL;
    w->more = more;
    w->room = room;
    atomic_store(&w->count, count);
    memcpy(w->stretches, stretches, count * sizeof *stretches);
    w->buffers = mmap(NULL, THREADS * CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (w->buffers != MAP_FAILED && start_threads(w, thread_cpus() < THREADS ? thread_cpus() : THREADS))
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
    stop_threads(w, w->sharing);
    munmap(w->buffers, THREADS * CHUNK);
    free(w);
}

uint64_t warm_bytes(const struct warm *w)
{
    return w ? atomic_load(&w->bytes) : 0;
}

bool warm_ended(const struct warm *w)
{
    return !w || done_by_all(w) == atomic_load(&w->count);
}
