/*
 * crew.c: see crew.h.
 *
 * A job that is offered is divided into chunks of pieces, so large that taking one costs little, so small that each
 * thread gets some. A chunk is taken by counting down `left`, and a job is made when as many are `done`: nothing else
 * is agreed upon. Whoever takes a chunk looks at the rest of the offer only then, and until the chunk is done, the
 * offer stays; so it does not matter if the place was given to a later job in between: it is a chunk of that one then.
 *
 * What threads write is theirs alone (struct gather_hand), is said by single bits that only get set, or lies in the
 * rows of their chunk. A piece is not written to unless it fails: 128 of them would otherwise travel back to the
 * thread that finishes them, one by one.
 */
#include "crew.h"

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

/* Bytes of a chunk: a job's share for a thread, in two parts, within these bounds. One of 128 KiB takes 15 to 40 us. */
#define CHUNKS_EACH 2u
#define CHUNK_LEAST TINY_OR((uint64_t)1, (uint64_t)128 << 10)
#define CHUNK_MOST  ((uint64_t)512 << 10)

/*
 * Largest chunks for each thread, in jobs that are begun before one is finished. If all slots were, none would be
 * filled again while it lies in a processor's cache, where a quick consumer leaves it: on a busy EPYC, two threads,
 * 0.53 and 0.47 ms of CPU time per million tokens for batches of 128 KiB and 2 MiB, and with this limit 0.48 and 0.44;
 * one thread takes 0.45 and 0.37.
 */
#define ENOUGH 2u

/* A job of fewer bytes is not offered: to agree about it takes too large a part of what copying it takes. */
#define WORTH_SHARING TINY_OR((uint64_t)1, (uint64_t)64 << 10)

/* Waking a thread costs 5 us here and up to 50 there: only if what waits keeps this thread busy for longer. */
#define WORTH_WAKING TINY_OR((uint64_t)1, (uint64_t)256 << 10)

/* A thread that was needed again sooner than it could be woken looks for work for a while before it sleeps. */
#define SHORT_NS     100000u
#define LOOK_NS      30000u
#define LOOK_DONE_NS 20000u /* for the end of chunks that others work on */

/* A job that was begun and not ended. */
struct offer {
    _Alignas(64) atomic_int_fast64_t left; /* chunks that nobody has taken; less than 0: somebody came too late */
    atomic_uint_fast64_t done;             /* chunks */
    struct gather_job *job;
    uint32_t chunk, chunks; /* pieces of one; how many there are */
    uint64_t bytes;         /* of one, about */
};

struct member {
    _Alignas(64) struct gather_hand hand;
    struct crew *crew;
    pthread_t thread;
};

struct crew {
    struct gather *g;
    unsigned threads; /* that were started */
    unsigned hands;
    struct member *members;
    _Alignas(64) atomic_uint_fast64_t offered; /* jobs */
    atomic_uint_fast64_t ended;
    atomic_bool stop, hurry;
    _Alignas(64) atomic_int_fast64_t waiting; /* bytes in chunks that nobody has taken */
    _Alignas(64) struct gate work;            /* where threads wait for chunks */
    _Alignas(64) struct gate made;            /* and the one that finishes jobs, for the threads */
    struct offer offers[GATHER_MAX];
};

/* ---- Chunks ------------------------------------------------------------------------------------------------------ */

static struct offer *offer_of(struct crew *c, uint64_t number)
{
    return &c->offers[number % GATHER_MAX];
}

/* Takes a chunk: pieces [*first, *end) of the offer's job. False: none is left. */
static bool take(struct crew *c, struct offer *o, uint32_t *first, uint32_t *end)
{
    int64_t left;

    if (atomic_load_explicit(&o->left, memory_order_relaxed) <= 0)
        return false;
    left = atomic_fetch_sub_explicit(&o->left, 1, memory_order_acquire);
    if (left <= 0)
        return false;
    atomic_fetch_sub_explicit(&c->waiting, (int64_t)o->bytes, memory_order_relaxed);
    *first = (o->chunks - (uint32_t)left) * o->chunk;
    *end = o->job->count - *first < o->chunk ? o->job->count : *first + o->chunk;
    return true;
}

/* Wakes a thread, if that pays; it wakes the next one. One that is about to sleep may be missed, and sleeps. */
static void call(struct crew *c)
{
    if (atomic_load_explicit(&c->work.sleepers, memory_order_relaxed) > 0 &&
        atomic_load_explicit(&c->hurry, memory_order_relaxed) &&
        atomic_load_explicit(&c->waiting, memory_order_relaxed) >= (int64_t)WORTH_WAKING)
        gate_open_for_one(&c->work);
}

/* Takes a chunk of the offer and does it; false: none is left. */
static bool work_on(struct crew *c, struct offer *o, struct gather_hand *h)
{
    uint32_t first, end, chunks;
    struct gather_job *job;

    if (!take(c, o, &first, &end))
        return false;
    call(c);
    job = o->job;
    chunks = o->chunks;
    for (uint32_t i = first; i < end; i++)
        if (job->pieces[i].shared && !gather_take(h, job, i, end))
            job->pieces[i].left = true;
    if (atomic_fetch_add_explicit(&o->done, 1, memory_order_release) + 1 == chunks)
        gate_open(&c->made);
    return true;
}

#define NO_JOB UINT64_MAX

/* Does a chunk of the oldest job from number `from` on that has one left; returns the job's number. */
static uint64_t work(struct crew *c, uint64_t from, struct gather_hand *h)
{
    uint64_t offered = atomic_load(&c->offered);

    for (uint64_t i = from; i < offered; i++)
        if (work_on(c, offer_of(c, i), h))
            return i;
    return NO_JOB;
}

