/*
 * engine_advise.c: reads rows with read calls, and advises the kernel which stretches will be read, for the rows of all
 * free slots: for systems that forbid io_uring, and for network file systems. The kernel reads the stretches in
 * parallel, and plain reads then find them in memory.
 *
 * Why does a thread of its own read on network file systems? A plain read waits for what the kernel has not got yet,
 * and nobody can ask it to return sooner: not FUSE, nor NFS, have reads that do not wait. Slots that come back in the
 * meantime would not be begun: on a file server that takes 5 ms, a third of all rows under way were missing for that
 * reason. So the *reader* waits, piece by piece in their order, while the thread that gathers sleeps where it is woken
 * for slots, too. A disk answers sooner than a thread is woken, so there the thread that gathers reads.
 */
#include <fcntl.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/counter.h"
#include "base/gate.h"
#include "base/thread.h"
#include "gather_engine.h"

/* ---- The reader ---- */

#define STACK ((size_t)256 << 10)

struct gather_reader {
    struct gather *g;
    pthread_t thread;
    struct gate work; /* where the reader waits for jobs */
    atomic_bool stop;
    atomic_uint_fast64_t given;          /* number of jobs so far */
    atomic_uint_fast64_t done;           /* number of the job << 32 | number of its first pieces that are done */
    atomic_uint_fast64_t left;           /* jobs with lower numbers are not read further */
    struct gather_job *jobs[GATHER_MAX]; /* number n at n % GATHER_MAX */
};

static void note_done(struct gather_reader *r, uint64_t done)
{
    atomic_store(&r->done, done);
    gate_open(r->g->gate);
}

/* Reads the announced pieces of a job. Other threads change its other pieces meanwhile. */
static void read_job(struct gather_reader *r, const struct gather_job *job, uint64_t number)
{
    struct gather_worker *w = &r->g->reader_worker;
    uint32_t announced = job->announced;

    for (uint32_t i = 0; announced > 0 && !atomic_load(&r->stop) && atomic_load(&r->left) <= number; i++) {
        struct gather_piece *p = &job->pieces[i];

        if (!p->announced)
            continue;
        p->left = engine_pread.copy(w, &r->g->files[p->file], p, NULL) != LEAT_OK;
        if (--announced > 0)
            note_done(r, number << 32 | (i + 1));
    }
    gather_leave(w);
    note_done(r, (number + 1) << 32);
}

static void *run_reader(void *context)
{
    static const atomic_bool at_once = true; /* a piece that has to wait for a failing file system is left */
    struct gather_reader *r = context;
    uint64_t next = 0;

    gather_worker_start(&r->g->reader_worker, &at_once);
    while (!atomic_load(&r->stop)) {
        unsigned ticket = gate_ticket(&r->work);

        if (next < atomic_load(&r->given)) {
            read_job(r, r->jobs[next % GATHER_MAX], next);
            next++;
        } else if (!atomic_load(&r->stop)) {
            gate_sleep(&r->work, ticket, 0);
        }
    }
    gather_worker_stop(&r->g->reader_worker);
    return NULL;
}

/* Starts the reader if it does not run yet. Returns true if it runs. */
static bool reader_runs(struct gather *g)
{
    struct gather_reader *r;

    if (g->reader || !g->gate || g->reader_refused)
        return g->reader;
    r = calloc(1, sizeof *r);
    g->reader_refused = true;
    if (r && (g->reader_worker.scratch || gather_worker_open(&g->reader_worker, g, NULL) == LEAT_OK)) {
        r->g = g;
        g->reader_refused = thread_start(&r->thread, STACK, run_reader, r) != 0;
    }
    if (g->reader_refused)
        free(r);
    else
        g->reader = r;
    return g->reader;
}

#define PATIENCE_NS 5000000u

static enum leat_status await_piece(struct gather *g, struct gather_job *job, uint32_t piece, struct leat_error *err)
{
    struct gather_reader *r = g->reader;
    struct gather_piece *p = &job->pieces[piece];
    uint64_t done = job->number_read << 32 | (piece + 1), began = clock_ns();
    unsigned ticket = gate_ticket(g->gate);

    (void)err;
    if (atomic_load(&r->done) < done)
        gate_sleep(g->gate, ticket, PATIENCE_NS);
    counter_bump(&g->counters.storage_ns, clock_ns() - began);
    if (atomic_load(&r->done) < done)
        return LEAT_E_AGAIN;
    p->state = p->left ? GATHER_TO_DO : GATHER_DONE;
    return LEAT_OK;
}

