/*
 * gate.h: a place where threads sleep until another thread has done something. That thread pays an atomic addition, and
 * a system call only if somebody sleeps. To wait for a condition without missing it:
 *
 *   for (;;) {
 *       unsigned ticket = gate_ticket(&g);
 *       if (the condition holds) break;
 *       gate_sleep(&g, ticket, 0);      returns at once if gate_open() was called since the ticket was taken
 *   }
 *
 * The other side makes the condition true, and then calls gate_open().
 */
#ifndef LEAT_BASE_GATE_H
#define LEAT_BASE_GATE_H

#include <stdatomic.h>
#include <stdint.h>

struct gate {
    atomic_uint turns, sleepers;
};

static inline unsigned gate_ticket(struct gate *g)
{
    return atomic_load(&g->turns);
}

/* Sleeps at most `max_ns` nanoseconds; 0: as long as it takes. May return early. */
void gate_sleep(struct gate *g, unsigned ticket, uint64_t max_ns);
void gate_open(struct gate *g);

/* Wakes only one of the threads that sleep. */
void gate_open_for_one(struct gate *g);

/* Polls a word until it differs from `old`, or until `max_ns` after the time `began` (clock_ns()). It serves events
 * that come sooner than a sleeping thread can wake. */
void gate_look(const atomic_uint_fast64_t *word, uint64_t old, uint64_t began, uint64_t max_ns);

#endif
