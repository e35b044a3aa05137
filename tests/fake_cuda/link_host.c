/* link_host.c: the host's threads and their clocks: see link.h. */
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "link.h"

#define LOOK_NS 500u /* between two looks of a thread that polls */

struct host {
    uint64_t now, cpu; /* its clock; its CPU time when that was read */
    uint64_t until;    /* when it wakes up by itself */
    const struct gate *gate;
    bool asleep;
    unsigned turn_of; /* the switching on that it belongs to */
    struct host *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static _Atomic(const struct link_model *) on;
static atomic_bool was_on, ignores_cpu;
static struct host *hosts;
static uint64_t furthest;    /* the largest clock there was, for threads that come later */
static uint64_t clock_costs; /* reading a thread's CPU time once: not the thread's own work either */
static unsigned switched;
static _Thread_local struct host self;

const struct link_model *link_on(void)
{
    return atomic_load(&on);
}

void link_count_cpu(bool count)
{
    atomic_store(&ignores_cpu, !count);
}

bool link_was_on(void)
{
    return atomic_load(&was_on);
}

static uint64_t measure_clock(void)
{
    uint64_t least = UINT64_MAX;

    for (unsigned i = 0; i < 100; i++) {
        uint64_t began = clock_cpu_ns(), took = clock_cpu_ns() - began;

        least = took < least ? took : least;
    }
    return least;
}

void link_switch(const struct link_model *model)
{
    pthread_mutex_lock(&lock);
    clock_costs = measure_clock();
    atomic_store(&on, model);
    if (model)
        atomic_store(&was_on, true);
    hosts = NULL;
    furthest = clock_ns() > furthest ? clock_ns() : furthest; /* no time comes twice */
    switched++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* ---- Turns; with the lock ---- */

static uint64_t least_clock(void)
{
    uint64_t least = UINT64_MAX;

    for (struct host *h = hosts; h; h = h->next)
        if (!h->asleep && h->now < least)
            least = h->now;
    return least == UINT64_MAX ? furthest : least;
}

/* A thread that is new here begins where the last of the others is. */
static void join(void)
{
    if (self.turn_of == switched)
        return;
    self = (struct host) { .now = least_clock(), .cpu = clock_cpu_ns(), .turn_of = switched, .next = hosts };
    hosts = &self;
}

static bool is_on(void)
{
    return atomic_load(&on) && self.turn_of == switched;
}

/* Wakes those whose time is over by `now`. */
static void wake_due(uint64_t now)
{
    for (struct host *h = hosts; h; h = h->next)
        if (h->asleep && h->until <= now) {
            h->asleep = false;
            h->now = h->until;
            pthread_cond_broadcast(&changed);
        }
}

static bool is_first(void)
{
    for (struct host *h = hosts; h; h = h->next)
        if (h != &self && !h->asleep && h->now < self.now)
            return false;
    return true;
}

static void take_turn(void)
{
    pthread_cond_broadcast(&changed); /* this clock has gone on */
    wake_due(self.now);
    while (is_on() && !is_first()) {
        pthread_cond_wait(&changed, &lock);
        wake_due(self.now);
    }
    if (self.now > furthest)
        furthest = self.now;
}

static void come(uint64_t more_ns)
{
    uint64_t cpu = clock_cpu_ns();

    pthread_mutex_lock(&lock);
    join();
    if (!atomic_load(&ignores_cpu) && cpu > self.cpu + clock_costs)
        self.now += cpu - self.cpu - clock_costs;
    self.now += more_ns;
    take_turn();
}

static void go(void)
{
    pthread_mutex_unlock(&lock);
    self.cpu = clock_cpu_ns();
}

uint64_t link_turn(uint64_t more_ns)
{
    if (!link_on())
        return clock_ns();
    come(more_ns);
    go();
    return self.now;
}

uint64_t link_charge(uint64_t ns)
{
    pthread_mutex_lock(&lock);
    self.now += ns;
    go();
    return self.now;
}

uint64_t link_now(void)
{
    return self.now;
}

uint64_t link_until(uint64_t at_ns)
{
    come(0);
    if (self.now < at_ns)
        self.now = at_ns;
    take_turn();
    go();
    return self.now;
}

/* ---- Gates ---- */

void link_gate_sleep(struct gate *g, unsigned ticket, uint64_t max_ns)
{
    if (!link_on())
        return;
    come(0);
    if (atomic_load(&g->turns) == ticket) {
        self.asleep = true;
        self.gate = g;
        self.until = max_ns ? self.now + max_ns : UINT64_MAX;
        pthread_cond_broadcast(&changed);
        while (is_on() && self.asleep) {
            uint64_t least = UINT64_MAX;

            /* everybody sleeps: the first who wakes up by itself; if there is none, a thread that is new here will */
            for (struct host *h = hosts; h; h = h->next) {
                uint64_t at = h->asleep ? h->until : 0;

                least = at < least ? at : least;
            }
            if (least > 0 && least < UINT64_MAX)
                wake_due(least);
            if (self.asleep)
                pthread_cond_wait(&changed, &lock);
        }
        self.asleep = false;
        take_turn();
    }
    go();
}

void link_gate_open(struct gate *g)
{
    const struct link_model *m = link_on();
    bool slept = false;

    come(0);
    atomic_fetch_add(&g->turns, 1);
    for (struct host *h = hosts; m && h; h = h->next)
        if (h->asleep && h->gate == g) {
            uint64_t at = self.now + m->wake_ns;

            h->until = h->until < at ? h->until : at; /* it wakes up then */
            slept = true;
        }
    self.now += slept ? m->open_ns : 0;
    go();
}

void link_gate_look(const atomic_uint_fast64_t *word, uint64_t old, uint64_t began, uint64_t max_ns)
{
    while (link_on() && atomic_load(word) == old && link_turn(LOOK_NS) - began < max_ns)
        ;
}
