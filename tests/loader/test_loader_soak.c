/*
 * test_loader_soak.c: batches stay right whatever the consumer does: pauses, several batches held, releases out of
 * order and from another thread, closing at any moment, several loaders at once, event descriptors. Ten thousand
 * batches; LEAT_TEST_SOAK=N for another number (`make soak`). Threads run here.
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

#include "loading.h"

#define MAX_HELD 12u

static char folder[512];

/* ---- A thread that releases what it is given ---- */

struct releaser {
    _Atomic(const struct leat_batch *) box[MAX_HELD];
    atomic_bool stop;
    pthread_t thread;
};

static void *release_others(void *context)
{
    struct releaser *r = context;
    bool found = true;

    while (found || !atomic_load(&r->stop)) {
        found = false;
        for (unsigned i = 0; i < MAX_HELD; i++) {
            const struct leat_batch *b = atomic_exchange(&r->box[i], NULL);

            if (b)
                leat_batch_release(b, NULL);
            found = found || b;
        }
        if (!found)
            usleep(20);
    }
    return NULL;
}

/* Puts a batch into a free box; false: there is none. */
static bool hand_over(struct releaser *r, const struct leat_batch *b)
{
    for (unsigned i = 0; i < MAX_HELD; i++) {
        const struct leat_batch *none = NULL;

        if (atomic_compare_exchange_strong(&r->box[i], &none, b))
            return true;
    }
    return false;
}

/* ---- One life of a loader ---- */

static struct leat_loader_options random_options(uint64_t *random)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;

    o.batch = 1 + t_below(random, 12);
    o.position = t_below(random, 3) ? 0 : t_below(random, 100000);
    o.io.engine = (enum leat_engine)t_below(random, 5);
    o.io.threads = loading_threads[t_below(random, LOADING_THREADS)];
    o.io.slots = t_below(random, 3) ? 2 + (uint32_t)t_below(random, 14) : 0;
    o.io.verify = (uint32_t)t_below(random, 2);
    o.outputs.wanted = t_below(random, 2) ? LEAT_OUTPUT_LABELS | LEAT_OUTPUT_POSITION_IDS : 0;
    o.outputs.borrow = o.outputs.wanted && t_below(random, 2);
    return o;
}

/* Waits by poll() until there is a batch. */
static enum leat_status next_by_event(struct leat_loader *l, const struct leat_batch **b)
{
    struct pollfd p = { .events = POLLIN };
    enum leat_status s;
    uint64_t count;

    T_OK(leat_loader_event_fd(l, &p.fd, &t_err));
    while ((s = leat_loader_next_within(l, 0, b, &t_err)) == LEAT_E_AGAIN) {
        T_EQ(poll(&p, 1, -1), 1);
        T_EQ(read(p.fd, &count, sizeof count), sizeof count);
    }
    return s;
}

/* Waits in steps of a microsecond or so; the waits count as one. */
static enum leat_status next_in_steps(struct leat_loader *l, const struct leat_batch **b)
{
    struct leat_loader_stats before = LEAT_LOADER_STATS_INIT, after = LEAT_LOADER_STATS_INIT;
    uint64_t times = 0;
    enum leat_status s;

    leat_loader_stats(l, &before);
    while ((s = leat_loader_next_within(l, 1000, b, &t_err)) == LEAT_E_AGAIN)
        times++;
    leat_loader_stats(l, &after);
    /* the first batch is a start, not a wait */
    if (s == LEAT_OK && times > 0 && before.batches > 0)
        T_CHECK(after.time.consumer_ns - before.time.consumer_ns >= 1000 * times);
    return s;
}

/* At most `most` batches; returns how many. */
static uint64_t one_life(const struct loading *w, uint64_t *random, uint64_t max)
{
    struct leat_loader_options o = random_options(random);
    const struct leat_batch *held[MAX_HELD];
    uint64_t count = t_below(random, max), held_count = 0, k = 0;
    bool events = o.io.threads && t_below(random, 3) == 0, helped = t_below(random, 3) == 0;
    bool steps = !events && t_below(random, 3) == 0;
    struct releaser releaser = { .stop = false };
    struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;
    struct leat_loader *l;
    char text[300];

    T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
    leat_loader_stats(l, &stats);
    if (helped)
        T_EQ(pthread_create(&releaser.thread, NULL, release_others, &releaser), 0);
    for (; k < count; k++) {
        const struct leat_batch *b;
        enum leat_status s;

        /* the other thread may not have come to release what it was given */
        while ((s = events  ? next_by_event(l, &b)
                    : steps ? next_in_steps(l, &b)
                            : leat_loader_next(l, &b, &t_err)) == LEAT_E_STATE &&
               helped)
            usleep(10);
        T_OK(s);
        T_EQ(b->number, k);
        loading_check(w, b, o.position + k * o.batch);
        if (t_below(random, 200) == 0)
            usleep((useconds_t)t_below(random, 500));
        if (t_below(random, 100) == 0)
            leat_loader_stats_line(l, text, sizeof text);
        if (helped && t_below(random, 2) && hand_over(&releaser, b))
            continue;
        held[held_count++] = b;
        while (held_count > 0 && (held_count + 1 >= stats.ring.slots || held_count == MAX_HELD || t_below(random, 2))) {
            uint64_t i = t_below(random, held_count);

            leat_batch_release(held[i], NULL);
            held[i] = held[--held_count];
        }
        /* boxes that are not emptied yet hold slots too */
        while (helped && held_count > 0)
            leat_batch_release(held[--held_count], NULL);
    }
    if (helped) {
        atomic_store(&releaser.stop, true);
        pthread_join(releaser.thread, NULL);
    }
    leat_loader_close(l); /* with what is held */
    return k;
}