/* Waits until the reader no longer touches a job, which may end early because a piece failed. */
static void end_job(struct gather *g, struct gather_job *job)
{
    struct gather_reader *r = g->reader;
    uint64_t end = (job->number_read + 1) << 32;

    if (!r || job->announced == 0)
        return;
    if (atomic_load(&r->done) < end)
        atomic_store(&r->left, job->number_read + 1);
    while (atomic_load(&r->done) < end) {
        unsigned ticket = gate_ticket(g->gate);

        if (atomic_load(&r->done) < end)
            gate_sleep(g->gate, ticket, 0);
    }
    job->announced = 0;
}

static void close_reader(struct gather *g)
{
    struct gather_reader *r = g->reader;

    if (!r)
        return;
    atomic_store(&r->stop, true);
    gate_open(&r->work);
    pthread_join(r->thread, NULL);
    free(r);
    g->reader = NULL;
}

/* ---- Advice ---- */

/* The kernel cuts advice to the length of its read-ahead, so long stretches need several calls. */
#define ADVICE ((uint64_t)128 << 10)

/*
 * The hashes of a row's pages come with it. The thread would wait for them otherwise, with nothing under way: on a file
 * server that takes 5 ms, one row in fifty did, and the rows came at two thirds of the speed. A block of them covers
 * 64 MiB of tokens, so that they take few requests. It is announced once a second at most (gather_look()): the kernel
 * looks for each of its pages, which took a tenth of the time of shuffled rows.
 */
#define HASH_BLOCK ((uint64_t)64 << 10)

static void announce_hashes(struct gather *g, const struct gather_file *f, uint64_t begin, uint64_t end)
{
    const struct part_extent *hashes = &f->part->hashes;
    uint64_t from, to;

    if (!hashes->file || !gather_must_verify(f, begin, end))
        return;
    from = (hashes->offset + 4 * (begin / GATHER_PAGE)) / HASH_BLOCK;
    to = bytes_divide_up(hashes->offset + 4 * bytes_divide_up(end, GATHER_PAGE), HASH_BLOCK);
    for (; from < to; from++) {
        uint64_t number = ((uint64_t)(f - g->files) << 40 | from) + 1; /* 0: none */
        uint64_t *seen = &g->announced[(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) % GATHER_ANNOUNCED];

        if (*seen == number)
            continue;
        *seen = number;
#if defined(POSIX_FADV_WILLNEED)
        posix_fadvise(hashes->file->fd, (off_t)(from * HASH_BLOCK), (off_t)HASH_BLOCK, POSIX_FADV_WILLNEED);
#endif
    }
}

/* Advises the kernel of g->advice: rows that follow each other in a file are one stretch, and need few calls. */
static void advise_kernel(struct gather *g)
{
    const struct gather_stretch *a = &g->advice;
    const struct gather_file *f = &g->files[a->file];

#if defined(POSIX_FADV_WILLNEED)
    if (a->begin < a->end)
        announce_hashes(g, f, a->begin, a->end);
    for (uint64_t at = a->begin; at < a->end; at += ADVICE)
        posix_fadvise(f->map->fd, (off_t)(f->offset + at), (off_t)(a->end - at < ADVICE ? a->end - at : ADVICE),
                      POSIX_FADV_WILLNEED);
#else
    (void)f;
#endif
    g->advice = (struct gather_stretch) { .file = 0 };
}

static bool advise_of_piece(struct gather *g, struct gather_job *job, struct gather_piece *p)
{
    const struct gather_file *f = &g->files[p->file];
    uint64_t from = gather_span_begin(p), end = gather_span_end(f, p);
    struct gather_stretch *a = &g->advice;

    if (f->hot)
        return true;
    if (a->begin < a->end && a->file == p->file && a->begin <= from && from <= a->end) {
        a->end = end > a->end ? end : a->end;
    } else {
        advise_kernel(g);
        *a = (struct gather_stretch) { p->file, from, end };
    }
    if (f->network && p->bytes > 0 && reader_runs(g)) {
        p->state = GATHER_WAITING;
        p->announced = true;
        job->announced++;
    }
    return true;
}

static void start_reads(struct gather *g, struct gather_job *job)
{
    struct gather_reader *r = g->reader;

    advise_kernel(g);
    if (job->announced == 0)
        return;
    job->number_read = atomic_load(&r->given);
    r->jobs[job->number_read % GATHER_MAX] = job;
    atomic_store(&r->given, job->number_read + 1);
    gate_open(&r->work);
}

const struct gather_engine engine_advise = {
    .begin = advise_of_piece, .begin_job = start_reads, .wait = await_piece, .end_job = end_job, .close = close_reader
};
