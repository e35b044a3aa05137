/*
 * gather_pool.c: the threads of a pool, and how they share a job.
 *
 * A job that is offered is divided into chunks of pieces, so large that taking one costs little, so small that each
 * thread gets some. A thread takes a chunk by counting down `left`, and the job is copied when as many chunks are
 * `done`: threads agree about nothing else. A thread that has taken a chunk looks at the rest of the offer only then,
 * and the offer stays until the chunk is done; so it does not matter if the place was given to a later job in between:
 * the chunk is one of that job then.
 *
 * A thread writes to its own struct gather_worker, sets single bits that nobody clears, or writes to the rows of its
 * chunk. It does not write to a piece unless that fails: 128 pieces would otherwise travel back to the thread that
 * finishes them, one by one.
 */
#include "gather_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/counter.h"
#include "base/gate.h"
#include "base/numa.h"
#include "base/thread.h"
#include "base/tiny.h"

#define STACK ((size_t)256 << 10)

/* Bytes of a chunk: a job's share for a thread, in two parts, within these bounds. 128 KiB take 15 to 40 us. */
#define CHUNKS_EACH 2u
#define CHUNK_LEAST TINY_OR((uint64_t)1, (uint64_t)128 << 10)
#define CHUNK_MOST  ((uint64_t)512 << 10)

/*
 * The pool wants more jobs until each thread has work for this number of largest chunks. If all slots were begun, none
 * would be filled again while it lies in a processor's cache, where a quick consumer leaves it: on a busy EPYC, two
 * threads took 0.53 and 0.47 ms of CPU time per million tokens for batches of 128 KiB and 2 MiB, and with this limit
 * 0.48 and 0.44; one thread takes 0.45 and 0.37.
 */
#define ENOUGH 2u

/* A job of fewer bytes is not offered: agreeing about it takes too long beside copying it. */
#define WORTH_SHARING TINY_OR((uint64_t)1, (uint64_t)64 << 10)

/* Bytes that must wait before a thread is woken, which costs 5 us here and up to 50 there. */
#define WORTH_WAKING TINY_OR((uint64_t)1, (uint64_t)256 << 10)

/* A thread that was needed again within SHORT_NS polls for work for LOOK_NS before it sleeps. */
#define SHORT_NS     100000u
#define LOOK_NS      30000u
#define LOOK_DONE_NS 20000u /* how long to poll for chunks that other threads copy */

/* A job that was begun and not ended. */
struct offer {
    _Alignas(64) atomic_int_fast64_t left; /* chunks that nobody has taken; below 0 if somebody came too late */
    atomic_uint_fast64_t done;             /* chunks */
    struct gather_job *job;
    uint32_t chunk, chunks; /* pieces per chunk, and number of chunks */
    uint64_t bytes;         /* per chunk, about */
};

struct member {
    _Alignas(64) struct gather_worker worker;
    struct gather_pool *pool;
    pthread_t thread;
};

struct gather_pool {
    struct gather *g;
    unsigned threads; /* those that run */
    unsigned workers;
    struct member *members;
    _Alignas(64) atomic_uint_fast64_t offered; /* jobs */
    atomic_uint_fast64_t ended;
    atomic_bool stop, urgent;
    _Alignas(64) atomic_int_fast64_t waiting; /* bytes in chunks that nobody has taken */
    _Alignas(64) struct gate work;            /* where the threads wait for chunks */
    _Alignas(64) struct gate made;            /* where the thread that finishes jobs waits for them */
    struct offer offers[GATHER_MAX];
};

/* ---- Chunks ------------------------------------------------------------------------------------------------------ */

static struct offer *offer_of(struct gather_pool *p, uint64_t number)
{
    return &p->offers[number % GATHER_MAX];
}

/* Takes a chunk: pieces [*first, *end) of the offer's job. Returns false if none is left. */
static bool take_chunk(struct gather_pool *p, struct offer *o, uint32_t *first, uint32_t *end)
{
    int64_t left;

    if (atomic_load_explicit(&o->left, memory_order_relaxed) <= 0)
        return false;
    left = atomic_fetch_sub_explicit(&o->left, 1, memory_order_acquire);
    if (left <= 0)
        return false;
    atomic_fetch_sub_explicit(&p->waiting, (int64_t)o->bytes, memory_order_relaxed);
    *first = (o->chunks - (uint32_t)left) * o->chunk;
    *end = o->job->count - *first < o->chunk ? o->job->count : *first + o->chunk;
    return true;
}

