/*
 * ring.h: slots that go round between a producer, which fills them, and a consumer. Two hand-overs are all: a filled
 * slot is *published*, and a slot that is no longer used is *given back*. Free slots are bits of one word, so that they
 * can come back in any order; filled ones stand in a queue, in order. Any thread may give a slot back. No locks: a
 * thread sleeps only when it has nothing to do, and is woken only if it sleeps.
 */
#ifndef LEAT_RING_H
#define LEAT_RING_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/gate.h"

#define RING_MAX 64u

/* Each side writes to cache lines of its own. */
struct ring {
    unsigned slots;
    unsigned char queue[RING_MAX];                /* the slot that was filled as number k, at k % RING_MAX */
    _Alignas(64) atomic_uint_fast64_t given_back; /* a device may still read them */
    atomic_uint_fast64_t free;
    _Alignas(64) atomic_uint_fast64_t filled; /* number of slots filled so far */
    _Alignas(64) atomic_uint_fast64_t taken;
    atomic_uint wake_at; /* number of filled slots that wakes the consumer */
    _Alignas(64) struct gate producer;
    _Alignas(64) struct gate consumer;
};

void ring_init(struct ring *r, unsigned slots);

/* ---- For the producer ---- */

/* Claims the free slot of the lowest number (whose memory is likely still in the cache); -1: none. */
int ring_claim(struct ring *r);

/* Puts a filled slot into the queue, and wakes the consumer if enough are filled. */
void ring_publish(struct ring *r, unsigned slot);

/* Frees a slot that was given back, or claimed and not filled. */
void ring_make_free(struct ring *r, unsigned slot);

/* ---- For the consumer ---- */

/* Takes the next filled slot; -1: none. */
int ring_take(struct ring *r);

/* Sets how many slots must be filled to wake the consumer. Call it before looking for a slot and sleeping; with more
 * than one, sleep only for a limited time. */
static inline void ring_wake_at(struct ring *r, unsigned slots)
{
    atomic_store(&r->wake_at, slots);
}

/* Takes back the filled slots: gives them back as the consumer would. Only while there is no producer. */
void ring_take_back(struct ring *r);

/* ---- For any thread ---- */

/* Gives a slot back. Wakes the producer if that pays: half of the slots are free, or none is filled. */
void ring_give_back(struct ring *r, unsigned slot);

static inline uint64_t ring_ready(const struct ring *r)
{
    return atomic_load(&r->filled) - atomic_load(&r->taken);
}

/* Returns how many slots are free or given back; a device may still use the latter. */
static inline unsigned ring_free_count(const struct ring *r)
{
    return (unsigned)__builtin_popcountll(atomic_load(&r->free) | atomic_load(&r->given_back));
}

#endif
