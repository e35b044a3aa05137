/*
 * engine_uring.c: reads rows by io_uring.
 *
 * As many reads are in flight as there are buffers, over all jobs that were begun, so that one slow read delays only
 * its own batch. Whole pages are read into registered buffers, as O_DIRECT and the hashes need, verified, and copied to
 * their rows. A piece with a span (room for the pages around it) is read in place, without a copy. A read that fails or
 * comes back short leaves its piece to plain reads.
 *
 * There are two kinds of pages: hashes cover pages of the tokens, reads cover pages of the file. If the tokens begin
 * inside a page of the file, a read is one page longer, and the tokens begin inside its first page (`from`,
 * tokens_of()).
 */
#include "gather_engine.h"

#if defined(LEAT_HAVE_URING) && LEAT_HAVE_URING

#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/counter.h"
#include "base/file.h"
#include "base/status.h"

/* ---- The ring ---- */

/* liburing maps and unmaps a ring by system calls of its own, which ThreadSanitizer does not see: it takes a new ring
 * for the memory that lay there before, of another thread, and reports a race. So it leaves out what stands between
 * these: only the thread that opened a ring touches it. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RING_IS_TRACED
#endif
#elif defined(__SANITIZE_THREAD__)
#define RING_IS_TRACED
#endif
#if defined(RING_IS_TRACED)
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
#define RING_TOUCHES() (AnnotateIgnoreReadsBegin(__FILE__, __LINE__), AnnotateIgnoreWritesBegin(__FILE__, __LINE__))
#define RING_TOUCHED() (AnnotateIgnoreWritesEnd(__FILE__, __LINE__), AnnotateIgnoreReadsEnd(__FILE__, __LINE__))
#else
#define RING_TOUCHES() ((void)0)
#define RING_TOUCHED() ((void)0)
#endif

/* One thread submits and reaps, so the kernel need not lock against others or interrupt it; older kernels still do. */
static inline int ring_open(struct io_uring *ring, unsigned reads, bool one_thread)
{
    int r = -EINVAL;

#if defined(IORING_SETUP_SINGLE_ISSUER) && defined(IORING_SETUP_DEFER_TASKRUN)
    if (one_thread)
        r = io_uring_queue_init(reads, ring, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN);
#else
    (void)one_thread;
#endif
    return r < 0 ? io_uring_queue_init(reads, ring, 0) : r;
}

#define MAX_READS  128u
#define LARGEST    ((uint64_t)256 << 10) /* a read: as many as MAX_MEMORY holds of them keep a disk busy */
#define MAX_MEMORY ((uint64_t)8 << 20)   /* size of all buffers */

/* A read in flight, or a free buffer. */
struct slot {
    struct gather_job *job;
    uint32_t piece;
    uint32_t next_free;
    uint64_t begin, end; /* range of the tokens: whole pages, except at the end */
    uint64_t from;       /* in the file: the page that `begin` lies in */
    uint64_t wanted;     /* bytes from there on that must come back */
    uint8_t *to;         /* memory that the bytes go to */
    bool direct;         /* bypasses the page cache */
};

struct gather_uring {
    struct io_uring ring;
    uint8_t *buffers;
    uint64_t buffer_bytes;
    struct slot *slots;
    uint32_t count, free, in_flight;    /* `free`: the first one; count: none */
    bool registered, memory_registered; /* the buffers; g->memory */
    bool stopped;                       /* it failed: completions are ignored from now on */
    struct gather_job *first, *last;    /* jobs with pieces to send */
};

/* Registers the memory of spans instead of the buffers, if many pieces have spans: buffers are then hardly used, and
 * touched only if they are. If the kernel refuses, the limit of locked memory is too low. */
static void register_memory(struct gather *g, struct gather_uring *u)
{
    struct iovec all[GATHER_MAX] = { { u->buffers, (size_t)(u->count * u->buffer_bytes) } };
    const struct gather_memory *m = &g->memory;

    for (unsigned i = 0; m->base && i < m->count; i++)
        all[i] = (struct iovec) { m->base + i * m->stride, m->stride };
    if (io_uring_register_buffers(&u->ring, all, m->base ? m->count : 1) != 0)
        atomic_store(&g->uring_unregistered, true);
    else if (m->base)
        u->memory_registered = true;
    else
        u->registered = true;
}