/* Wakes a thread if that pays; that thread wakes the next one. A thread that is just about to sleep may be missed. */
static void wake_one(struct gather_pool *p)
{
    if (atomic_load_explicit(&p->work.sleepers, memory_order_relaxed) > 0 &&
        atomic_load_explicit(&p->urgent, memory_order_relaxed) &&
        atomic_load_explicit(&p->waiting, memory_order_relaxed) >= (int64_t)WORTH_WAKING)
        gate_open_for_one(&p->work);
}

/* Takes a chunk of the offer and copies it; returns false if none is left. */
static bool copy_chunk(struct gather_pool *p, struct offer *o, struct gather_worker *w)
{
    uint32_t first, end, chunks;
    struct gather_job *job;

    if (!take_chunk(p, o, &first, &end))
        return false;
    wake_one(p);
    job = o->job;
    chunks = o->chunks;
    for (uint32_t i = first; i < end; i++)
        if (job->pieces[i].shared && gather_copy_piece(w, job->pieces[i].engine, job, i, end, NULL) != LEAT_OK)
            job->pieces[i].left = true;
    if (atomic_fetch_add_explicit(&o->done, 1, memory_order_release) + 1 == chunks)
        gate_open(&p->made);
    return true;
}

#define NO_JOB UINT64_MAX

/* Copies a chunk of the oldest job, from number `from` on, that has one left. Returns the job's number, or NO_JOB. */
static uint64_t copy_oldest(struct gather_pool *p, uint64_t from, struct gather_worker *w)
{
    uint64_t offered = atomic_load(&p->offered);

    for (uint64_t i = from; i < offered; i++)
        if (copy_chunk(p, offer_of(p, i), w))
            return i;
    return NO_JOB;
}

/* ---- The threads ------------------------------------------------------------------------------------------------- */

/* Copies chunks until the pool stops. Maps stay entered within a job, since entering one costs two system calls. */
static void *run_pool_thread(void *context)
{
    static const atomic_bool at_once = true; /* a piece that has to wait for a failing file system is left */
    struct member *m = context;
    struct gather_pool *p = m->pool;
    uint64_t waited = UINT64_MAX, last = NO_JOB;

    gather_worker_start(&m->worker, &at_once);
    while (!atomic_load(&p->stop)) {
        unsigned ticket = gate_ticket(&p->work);
        uint64_t offered = atomic_load(&p->offered), began = clock_ns();
        uint64_t job = copy_oldest(p, atomic_load(&p->ended), &m->worker);

        if (job != last)
            gather_leave(&m->worker);
        last = job;
        if (job != NO_JOB) {
            counter_bump(&m->worker.busy_ns, clock_ns() - began);
            continue;
        }
        if (waited < SHORT_NS)
            gate_look(&p->offered, offered, began, LOOK_NS);
        if (atomic_load(&p->offered) == offered && !atomic_load(&p->stop))
            gate_sleep(&p->work, ticket, 0);
        waited = clock_ns() - began;
    }
    gather_leave(&m->worker);
    gather_worker_stop(&m->worker);
    return NULL;
}

int gather_pool_open(struct gather_pool **out, struct gather *g, unsigned threads, int node)
{
    struct gather_pool *p = *out = aligned_alloc(64, sizeof *p);
    int r = 0;

    if (!p)
        return ENOMEM;
    memset(p, 0, sizeof *p);
    p->g = g;
    p->members = aligned_alloc(64, threads * sizeof *p->members);
    if (!p->members)
        return ENOMEM;
    memset(p->members, 0, threads * sizeof *p->members);
    for (; r == 0 && p->workers < threads; p->workers++)
        if (gather_worker_open(&p->members[p->workers].worker, g, NULL) != LEAT_OK)
            r = ENOMEM;
    for (unsigned i = 0; r == 0 && i < threads; i++) {
        struct member *m = &p->members[i];

        m->pool = p;
        r = thread_start(&m->thread, STACK, run_pool_thread, m);
        if (r == 0) {
            p->threads++;
            numa_place_thread("/sys", m->thread, node);
        }
    }
    return r;
}

