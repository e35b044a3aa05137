/* warm.c: see warm.h. Reads 1 MiB at a time, and advises the kernel of the next reads. */
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
#define AHEAD   (32 * CHUNK)
#define ADVISED (AHEAD / CHUNK + 1) /* chunks advised at once */
/* Of advice that is longer than what the kernel reads at once, it takes only the beginning. 256 KiB are enough for a
 * local disk, and always taken; a remote file system pays a round trip per read, so the longest advice is searched
 * for. */
#define WISH     ((uint64_t)256 << 10)
#define MIN_WISH ((uint64_t)128 << 10)
#define STACK    ((size_t)128 << 10)

struct warm {
    pthread_t thread;
    uint8_t *buffer;
    uint64_t count;
    atomic_uint_fast64_t bytes;
    atomic_bool stop, ended;
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

static uint64_t chunk_bytes(const struct warm_stretch *s, uint64_t at)
{
    return s->bytes - at < CHUNK ? s->bytes - at : CHUNK;
}

/* Keeps the kernel advised up to AHEAD bytes ahead, so that the disk never waits, and waits for each chunk advised. */
static void warm_stretch(struct warm *w, const struct warm_stretch *s)
{
    uint64_t done = 0, wish = s->remote ? CHUNK : WISH;
    bool missing[ADVISED] = { false }; /* of chunk k at k % ADVISED */

    for (uint64_t at = 0; at < s->bytes && !atomic_load(&w->stop); at += CHUNK) {
        for (; done <= at + AHEAD && done < s->bytes; done += CHUNK) {
            bool *m = &missing[done / CHUNK % ADVISED];

            *m = !residency_whole(s->fd, s->offset + done, chunk_bytes(s, done));
            if (*m)
                announce(s, done, chunk_bytes(s, done), &wish);
        }
        if (!missing[at / CHUNK % ADVISED])
            continue;
        /* what fails here fails again when a row is read, and is reported there */
        if (residency_whole(s->fd, s->offset + at, chunk_bytes(s, at)) ||
            pread(s->fd, w->buffer, (size_t)chunk_bytes(s, at), (off_t)(s->offset + at)) > 0)
            atomic_fetch_add(&w->bytes, chunk_bytes(s, at));
    }
}

static void *work(void *context)
{
    struct warm *w = context;

    for (uint64_t i = 0; i < w->count && !atomic_load(&w->stop); i++)
        warm_stretch(w, &w->stretches[i]);
    atomic_store(&w->ended, true);
    return NULL;
}

struct warm *warm_open(const struct warm_stretch *stretches, uint64_t count)
{
    struct warm *w = calloc(1, sizeof *w + count * sizeof *stretches);

    if (!w)
        return NULL;
    w->count = count;
    memcpy(w->stretches, stretches, count * sizeof *stretches);
    w->buffer = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (w->buffer == MAP_FAILED || thread_start(&w->thread, STACK, work, w) != 0) {
        if (w->buffer != MAP_FAILED)
            munmap(w->buffer, CHUNK);
        free(w);
        return NULL;
    }
    return w;
}

void warm_close(struct warm *w)
{
    if (!w)
        return;
    atomic_store(&w->stop, true);
    pthread_join(w->thread, NULL);
    munmap(w->buffer, CHUNK);
    free(w);
}

uint64_t warm_bytes(const struct warm *w)
{
    return w ? atomic_load(&w->bytes) : 0;
}

bool warm_ended(const struct warm *w)
{
    return !w || atomic_load(&w->ended);
}
