/* ring.c: slots that go round; ring.h says how. */
#include "ring.h"

#include <string.h>

void ring_init(struct ring *r, unsigned slots)
{
    memset(r, 0, sizeof *r);
    r->slots = slots;
    atomic_init(&r->free, slots == 64 ? UINT64_MAX : ((uint64_t)1 << slots) - 1);
}

int ring_claim(struct ring *r)
{
    uint64_t free = atomic_load_explicit(&r->free, memory_order_acquire);
    unsigned slot;

    if (free == 0)
        return -1;
    slot = (unsigned)__builtin_ctzll(free);
    atomic_fetch_and(&r->free, ~((uint64_t)1 << slot)); /* only the producer clears bits */
    return (int)slot;
}

void ring_publish(struct ring *r, unsigned slot)
{
    uint64_t filled = atomic_load_explicit(&r->filled, memory_order_relaxed);

    /* a place in the queue is reused only after its slot was taken and came back */
    r->queue[filled % RING_MAX] = (unsigned char)slot;
    atomic_store(&r->filled, filled + 1);
    if (ring_ready(r) >= atomic_load(&r->wake_at))
        gate_open(&r->consumer);
}

void ring_make_free(struct ring *r, unsigned slot)
{
    atomic_fetch_and(&r->given_back, ~((uint64_t)1 << slot));
    atomic_fetch_or(&r->free, (uint64_t)1 << slot);
}

int ring_take(struct ring *r)
{
    uint64_t taken = atomic_load_explicit(&r->taken, memory_order_relaxed);
    int slot;

    if (atomic_load_explicit(&r->filled, memory_order_acquire) == taken)
        return -1;
    slot = r->queue[taken % RING_MAX];
    atomic_store(&r->taken, taken + 1);
    return slot;
}

void ring_take_back(struct ring *r)
{
    uint64_t taken = atomic_load(&r->taken);

    for (uint64_t k = taken; k < atomic_load(&r->filled); k++)
        atomic_fetch_or(&r->given_back, (uint64_t)1 << r->queue[k % RING_MAX]);
    atomic_store(&r->filled, taken);
}

void ring_give_back(struct ring *r, unsigned slot)
{
    atomic_fetch_or(&r->given_back, (uint64_t)1 << slot);
    /* Waking the producer costs some microseconds, so not for each slot while filled ones remain. If none is filled, it
     * must be woken now, because perhaps no later call comes. */
    if (2 * ring_free_count(r) >= r->slots || ring_ready(r) == 0)
        gate_open(&r->producer);
}
