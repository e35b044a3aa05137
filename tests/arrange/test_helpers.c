/*
 * test_helpers.c: each job that is given to helpers is done once, whoever waits for it; one that is dropped is never
 * begun afterwards, nor still runs then. With no helper, one and four.
 */
#include "arrange/sorting/helpers.h"

#include <sched.h>
#include <stdatomic.h>

#include "t.h"

#define JOBS 300u

struct counted {
    struct job job;
    atomic_uint runs;
    atomic_bool running, gone;
};

static struct counted jobs[JOBS];
static atomic_bool held; /* jobs wait for this to end */
static atomic_uint late;

static void count_run(struct job *j)
{
    struct counted *c = (struct counted *)j; /* its first member */

    atomic_store(&c->running, true);
    if (atomic_load(&c->gone))
        atomic_fetch_add(&late, 1);
    while (atomic_load(&held))
        sched_yield();
    atomic_fetch_add(&c->runs, 1);
    atomic_store(&c->running, false);
}

static void give_all(struct helpers *h)
{
    for (unsigned i = 0; i < JOBS; i++) {
        atomic_store(&jobs[i].runs, 0);
        atomic_store(&jobs[i].gone, false);
        jobs[i].job = (struct job) { .run = count_run };
        helpers_give(h, &jobs[i].job);
    }
}

static void waited(struct helpers *h, uint64_t *random)
{
    give_all(h);
    for (unsigned i = 0; i < 2 * JOBS; i++)
        helpers_wait(h, &jobs[i < JOBS ? t_below(random, JOBS) : i - JOBS].job);
    for (unsigned i = 0; i < JOBS; i++)
        T_EQ(atomic_load(&jobs[i].runs), 1);
}

/* All helpers are inside their first jobs while the others are dropped. */
static void dropped(struct helpers *h, uint64_t *random)
{
    unsigned ran = 0;

    atomic_store(&held, helpers_count(h) > 0);
    give_all(h);
    for (unsigned begun = 0; begun < helpers_count(h);) {
        sched_yield();
        begun = 0;
        for (unsigned i = 0; i < JOBS; i++)
            begun += atomic_load(&jobs[i].running);
    }
    for (unsigned k = 0; k < 2 * JOBS; k++) {
        unsigned i = k < JOBS ? (unsigned)t_below(random, JOBS) : k - JOBS;

        if (k == JOBS)
            atomic_store(&held, false); /* those that run are waited for */
        if (k < JOBS && atomic_load(&jobs[i].running))
            continue;
        helpers_drop(h, &jobs[i].job);
        T_CHECK(!atomic_load(&jobs[i].running));
        atomic_store(&jobs[i].gone, true);
    }
    for (unsigned i = 0; i < JOBS; i++)
        ran += atomic_load(&jobs[i].runs);
    T_CHECK(ran >= helpers_count(h) && ran < JOBS);
}

int main(void)
{
    uint64_t random = t_seed();

    for (unsigned threads = 1; threads <= 5; threads += threads == 1 ? 1 : 3) {
        struct helpers h;

        helpers_begin(&h, threads);
        for (unsigned i = 0; i < 20; i++) {
            waited(&h, &random);
            dropped(&h, &random);
        }
        helpers_end(&h);
    }
    T_EQ(atomic_load(&late), 0);
    return t_end();
}
