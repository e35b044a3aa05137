/*
 * ring.h: slots that go round between the one who fills them and the one who uses them. Free slots are bits of one
 * word, so that they come back in any order; filled ones stand in a queue, in order. One producer, one consumer, and
 * anybody may give a slot back. No locks: a thread sleeps only when it has nothing to do, and is woken only if it
 * sleeps.
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
    unsigned char queue[RING_MAX];                /* the slot of the k-th filling at k % RING_MAX */
    _Alignas(64) atomic_uint_fast64_t given_back; /* not known to be idle yet (a device may still read them) */
    atomic_uint_fast64_t free;
    _Alignas(64) atomic_uint_fast64_t filled; /* how many there were */
    _Alignas(64) atomic_uint_fast64_t taken;
    atomic_uint wish; /* how many filled ones the consumer wants to be woken for */
    _Alignas(64) struct gate producer;
    _Alignas(64) struct gate consumer;
};

void ring_init(struct ring *r, unsigned slots);

/* ---- The producer's ---- */

/* A free slot, the one of least number (whose memory was used last, likely); -1: none. */
int ring_claim(struct ring *r);

/* Its slot is filled: puts it into the queue, and wakes the consumer if there are as many as it wishes for. */
void ring_publish(struct ring *r, unsigned slot);

/* Makes a slot free that was given back, or claimed and not filled. */
void ring_make_free(struct ring *r, unsigned slot);

/* ---- The consumer's ---- */

/* The next filled slot; -1: none. */
int ring_take(struct ring *r);

/* To be said before it is looked whether there is one, and slept if not: from how many on it is worth to be woken. With
 * more than one, who sleeps must do so with a limit. */
static inline void ring_wish(struct ring *r, unsigned slots)
{
    atomic_store(&r->wish, slots);
}

/* ---- Anybody's ---- */

/* A slot comes back. The producer is woken when that is worth it: half of the slots are free, or none is filled. */
void ring_give_back(struct ring *r, unsigned slot);

static inline uint64_t ring_ready(const struct ring *r)
{
    return atomic_load(&r->filled) - atomic_load(&r->taken);
}

/* Slots that are free, or given back, though a device may still use those. */
static inline unsigned ring_free_count(const struct ring *r)
{
    return (unsigned)__builtin_popcountll(atomic_load(&r->free) | atomic_load(&r->given_back));
}

#endif
