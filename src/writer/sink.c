#include "sink.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/own_file.h"
#include "base/status.h"
#include "base/thread.h"
#include "base/tiny.h"

/* most frames kept for the next use; threads seldom fill more at once */
#define MAX_SPARE 4u

/* Takes a frame back that was written. */
static void sink_put_away(struct sink *s, struct sink_frame *f)
{
    bool keep;

    pthread_mutex_lock(&s->lock);
    keep = s->spare_count < MAX_SPARE;
    if (keep) {
        f->next = s->spare;
        s->spare = f;
        s->spare_count++;
    }
    pthread_mutex_unlock(&s->lock);
    if (!keep)
        free(f);
}

/* ---- Pens -------------------------------------------------------------------------------------------------------- */

/*
 * Threads that write a sink's complete frames past the page cache (O_DIRECT), so that the thread that completes a frame
 * does not wait for the disk. If all are busy it writes the frame itself: no more than PENS frames are ever kept.
 *
 * A *pen* is one of these threads.
 *
 * A buffered write holds the kernel's lock of the file (its inode) as long as it copies, so that of any number of
 * threads one at a time writes. Direct writes share that lock if they neither make the file longer nor find a stretch
 * without blocks (seen on ext4 of Linux 6.18; XFS says so, too). So blocks are reserved ahead, in large steps, since
 * that takes the lock alone and waits for all writes; the writer cuts off what is left over in the end. A file system
 * that cannot reserve, or a full disk, makes writes wait for each other, and nothing else.
 *
 * Measured with 2 GiB of frames on ext4 (two shared cores of a Zen 3, Linux 6.18): 0.05 to 0.1 s of CPU time per GiB,
 * where buffered writes take 0.3 to 1.4; io_uring in place of threads takes 0.04 to 0.07.
 */

#define PENS         4u
#define STACK        ((size_t)256 << 10)
#define RESERVE_STEP TINY_OR((uint64_t)64 << 10, (uint64_t)1 << 30)

struct pens {
    struct sink *sink;
    int fd;
    pid_t owner;
    atomic_ullong written;
    atomic_bool refused; /* the file system refused a direct write after all */

    pthread_mutex_t reserving; /* for these: */
    uint64_t reserved;         /* the file has blocks up to this byte */
    uint64_t step;             /* bytes to reserve at once, as long as that is a frame or more */

    pthread_mutex_t lock; /* for the rest: */
    pthread_cond_t work, quiet;
    struct sink_frame *waiting;
    unsigned frames; /* frames that wait or are being written: at most one per thread */
    pthread_t thread[PENS];
    unsigned threads;
    bool closing;
    enum leat_status failed;
    struct leat_error failure;
};

/* Starts threads that write directly; frames come from `begin` on. Returns NULL if the file system refuses, or
 * without memory: then the page cache will do. */
static struct pens *pens_open(struct sink *s, uint64_t begin)
{
    struct pens *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->fd = file_open_direct(s->fd, s->path);
    if (p->fd < 0) {
        free(p);
        return NULL;
    }
    p->sink = s;
    p->owner = getpid();
    p->reserved = begin;
    p->step = RESERVE_STEP;
    pthread_mutex_init(&p->reserving, NULL);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->quiet, NULL);
    return p;
}

/* ---- Writing a frame ---- */

static void reserve(struct pens *p, uint64_t end)
{
    const struct sink *s = p->sink;

    pthread_mutex_lock(&p->reserving);
    while (p->reserved < end && p->step >= s->frame_bytes) {
        if (file_reserve(s->fd, p->reserved, p->step))
            p->reserved += p->step;
        else
            p->step /= 2; /* less is free */
    }
    pthread_mutex_unlock(&p->reserving);
}

/* Writes through the page cache what the file system does not take directly. */
static enum leat_status write_direct(struct pens *p, const struct sink_frame *f, struct leat_error *err)
{
    const struct sink *s = p->sink;
    ssize_t put = 0;

    reserve(p, f->offset + f->filled);
    if (!atomic_load(&p->refused)) {
        do
            put = pwrite(p->fd, f->bytes, f->filled, (off_t)f->offset);
        while (put < 0 && errno == EINTR);
        if (put < 0 && errno != EINVAL)
            return status_set_os(err, errno, s->path, "cannot write %s at byte %" PRIu64, s->path, f->offset);
    }
    if (put < 0) {
        atomic_store(&p->refused, true);
        put = 0;
    }
    atomic_fetch_add(&p->written, (unsigned long long)put);
    return file_write_at(s->fd, f->offset + (uint64_t)put, f->bytes + put, f->filled - (size_t)put, s->path, err);
}

/* ---- Threads ---- */

