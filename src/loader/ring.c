/* ring.c: see ring.h. */
#include "ring.h"

#include <string.h>
#include <time.h>

/* ---- Gates ------------------------------------------------------------------------------------------------------- */

/* Futexes on Linux; elsewhere short sleeps, which are as correct but slower. */

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "base/clock.h"

void gate_look(const atomic_uint_fast64_t *word, uint64_t old, uint64_t began, uint64_t max_ns)
{
    do {
        for (unsigned i = 0; i < 16 && atomic_load(word) == old; i++) {
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
    } while (atomic_load(word) == old && clock_ns() - began < max_ns);
}

#if defined(__linux__) && defined(SYS_futex)

void gate_sleep(struct gate *g, unsigned ticket, uint64_t max_ns)
{
    struct timespec max = { (time_t)(max_ns / 1000000000u), (long)(max_ns % 1000000000u) };

    atomic_fetch_add(&g->sleepers, 1);
    if (atomic_load(&g->turns) == ticket)
        syscall(SYS_futex, &g->turns, FUTEX_WAIT_PRIVATE, ticket, max_ns ? &max : NULL, NULL, 0);
    atomic_fetch_sub(&g->sleepers, 1);
}

void gate_open(struct gate *g)
{
    atomic_fetch_add(&g->turns, 1);
    if (atomic_load(&g->sleepers) > 0)
        syscall(SYS_futex, &g->turns, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

#else

void gate_sleep(struct gate *g, unsigned ticket, uint64_t max_ns)
{
    const struct timespec pause = { 0, 50000 };

    (void)max_ns;
    if (atomic_load(&g->turns) == ticket)
        nanosleep(&pause, NULL);
}

void gate_open(struct gate *g)
{
    atomic_fetch_add(&g->turns, 1);
}

#endif

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

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