void gather_pool_stop(struct gather_pool *p)
{
    if (!p)
        return;
    atomic_store(&p->stop, true);
    gate_open(&p->work);
    for (; p->threads > 0; p->threads--)
        pthread_join(p->members[p->threads - 1].thread, NULL);
}

void gather_pool_forget(struct gather_pool *p)
{
    if (!p)
        return;
    atomic_store(&p->stop, true);
    p->threads = 0;
}

void gather_pool_close(struct gather_pool *p)
{
    if (!p)
        return;
    gather_pool_stop(p);
    for (unsigned i = 0; i < p->workers; i++)
        gather_worker_close(&p->members[i].worker);
    free(p->members);
    free(p);
}

const struct gather_worker *gather_pool_worker(const struct gather_pool *p, unsigned number)
{
    return p && number < p->workers ? &p->members[number].worker : NULL;
}

/* ---- Jobs -------------------------------------------------------------------------------------------------------- */

void gather_pool_set_urgent(struct gather_pool *p, bool urgent)
{
    if (!p)
        return;
    atomic_store_explicit(&p->urgent, urgent, memory_order_relaxed);
    wake_one(p);
}

bool gather_pool_wants(const struct gather_pool *p)
{
    return p && atomic_load_explicit(&p->waiting, memory_order_relaxed) <
                    (int64_t)(ENOUGH * CHUNK_MOST * ((uint64_t)p->workers + 1));
}

void gather_pool_offer(struct gather_pool *p, struct gather_job *job, uint64_t bytes)
{
    uint64_t number = atomic_load_explicit(&p->offered, memory_order_relaxed), chunk, pieces;
    struct offer *o = offer_of(p, number);

    if (bytes < WORTH_SHARING)
        return;
    chunk = bytes / (CHUNKS_EACH * ((uint64_t)p->workers + 1));
    chunk = chunk < CHUNK_LEAST ? CHUNK_LEAST : chunk > CHUNK_MOST ? CHUNK_MOST : chunk;
    pieces = bytes_divide_up(job->count, bytes > chunk ? bytes / chunk : 1);
    o->job = job;
    o->chunk = (uint32_t)pieces;
    o->chunks = (uint32_t)bytes_divide_up(job->count, o->chunk);
    o->bytes = bytes / o->chunks;
    job->offered = true;
    job->awaited = false;
    job->number = number;
    atomic_store_explicit(&o->done, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&p->waiting, (int64_t)(o->bytes * o->chunks), memory_order_relaxed);
    atomic_store_explicit(&o->left, o->chunks, memory_order_release);
    atomic_store(&p->offered, number + 1);
    wake_one(p);
}

/* Waits until a chunk is done that another thread copies. */
static void await_chunk(struct gather_pool *p, struct offer *o)
{
    unsigned ticket = gate_ticket(&p->made);
    uint64_t done = atomic_load_explicit(&o->done, memory_order_acquire);

    if (done == o->chunks)
        return;
    gate_look(&o->done, done, clock_ns(), LOOK_DONE_NS);
    if (atomic_load(&o->done) == done)
        gate_sleep(&p->made, ticket, 0);
}

void gather_pool_await(struct gather_pool *p, struct gather_job *job)
{
    struct offer *o = offer_of(p, job->number);

    while (copy_chunk(p, o, &p->g->worker))
        ;
    while (atomic_load_explicit(&o->done, memory_order_acquire) < o->chunks)
        /* a chunk of a later job takes as long as what is waited for */
        if (copy_oldest(p, job->number + 1, &p->g->worker) == NO_JOB)
            await_chunk(p, o);
    job->awaited = true;
}

void gather_pool_await_all(struct gather_pool *p)
{
    for (uint64_t i = p ? atomic_load(&p->ended) : 0; p && i < atomic_load(&p->offered); i++)
        if (!offer_of(p, i)->job->awaited)
            gather_pool_await(p, offer_of(p, i)->job);
}

void gather_pool_end(struct gather_pool *p, struct gather_job *job)
{
    if (!job->offered)
        return;
    if (!job->awaited && !atomic_load(&p->stop))
        gather_pool_await(p, job);
    atomic_store(&p->ended, job->number + 1);
    job->offered = false;
}