static void *write_in_thread(void *context)
{
    struct pens *p = context;
    struct leat_error why;

    pthread_mutex_lock(&p->lock);
    for (;;) {
        struct sink_frame *f;
        enum leat_status s;

        while (!p->waiting && !p->closing)
            pthread_cond_wait(&p->work, &p->lock);
        f = p->waiting;
        if (!f)
            break;
        p->waiting = f->next;
        pthread_mutex_unlock(&p->lock);
        s = write_direct(p, f, &why);
        sink_put_away(p->sink, f);
        pthread_mutex_lock(&p->lock);
        if (s != LEAT_OK && p->failed == LEAT_OK) {
            p->failed = s;
            p->failure = why;
        }
        if (--p->frames == 0)
            pthread_cond_broadcast(&p->quiet);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static enum leat_status failure(const struct pens *p, struct leat_error *err)
{
    if (p->failed != LEAT_OK && err)
        *err = p->failure;
    return p->failed;
}

/* Writes a complete frame, or has a thread write it, and takes it over. A failure may be that of an earlier frame. */
static enum leat_status pens_write(struct pens *p, struct sink_frame *f, struct leat_error *err)
{
    enum leat_status s;
    bool given;

    pthread_mutex_lock(&p->lock);
    s = failure(p, err);
    if (p->frames == p->threads && p->threads < PENS &&
        thread_start(&p->thread[p->threads], STACK, write_in_thread, p) == 0)
        p->threads++;
    given = s == LEAT_OK && p->frames < p->threads;
    if (given) {
        f->next = p->waiting;
        p->waiting = f;
        p->frames++;
        pthread_cond_signal(&p->work);
    }
    pthread_mutex_unlock(&p->lock);
    if (given)
        return LEAT_OK;
    if (s == LEAT_OK)
        s = write_direct(p, f, err);
    sink_put_away(p->sink, f);
    return s;
}

/* Waits until every frame is written; returns the first failure of one. */
static enum leat_status pens_wait(struct pens *p, struct leat_error *err)
{
    enum leat_status s;

    pthread_mutex_lock(&p->lock);
    while (p->frames > 0)
        pthread_cond_wait(&p->quiet, &p->lock);
    s = failure(p, err);
    pthread_mutex_unlock(&p->lock);
    return s;
}

static void end_threads(struct pens *p)
{
    pthread_mutex_lock(&p->lock);
    p->closing = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->threads; i++)
        pthread_join(p->thread[i], NULL);
    pthread_cond_destroy(&p->quiet);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
    pthread_mutex_destroy(&p->reserving);
}

/* Waits for the threads, but not in a child of the process that has them. NULL is fine. */
static void pens_close(struct pens *p)
{
    if (!p)
        return;
    if (p->owner == getpid())
        end_threads(p);
    file_close(&p->fd);
    free(p);
}

/* ---- Sinks ------------------------------------------------------------------------------------------------------- */

#define STEP_BYTES TINY_OR((uint64_t)16 << 10, (uint64_t)16 << 20) /* bytes read back between two looks at the clock */
#define MAX_PAGES  (SINK_MAX_FRAME / CHECKSUM_PAGE)

static struct sink_frame *new_frame(struct sink *s)
{
    struct sink_frame *f = s->spare;

    if (f) {
        s->spare = f->next;
        s->spare_count--;
    } else {
        f = aligned_alloc(FILE_DIRECT_ALIGN, sizeof *f + s->frame_bytes);
    }
    return f;
}

/* Returns the frame that holds byte `at` of the file: one that other threads fill too, or a new one. NULL: no
 * memory. */
static struct sink_frame *find_frame(struct sink *s, uint64_t at)
{
    uint64_t offset = at - at % s->frame_bytes;
    struct sink_frame *f;

    pthread_mutex_lock(&s->lock);
    for (f = s->open; f && f->offset != offset; f = f->next)
        continue;
    if (!f) {
        f = new_frame(s);
        if (f) {
            f->offset = offset;
            f->filled = 0;
            f->next = s->open;
            s->open = f;
        }
    }
    pthread_mutex_unlock(&s->lock);
    return f;
}

/* Counts bytes as put. Returns true if the frame is complete, which then belongs to the caller. */
static bool fill_frame(struct sink *s, struct sink_frame *f, size_t bytes)
{
    struct sink_frame **link = &s->open;
    bool complete;

    pthread_mutex_lock(&s->lock);
    f->filled += bytes;
    complete = f->filled == s->frame_bytes;
    if (complete) {
        while (*link != f)
            link = &(*link)->next;
        *link = f->next;
    }
    pthread_mutex_unlock(&s->lock);
    return complete;
}

static enum leat_status write_frame(struct sink *s, const struct sink_frame *f, struct leat_error *err)
{
    return file_write_at(s->fd, f->offset, f->bytes, f->filled, s->path, err);
}

/* Hashes the pages of a frame, and adds them to *sum. */
static enum leat_status hash_frame(struct sink *s, const struct sink_frame *f, struct hash128 *sum,
                                   struct leat_error *err)
{
    uint64_t page = f->offset / CHECKSUM_PAGE;
    uint32_t hashes[MAX_PAGES];

    checksum_kernels()->pages(sum, f->bytes, f->filled, page, s->take_hashes ? hashes : NULL);
    return s->take_hashes ? s->take_hashes(s->context, page, hashes, bytes_divide_up(f->filled, CHECKSUM_PAGE), err)
                          : LEAT_OK;
}

static enum leat_status complete_frame(struct sink *s, struct sink_frame *f, struct leat_error *err)
{
    struct hash128 sum = { 0, 0 };
    enum leat_status status = hash_frame(s, f, &sum, err);

    pthread_mutex_lock(&s->lock);
    checksum_add(&s->complete, sum);
    pthread_mutex_unlock(&s->lock);
    if (status == LEAT_OK && s->pens && f->offset + f->filled > s->direct_from)
        return pens_write(s->pens, f, err);
    if (status == LEAT_OK)
        status = write_frame(s, f, err);
    sink_put_away(s, f);
    return status;
}

/* ---- Streams ---- */

enum leat_status sink_stream_end(struct sink_stream *t, struct leat_error *err)
{
    struct sink_frame *f = t->frame;

    t->frame = NULL;
    return f && fill_frame(t->sink, f, t->unreported) ? complete_frame(t->sink, f, err) : LEAT_OK;
}

enum leat_status sink_stream_put(struct sink_stream *t, const void *bytes, size_t count, struct leat_error *err)
{
    const uint8_t *from = bytes;
    size_t room = t->sink->frame_bytes;
    enum leat_status status = LEAT_OK;

    while (count > 0 && status == LEAT_OK) {
        size_t in_frame = (size_t)(t->at % room), here = count < room - in_frame ? count : room - in_frame;

        if (!t->frame) {
            t->frame = find_frame(t->sink, t->at);
            t->unreported = 0;
        }
        if (!t->frame)
            return status_no_memory(err, room);
        memcpy(t->frame->bytes + in_frame, from, here);
        t->unreported += here;
        t->at += here;
        from += here;
        count -= here;
        if (in_frame + here == room)
            status = sink_stream_end(t, err);
    }
    return status;
}

enum leat_status sink_stream_put_u64(struct sink_stream *t, uint64_t value, struct leat_error *err)
{
    value = bytes_le64(value);
    return sink_stream_put(t, &value, sizeof value, err);
}

enum leat_status sink_flush(struct sink *s, bool last, struct leat_error *err)
{
    struct hash128 sum = { 0, 0 };
    enum leat_status status = s->pens ? pens_wait(s->pens, err) : LEAT_OK;

    for (struct sink_frame *f = s->open; status == LEAT_OK && f; f = f->next) {
        status = write_frame(s, f, err);
        if (status == LEAT_OK && last)
            status = hash_frame(s, f, &sum, err);
    }
    return status;
}

struct hash128 sink_sum(const struct sink *s)
{
    struct hash128 sum = s->complete;

    for (const struct sink_frame *f = s->open; f; f = f->next)
        checksum_kernels()->pages(&sum, f->bytes, f->filled, f->offset / CHECKSUM_PAGE, NULL);
    return sum;
}

/* ---- Opening ---- */

static enum leat_status prepare(struct sink *s, const char *path, size_t frame_bytes, struct leat_error *err)
{
    memset(s, 0, sizeof *s);
    s->fd = -1;
    s->frame_bytes = frame_bytes;
    s->path = strdup(path);
    if (!s->path)
        return status_no_memory(err, strlen(path));
    pthread_mutex_init(&s->lock, NULL);
    return LEAT_OK;
}

enum leat_status sink_create(struct sink *s, const char *path, size_t frame_bytes, struct leat_error *err)
{
    enum leat_status status = prepare(s, path, frame_bytes, err);

    if (status == LEAT_OK)
        status = file_create(&s->fd, path, err);
    if (status != LEAT_OK)
        sink_close(s);
    return status;
}

/* ---- Past the page cache ---- */

void sink_begin_direct(struct sink *s, uint64_t from, uint64_t size)
{
    s->direct_from = from;
    s->pens = pens_open(s, (size > from ? size : from) / s->frame_bytes * s->frame_bytes);
}

uint64_t sink_direct_bytes(const struct sink *s)
{
    return s->pens ? atomic_load(&s->pens->written) : 0;
}

void sink_end_direct(struct sink *s)
{
    pens_close(s->pens);
    s->pens = NULL;
}

enum leat_status sink_trim(struct sink *s, uint64_t size, struct leat_error *err)
{
    return s->pens ? file_truncate(s->fd, size, s->path, err) : LEAT_OK;
}

/* ---- What a killed run left ---- */

/* Calls the caller's function for progress ten times per second. */
static enum leat_status tell(struct sink_reading *r, struct leat_error *err)
{
    uint64_t now = r->progress ? clock_ns() : 0;

    if (!r->progress || now < r->next_ns)
        return LEAT_OK;
    r->next_ns = now + 100000000;
    if (r->progress(r->context, r->done, r->total) != 0)
        return status_set(err, LEAT_E_STOPPED, "reading back what was written before was stopped");
    return LEAT_OK;
}

static enum leat_status read_back(struct sink *s, struct page_sum *sum, uint64_t size, struct sink_reading *reading,
                                  struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    while (status == LEAT_OK && sum->bytes < size) {
        uint64_t left = size - sum->bytes, here = left < STEP_BYTES ? left : STEP_BYTES;

        status = page_sum_add_file(sum, s->fd, sum->bytes, here, s->path, err);
        reading->done += here;
        if (status == LEAT_OK)
            status = tell(reading, err);
    }
    return status;
}

static enum leat_status reopen(struct sink *s, uint64_t size, struct hash128 right, struct sink_reading *reading,
                               struct leat_error *err)
{
    struct page_sum sum;
    uint64_t there = 0;
    enum leat_status status = own_file_open(&s->fd, &there, s->path, OWN_FILE_WRITE, err);

    if (status == LEAT_E_NO_FILE)
        return status_set_hint(err, LEAT_E_CHECKPOINT, LEAT_HINT_REPLACE, s->path,
                               "%s existed at the checkpoint and is now missing: the run cannot be resumed; start over",
                               s->path);
    if (status == LEAT_OK && there < size)
        status = status_set_hint(err, LEAT_E_CHECKPOINT, LEAT_HINT_REPLACE, s->path,
                                 "%s has %" PRIu64 " bytes, but had %" PRIu64
                                 " at the checkpoint: the run cannot be resumed; start over",
                                 s->path, there, size);
    page_sum_begin(&sum, 0, (struct hash128) { 0, 0 });
    if (status == LEAT_OK)
        status = read_back(s, &sum, size - size % s->frame_bytes, reading, err);
    s->complete = page_sum_now(&sum);
    if (status == LEAT_OK)
        status = read_back(s, &sum, size, reading, err);
    if (status == LEAT_OK && !checksum_equal(page_sum_now(&sum), right))
        status = status_set_hint(err, LEAT_E_CHECKPOINT, LEAT_HINT_REPLACE, s->path,
                                 "%s is damaged: it is not what it was at the checkpoint, so the run cannot be "
                                 "resumed; start over",
                                 s->path);
    return status;
}

enum leat_status sink_reopen(struct sink *s, const char *path, size_t frame_bytes, uint64_t size, struct hash128 sum,
                             struct sink_reading *reading, struct leat_error *err)
{
    enum leat_status status = prepare(s, path, frame_bytes, err);

    if (status != LEAT_OK)
        return status;
    status = reopen(s, size, sum, reading, err);
    if (status != LEAT_OK)
        sink_close(s);
    return status;
}

/* Cuts the file. Its end, a frame that was not full, goes back to memory. */
enum leat_status sink_cut(struct sink *s, uint64_t size, struct leat_error *err)
{
    size_t rest = (size_t)(size % s->frame_bytes);
    enum leat_status status = file_cut_back(s->fd, size, s->path, err);
    struct sink_frame *f;

    if (status != LEAT_OK || rest == 0)
        return status;
    f = find_frame(s, size);
    if (!f)
        return status_no_memory(err, s->frame_bytes);
    f->filled = rest;
    return file_read_at(s->fd, f->offset, f->bytes, rest, s->path, err);
}

/* ---- Closing ---- */

static void free_frames(struct sink_frame **list)
{
    while (*list) {
        struct sink_frame *f = *list;

        *list = f->next;
        free(f);
    }
}

void sink_close(struct sink *s)
{
    sink_end_direct(s);
    file_close(&s->fd);
    if (!s->path)
        return;
    free_frames(&s->open);
    free_frames(&s->spare);
    pthread_mutex_destroy(&s->lock);
    free(s->path);
    s->path = NULL;
}
