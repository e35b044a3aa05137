/* gate.c: sleeps on futexes on Linux, and elsewhere for short times, which is as correct but slower. */
#include "gate.h"

#include <time.h>

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "clock.h"

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

static void wake(struct gate *g, int most)
{
    atomic_fetch_add(&g->turns, 1);
    if (atomic_load(&g->sleepers) > 0)
        syscall(SYS_futex, &g->turns, FUTEX_WAKE_PRIVATE, most, NULL, NULL, 0);
}

#else

void gate_sleep(struct gate *g, unsigned ticket, uint64_t max_ns)
{
    const struct timespec pause = { 0, 50000 };

    (void)max_ns;
    if (atomic_load(&g->turns) == ticket)
        nanosleep(&pause, NULL);
}

static void wake(struct gate *g, int most)
{
    (void)most;
    atomic_fetch_add(&g->turns, 1);
}

#endif

void gate_open(struct gate *g)
{
    wake(g, INT32_MAX);
}

void gate_open_for_one(struct gate *g)
{
    wake(g, 1);
}
