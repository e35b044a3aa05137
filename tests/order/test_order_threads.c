/*
 * test_order_threads.c: an open plan can be shared: several threads that ask it for samples at once get what one alone
 * gets. ThreadSanitizer runs it.
 */
#include <pthread.h>

#include "support/fake_dataset.h"
#include "t.h"

#define THREADS 4
#define SAMPLES 20000u

static struct leat_plan *plan;

static void *ask(void *context)
{
    uint64_t *sum = context, got;
    struct leat_sample samples[64];
    struct leat_error err;

    for (uint64_t first = 0; first < SAMPLES; first += 64) {
        leat_plan_samples(plan, first, 64, samples, &got, &err);
        for (uint64_t i = 0; i < got; i++)
            *sum = *sum * 31 + samples[i].token;
    }
    return NULL;
}

int main(void)
{
    struct leat_dataset *d = fake_dataset((uint64_t[]) { 1000000, 300, 70000 }, 3);
    struct leat_plan_source sources[] = { LEAT_PLAN_SOURCE_INIT, LEAT_PLAN_SOURCE_INIT };
    struct leat_plan_options options = LEAT_PLAN_OPTIONS_INIT;
    uint64_t sums[THREADS + 1] = { 0 };
    pthread_t threads[THREADS];

    sources[0].name = sources[1].name = "fake";
    sources[0].dataset = sources[1].dataset = d;
    sources[1].weight = "0.3";
    options.sources = sources;
    options.source_count = 2;
    options.seq_len = 64;
    T_OK(leat_plan_open(&plan, &options, &t_err));
    for (unsigned i = 0; i < THREADS; i++)
        T_EQ(pthread_create(&threads[i], NULL, ask, &sums[i]), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ask(&sums[THREADS]);
    for (unsigned i = 0; i < THREADS; i++)
        T_EQ(sums[i], sums[THREADS]);
    leat_plan_close(plan);
    fake_dataset_free(d);
    return t_end();
}