static bool make_buffers(struct gather *g, struct gather_uring *u)
{
    uint64_t span = bytes_divide_up(g->max_bytes, GATHER_PAGE) * GATHER_PAGE + GATHER_PAGE * (1 + g->unaligned);
    void *buffers;

    u->buffer_bytes = span < LARGEST ? span : LARGEST;
    u->count = (uint32_t)(MAX_MEMORY / u->buffer_bytes);
    if (u->count > MAX_READS)
        u->count = MAX_READS;
    buffers =
        mmap(NULL, (size_t)(u->count * u->buffer_bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    u->buffers = buffers == MAP_FAILED ? NULL : buffers;
    u->slots = calloc(u->count, sizeof *u->slots);
    if (!u->buffers || !u->slots)
        return false;
    for (uint32_t i = 0; i < u->count; i++)
        u->slots[i].next_free = i + 1;
    register_memory(g, u);
    return true;
}

static void free_buffers(struct gather_uring *u)
{
    if (u->buffers)
        munmap(u->buffers, (size_t)(u->count * u->buffer_bytes));
    free(u->slots);
}

/* Opens the ring unless it is open; false: not available, and g->uring_refused is set. */
static bool ring_is_open(struct gather *g)
{
    struct gather_uring *u;
    int r;

    if (g->uring_refused)
        return false;
    if (g->uring)
        return true;
    u = calloc(1, sizeof *u);
    r = u ? ring_open(&u->ring, MAX_READS, g->threaded) : -ENOMEM;
    if (r >= 0 && !make_buffers(g, u)) {
        free_buffers(u);
        io_uring_queue_exit(&u->ring);
        r = -ENOMEM;
    }
    if (r < 0) {
        free(u);
        g->uring_refused = true;
        g->uring_error = -r;
        atomic_store(&g->uring_is_refused, true);
        return false;
    }
    g->uring = u;
    return true;
}

/* ---- Sending ---- */

/* Opens the file for reads past the page cache, unless the file is to be warmed. Through /proc, because the name may by
 * now stand for another file. */
static int file_of(struct gather_file *f)
{
#if defined(O_DIRECT)
    if (!f->direct_tried) {
        char path[64];

        f->direct_tried = true;
        snprintf(path, sizeof path, "/proc/self/fd/%d", f->map->fd);
        f->direct = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC | O_NONBLOCK);
    }
#endif
    return f->direct >= 0 && !f->warm_wanted ? f->direct : f->map->fd;
}

static bool is_direct(struct gather *g, struct gather_file *f)
{
    return ring_is_open(g) && file_of(f) == f->direct;
}

static void prepare_read(const struct gather *g, const struct gather_uring *u, struct io_uring_sqe *sqe, int fd,
                         const struct slot *s, bool in_memory)
{
    /* whole pages also at the file's end */
    unsigned bytes = (unsigned)(bytes_divide_up(s->wanted, GATHER_PAGE) * GATHER_PAGE);

    if (in_memory ? u->memory_registered : u->registered)
        io_uring_prep_read_fixed(sqe, fd, s->to, bytes, s->from,
                                 in_memory ? (int)((size_t)(s->to - g->memory.base) / g->memory.stride) : 0);
    else
        io_uring_prep_read(sqe, fd, s->to, bytes, s->from);
}

static void send_read(struct gather *g, struct gather_uring *u, struct gather_job *job, uint32_t piece, uint64_t begin,
                      uint64_t end)
{
    struct gather_piece *p = &job->pieces[piece];
    struct gather_file *f = &g->files[p->file];
    uint32_t number = u->free;
    struct slot *s = &u->slots[number];
    struct io_uring_sqe *sqe;
    int fd = file_of(f);

    u->free = s->next_free;
    *s = (struct slot) { .job = job, .piece = piece, .begin = begin, .end = end, .direct = fd == f->direct };
    s->from = (f->offset + begin) / GATHER_PAGE * GATHER_PAGE;
    s->wanted = f->offset + end - s->from;
    s->to = p->span ? p->span + (begin - gather_span_begin(p)) : u->buffers + number * u->buffer_bytes;
    RING_TOUCHES();
    sqe = io_uring_get_sqe(&u->ring);
    prepare_read(g, u, sqe, fd, s, p->span != NULL);
    io_uring_sqe_set_data64(sqe, number);
    RING_TOUCHED();
    p->in_flight++;
    job->in_flight++;
    u->in_flight++;
}

/* Sends waiting reads, oldest job first, while buffers are free. The ring has a place for each buffer. */
static void send_more(struct gather *g, struct gather_uring *u)
{
    while (u->first && u->free < u->count) {
        struct gather_job *job = u->first;
        const struct gather_file *f;
        struct gather_piece *p;
        uint64_t begin, end, max;

        while (job->next < job->count && job->pieces[job->next].state != GATHER_WAITING) {
            job->next++;
            job->next_at = 0;
        }
        if (job->next == job->count) {
            u->first = job->later;
            continue;
        }
        p = &job->pieces[job->next];
        f = &g->files[p->file];
        begin = gather_span_begin(p) + job->next_at;
        end = gather_span_end(f, p);
        /* if pages of the tokens cross those of the file, one more page of the file */
        max = u->buffer_bytes - (f->offset % GATHER_PAGE ? GATHER_PAGE : 0);
        if (end - begin > max)
            end = begin + max;
        send_read(g, u, job, job->next, begin, end);
        job->next_at += end - begin;
        if (gather_span_begin(p) + job->next_at == gather_span_end(f, p)) {
            job->next++;
            job->next_at = 0;
        }
    }
    if (u->in_flight > atomic_load_explicit(&g->counters.max_in_flight, memory_order_relaxed))
        atomic_store_explicit(&g->counters.max_in_flight, u->in_flight, memory_order_relaxed);
}

static bool prepare_reads(struct gather *g, struct gather_job *job, struct gather_piece *p)
{
    if (!ring_is_open(g))
        return false;
    p->state = GATHER_WAITING;
    p->unread = gather_span_end(&g->files[p->file], p) - gather_span_begin(p);
    job->waiting++;
    return true;
}

static void send_job(struct gather *g, struct gather_job *job)
{
    struct gather_uring *u = g->uring;

    if (job->waiting == 0)
        return;
    if (u->first)
        u->last->later = job;
    else
        u->first = job;
    u->last = job;
    send_more(g, u);
    io_uring_submit(&u->ring);
}

/* ---- What comes back ---- */

static void leave_to_reads(struct gather_job *job, struct gather_piece *p)
{
    if (p->state == GATHER_WAITING)
        job->waiting--;
    p->state = GATHER_TO_DO;
}

/* Returns where the tokens from s->begin on lie in memory. */
static const uint8_t *tokens_of(const struct gather_file *f, const struct slot *s)
{
    return s->to + (f->offset + s->begin - s->from);
}

/* Returns true if the bytes read are the file's, as far as can be known: by the hashes of pages not verified yet. */
static bool is_good(struct gather *g, struct gather_file *f, const struct slot *s)
{
    if (gather_must_verify(f, s->begin, s->end))
        return gather_verify(&g->worker, f, s->begin, s->end, tokens_of(f, s), NULL) == LEAT_OK;
    /* the kernel lets no truncation overlap with a direct read */
    return s->direct || !gather_shrank(f);
}

static void take_read(struct gather *g, struct gather_uring *u, uint32_t number, int result)
{
    struct slot *s = &u->slots[number];
    struct gather_piece *p = &s->job->pieces[s->piece];
    struct gather_file *f = &g->files[p->file];

    /* some file systems open a file with O_DIRECT but cannot read it: use the page cache from now on */
    if (result == -EINVAL)
        file_close(&f->direct);
    p->unread -= s->end - s->begin;
    if (p->state == GATHER_WAITING) {
        counter_bump(&g->worker.read_bytes, s->end - s->begin);
        if (result < 0 || (uint64_t)result < s->wanted || !is_good(g, f, s)) {
            leave_to_reads(s->job, p);
        } else {
            if (!p->span || !s->direct)
                gather_copy_out(&g->worker, p, s->begin, s->end, tokens_of(f, s));
            if (p->unread == 0) {
                p->state = GATHER_DONE;
                s->job->waiting--;
            }
        }
    }
    p->in_flight--;
    s->job->in_flight--;
    s->next_free = u->free;
    u->free = number;
    u->in_flight--;
}

static void take_reads(struct gather *g, struct gather_uring *u)
{
    struct io_uring_cqe *cqe;
    unsigned head, taken = 0;

    RING_TOUCHES();
    io_uring_for_each_cqe(&u->ring, head, cqe)
    {
        uint32_t number = (uint32_t)io_uring_cqe_get_data64(cqe);
        int result = cqe->res;

        RING_TOUCHED();
        take_read(g, u, number, result);
        taken++;
        RING_TOUCHES();
    }
    io_uring_cq_advance(&u->ring, taken);
    RING_TOUCHED();
}

/*
 * Waits until some reads are back. Waking costs as much as a read, so while many are in flight it waits for several.
 * -ETIME: none came back for some milliseconds. While one read is slow there may be room for further jobs, so the
 * caller gets its turn now and then, if the kernel can wake this thread without a completed read.
 */
#define SLOW_NS 5000000 /* more than disks take, so that this rarely wakes the thread */

static int wait_for_some(struct gather *g, struct gather_uring *u)
{
    unsigned some = u->in_flight / 8 < 1 ? 1 : u->in_flight / 8;
    struct __kernel_timespec max = { .tv_nsec = SLOW_NS };
    uint64_t began = clock_ns();
    struct io_uring_cqe *cqe;
    int r;

    if (u->ring.features & IORING_FEAT_EXT_ARG)
        r = io_uring_submit_and_wait_timeout(&u->ring, &cqe, some, &max, NULL);
    else
        r = io_uring_submit_and_wait(&u->ring, some);
    counter_bump(&g->counters.storage_ns, clock_ns() - began);
    return r;
}

/* Returns true if to wait for a piece; also for one that is left to plain reads, while its other reads may still write
 * to the same place. */
static bool is_under_way(const struct gather_piece *p)
{
    return p->state == GATHER_WAITING || (p->span && p->in_flight > 0);
}

static bool has_stopped(int result)
{
    return result < 0 && result != -EINTR && result != -EAGAIN && result != -EBUSY && result != -ETIME;
}

/* Lets the files be read with advice from now on. Reads in flight still come back, perhaps when their piece belongs to
 * another job; so all completions are ignored. */
static void stop_ring(struct gather *g, int error)
{
    g->uring->stopped = g->uring_refused = true;
    g->uring_error = error;
    atomic_store(&g->uring_is_refused, true);
}

/* For a ring that has stopped: reads may still write to buffers, which are not used, but not to a span. */
static enum leat_status give_up(struct gather *g, struct gather_job *job, struct gather_piece *p,
                                struct leat_error *err)
{
    leave_to_reads(job, p);
    if (!p->span || p->in_flight == 0)
        return LEAT_OK;
    return status_set(err, LEAT_E_UNSUPPORTED,
                      "io_uring stopped reporting completions (errno %d): open the loader with another "
                      "engine",
                      g->uring_error);
}

static enum leat_status wait_for_piece(struct gather *g, struct gather_job *job, uint32_t piece, struct leat_error *err)
{
    struct gather_uring *u = g->uring;
    struct gather_piece *p = &job->pieces[piece];

    if (u->stopped)
        return give_up(g, job, p, err);
    take_reads(g, u);
    if (!is_under_way(p))
        return LEAT_OK;
    while (is_under_way(p)) {
        int r;

        send_more(g, u);
        r = wait_for_some(g, u);
        if (has_stopped(r)) {
            stop_ring(g, -r);
            return give_up(g, job, p, err);
        }
        take_reads(g, u);
        if (r == -ETIME && is_under_way(p))
            return LEAT_E_AGAIN;
    }
    send_more(g, u);
    io_uring_submit(&u->ring);
    return LEAT_OK;
}

/* Waits until *in_flight is 0, or the ring has stopped. */
static void await_reads(struct gather *g, struct gather_uring *u, const uint32_t *in_flight)
{
    while (*in_flight > 0 && !u->stopped) {
        int r = io_uring_submit_and_wait(&u->ring, 1);

        if (has_stopped(r))
            stop_ring(g, -r);
        else
            take_reads(g, u);
    }
}

/* A job whose pieces are done may still have reads in flight, for a piece that was left to plain reads, and may still
 * be in the queue. */
static void end_job(struct gather *g, struct gather_job *job)
{
    struct gather_uring *u = g->uring;

    if (!u)
        return;
    if (u->first == job)
        u->first = job->later;
    await_reads(g, u, &job->in_flight);
}

/* Reads in flight write into buffers and spans: waits for them. If that is not possible, buffers and spans are never
 * freed, because the reads would write over whatever came to lie there. */
static void close_ring(struct gather *g)
{
    struct gather_uring *u = g->uring;

    if (!u)
        return;
    u->first = NULL;
    await_reads(g, u, &u->in_flight);
    gather_leave(&g->worker);
    io_uring_queue_exit(&u->ring);
    if (u->in_flight > 0) {
        u->buffers = NULL;
        g->memory_is_written = g->memory.base != NULL;
    }
    free_buffers(u);
    free(u);
    g->uring = NULL;
}

const struct gather_engine engine_uring = { .begin = prepare_reads,
                                            .begin_job = send_job,
                                            .wait = wait_for_piece,
                                            .end_job = end_job,
                                            .close = close_ring,
                                            .is_direct = is_direct };

#else

#include <errno.h>

static bool refuse_reads(struct gather *g, struct gather_job *job, struct gather_piece *p)
{
    (void)job;
    (void)p;
    g->uring_refused = true;
    g->uring_error = ENOTSUP; /* an errno that no kernel returns here */
    atomic_store(&g->uring_is_refused, true);
    return false;
}

const struct gather_engine engine_uring = { .begin = refuse_reads };

#endif