/* ---- The threads ------------------------------------------------------------------------------------------------- */

/* Maps are left between jobs: entering one asks for its lease, which costs two calls of the system. */
static void *run(void *context)
{
    static const atomic_bool at_once = true; /* what would have to wait for a file system is left */
    struct member *m = context;
    struct crew *c = m->crew;
    uint64_t waited = UINT64_MAX, last = NO_JOB;

    gather_hand_attend(&m->hand, &at_once);
    while (!atomic_load(&c->stop)) {
        unsigned ticket = gate_ticket(&c->work);
        uint64_t offered = atomic_load(&c->offered), began = clock_ns();
        uint64_t job = work(c, atomic_load(&c->ended), &m->hand);

        if (job != last)
            gather_leave(&m->hand);
        last = job;
        if (job != NO_JOB) {
            counter_bump(&m->hand.busy_ns, clock_ns() - began);
            continue;
        }
        if (waited < SHORT_NS)
            gate_look(&c->offered, offered, began, LOOK_NS);
        if (atomic_load(&c->offered) == offered && !atomic_load(&c->stop))
            gate_sleep(&c->work, ticket, 0);
        waited = clock_ns() - began;
    }
    gather_leave(&m->hand);
    gather_hand_leave(&m->hand);
    return NULL;
}

int crew_open(struct crew **out, struct gather *g, unsigned threads, int node)
{
    struct crew *c = *out = aligned_alloc(64, sizeof *c);
    int r = 0;

    if (!c)
        return ENOMEM;
    memset(c, 0, sizeof *c);
    c->g = g;
    c->members = aligned_alloc(64, threads * sizeof *c->members);
    if (!c->members)
        return ENOMEM;
    memset(c->members, 0, threads * sizeof *c->members);
    for (; r == 0 && c->hands < threads; c->hands++)
        if (gather_hand_open(&c->members[c->hands].hand, g, NULL) != LEAT_OK)
            r = ENOMEM;
    for (unsigned i = 0; r == 0 && i < threads; i++) {
        struct member *m = &c->members[i];

        m->crew = c;
        r = thread_start(&m->thread, STACK, run, m);
        if (r == 0) {
            c->threads++;
            numa_place_thread("/sys", m->thread, node);
        }
    }
    return r;
}

void crew_stop(struct crew *c)
{
    if (!c)
        return;
    atomic_store(&c->stop, true);
    gate_open(&c->work);
    for (; c->threads > 0; c->threads--)
        pthread_join(c->members[c->threads - 1].thread, NULL);
}

void crew_forget(struct crew *c)
{
    if (!c)
        return;
    atomic_store(&c->stop, true);
    c->threads = 0;
}

void crew_close(struct crew *c)
{
    if (!c)
        return;
    crew_stop(c);
    for (unsigned i = 0; i < c->hands; i++)
        gather_hand_close(&c->members[i].hand);
    free(c->members);
    free(c);
}

const struct gather_hand *crew_hand(const struct crew *c, unsigned number)
{
    return c && number < c->hands ? &c->members[number].hand : NULL;
}

/* ---- Jobs -------------------------------------------------------------------------------------------------------- */

void crew_hurry(struct crew *c, bool hurry)
{
    if (!c)
        return;
    atomic_store_explicit(&c->hurry, hurry, memory_order_relaxed);
    call(c);
}

bool crew_wants(const struct crew *c)
{
    return c && atomic_load_explicit(&c->waiting, memory_order_relaxed) <
                    (int64_t)(ENOUGH * CHUNK_MOST * ((uint64_t)c->hands + 1));
}

void crew_offer(struct crew *c, struct gather_job *job, uint64_t bytes)
{
    uint64_t number = atomic_load_explicit(&c->offered, memory_order_relaxed), chunk, pieces;
    struct offer *o = offer_of(c, number);

    if (bytes < WORTH_SHARING)
        return;
    chunk = bytes / (CHUNKS_EACH * ((uint64_t)c->hands + 1));
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
    atomic_fetch_add_explicit(&c->waiting, (int64_t)(o->bytes * o->chunks), memory_order_relaxed);
    atomic_store_explicit(&o->left, o->chunks, memory_order_release);
    atomic_store(&c->offered, number + 1);
    call(c);
}

/* Until a chunk is done that another thread works on. */
static void await_chunk(struct crew *c, struct offer *o)
{
    unsigned ticket = gate_ticket(&c->made);
    uint64_t done = atomic_load_explicit(&o->done, memory_order_acquire);

    if (done == o->chunks)
        return;
    gate_look(&o->done, done, clock_ns(), LOOK_DONE_NS);
    if (atomic_load(&o->done) == done)
        gate_sleep(&c->made, ticket, 0);
}

void crew_await(struct crew *c, struct gather_job *job)
{
    struct offer *o = offer_of(c, job->number);

    while (work_on(c, o, &c->g->hand))
        ;
    while (atomic_load_explicit(&o->done, memory_order_acquire) < o->chunks)
        if (work(c, job->number + 1, &c->g->hand) ==
            NO_JOB) /* a chunk of a later job takes as long as what is waited for */
            await_chunk(c, o);
    job->awaited = true;
}

void crew_await_all(struct crew *c)
{
    for (uint64_t i = c ? atomic_load(&c->ended) : 0; c && i < atomic_load(&c->offered); i++)
        if (!offer_of(c, i)->job->awaited)
            crew_await(c, offer_of(c, i)->job);
}

void crew_end(struct crew *c, struct gather_job *job)
{
    if (!job->offered)
        return;
    if (!job->awaited && !atomic_load(&c->stop))
        crew_await(c, job);
    atomic_store(&c->ended, job->number + 1);
    job->offered = false;
}