/* All slots held: an error at once, which goes away with a release. */
static void hold_all(const struct loading *w, uint32_t threads)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    const struct leat_batch *b[4], *more;
    struct leat_loader *l;

    o.batch = 3;
    o.io.slots = 4;
    o.io.threads = threads;
    T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
    for (unsigned i = 0; i < 4; i++)
        T_OK(leat_loader_next(l, &b[i], &t_err));
    T_STATUS(leat_loader_next(l, &more, &t_err), LEAT_E_STATE);
    T_STATUS(leat_loader_next_within(l, 0, &more, &t_err), LEAT_E_STATE);
    T_STATUS(leat_loader_next_within(l, 1000, &more, &t_err), LEAT_E_STATE);
    T_CHECK(!more);
    for (unsigned i = 0; i < 4; i++)
        loading_check(w, b[i], 3 * i);
    leat_batch_release(b[2], NULL);
    T_OK(leat_loader_next(l, &more, &t_err));
    T_EQ(more->number, 4);
    leat_loader_close(l);
}

/* A wait in steps is one wait: batches that take much longer than a step. */
static void slow_batches(const struct loading *w, uint32_t threads)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    const struct leat_batch *b;
    struct leat_loader *l;

    o.batch = 5000;
    o.io.slots = 2;
    o.io.engine = LEAT_ENGINE_PREAD;
    o.io.threads = threads;
    T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
    for (unsigned i = 0; i < 20; i++) {
        T_OK(next_in_steps(l, &b));
        loading_check(w, b, 5000 * i);
        leat_batch_release(b, NULL);
    }
    leat_loader_close(l);
}

struct worker {
    const struct loading *w;
    uint64_t seed, batches, done;
};

static void *work(void *context)
{
    struct worker *x = context;

    while (x->done < x->batches)
        x->done += one_life(x->w, &x->seed, 400) + 1;
    return NULL;
}

/* Loaders that live for a batch, of rows that are not in memory: their rings come to lie where those of the other
 * thread lay. */
static void *open_and_close(void *context)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct worker *x = context;
    char path[600];
    int fd;

    snprintf(path, sizeof path, "%s/d.tokens", folder);
    fd = open(path, O_RDONLY);
    T_CHECK(fd >= 0);
    fdatasync(fd);
    o.batch = 4;
    o.io.slots = 2;
    o.io.engine = LEAT_ENGINE_URING;
    for (; x->done < x->batches; x->done++) {
        const struct leat_batch *b;
        struct leat_loader *l;

        o.position = 10 * x->done;
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        T_OK(leat_loader_open(&l, x->w->plan, &o, &t_err));
        T_OK(leat_loader_next(l, &b, &t_err));
        loading_check(x->w, b, o.position);
        leat_loader_close(l);
    }
    close(fd);
    return NULL;
}

static void run_two(const struct loading *w, void *(*thread)(void *), uint64_t *random, uint64_t batches)
{
    struct worker workers[2];
    pthread_t threads[2];

    for (unsigned i = 0; i < 2; i++) {
        workers[i] = (struct worker) { .w = w, .seed = t_random(random), .batches = batches / 2 };
        T_EQ(pthread_create(&threads[i], NULL, thread, &workers[i]), 0);
    }
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    const char *soak = getenv("LEAT_TEST_SOAK");
    uint64_t random = t_seed(), batches = soak ? strtoull(soak, NULL, 10) : 10000;
    struct loading w = { .width = 2, .mean = 60 };

    snprintf(folder, sizeof folder, "%s", t_folder());
    loading_write(t_text("%s/d", folder), 100000, 2, w.mean);
    w.plan = loading_plan(t_text("source %s/d\nseq-len 100\nseed 9\n", folder));
    for (size_t t = 0; t < LOADING_THREADS; t++)
        hold_all(&w, loading_threads[t]);
    slow_batches(&w, 1);
    slow_batches(&w, 3);
    run_two(&w, work, &random, batches);
    run_two(&w, open_and_close, &random, batches / 10);
    leat_plan_close(w.plan);
    return t_end();
}
