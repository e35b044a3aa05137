/*
 * gpu_clock.c: see gpu.h: virtual time (tests/fake_cuda/link.h) for leat-bench and the library in it. The program
 * is linked with --wrap for the functions below: each goes to the stand-in while time is virtual, else to the real one.
 */
#include <string.h>

#include "base/clock.h"
#include "gpu.h"
#include "tests/fake_cuda/fake_control.h"

static _Atomic(const struct fake_control *) control; /* NULL: time is real */

const char *gpu_time_begin(struct gpu *g)
{
    const struct fake_control *c = g->link ? load_device_control(&g->d) : NULL;
    const char *names;

    /* first: no thread that takes turns may fall asleep where the stand-in does not see it */
    atomic_store(&control, c);
    names = c ? c->link_begin(g->link) : NULL;
    if (names)
        atomic_store(&control, NULL);
    return names;
}

void gpu_time_end(struct gpu *g)
{
    const struct fake_control *c = atomic_exchange(&control, NULL);

    (void)g;
    if (c)
        c->link_end();
}

uint64_t __real_clock_ns(void);
uint64_t __wrap_clock_ns(void);
uint64_t __wrap_clock_ns(void)
{
    const struct fake_control *c = atomic_load(&control);

    return c ? c->link_spend(0) : __real_clock_ns();
}

void __real_gate_sleep(struct gate *g, unsigned ticket, uint64_t max_ns);
void __wrap_gate_sleep(struct gate *g, unsigned ticket, uint64_t max_ns);
void __wrap_gate_sleep(struct gate *g, unsigned ticket, uint64_t max_ns)
{
    const struct fake_control *c = atomic_load(&control);

    (c ? c->link_gate_sleep : __real_gate_sleep)(g, ticket, max_ns);
}

void __real_gate_open(struct gate *g);
void __wrap_gate_open(struct gate *g);
void __wrap_gate_open(struct gate *g)
{
    const struct fake_control *c = atomic_load(&control);

    if (c)
        c->link_gate_open(g);
    __real_gate_open(g); /* also for who fell asleep before */
}

void __real_gate_look(const atomic_uint_fast64_t *word, uint64_t old, uint64_t began, uint64_t max_ns);
void __wrap_gate_look(const atomic_uint_fast64_t *word, uint64_t old, uint64_t began, uint64_t max_ns);
void __wrap_gate_look(const atomic_uint_fast64_t *word, uint64_t old, uint64_t began, uint64_t max_ns)
{
    const struct fake_control *c = atomic_load(&control);

    (c ? c->link_gate_look : __real_gate_look)(word, old, began, max_ns);
}
