/*
 * test_loader_processes.c: a loader stops at fork: in the child every call says so, and closing is harmless; the
 * parent's goes on. Two processes with different ranks, with a plan from before the fork, have each sample once between
 * them. Eight processes share a dataset's pages: what each takes for itself is its ring and little more. The loader's
 * thread runs here.
 */
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "loading.h"

static char folder[512];

static struct loading open_plan(const char *name, const char *more)
{
    struct loading w = { .width = 2, .mean = 60 };

    w.plan = loading_plan(t_text("source %s/%s\n%s", folder, name, more));
    return w;
}

static void wait_for(pid_t child)
{
    int status;

    T_CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- Fork ---- */

static void in_child(struct leat_loader *l, const struct leat_batch *held)
{
    struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;
    struct leat_outputs o = LEAT_OUTPUTS_INIT;
    const struct leat_batch *b;
    char text[300], state[LEAT_PLAN_STATE_BYTES];
    int fd;

    t_failures = 0;
    T_REFUSED(leat_loader_next(l, &b, &t_err), LEAT_E_FORKED, "after fork");
    T_CHECK(!b);
    T_STATUS(leat_loader_next_within(l, 0, &b, &t_err), LEAT_E_FORKED);
    T_STATUS(leat_batch_write(held, &o, NULL, &t_err), LEAT_E_FORKED);
    T_STATUS(leat_batch_borrow(held, &o, NULL, &t_err), LEAT_E_FORKED);
    T_STATUS(leat_loader_event_fd(l, &fd, &t_err), LEAT_E_FORKED);
    T_STATUS(leat_batch_state(held, state, &t_err), LEAT_E_FORKED);
    T_CHECK(!leat_batch_row(held, 0));
    leat_loader_stats(l, &stats);
    T_EQ(leat_loader_notice(l, text, sizeof text), 0);
    leat_batch_release(held, NULL);
    leat_loader_close(l);
    _exit(t_failures != 0);
}

static void forks(enum leat_engine engine, uint32_t threads)
{
    struct loading w = open_plan("d", "seq-len 100\n");
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    const struct leat_batch *b;
    struct leat_loader *l;
    pid_t child;

    o.batch = 4;
    o.io.engine = engine;
    o.io.threads = threads;
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    T_OK(leat_loader_next(l, &b, &t_err));
    child = fork();
    if (child == 0)
        in_child(l, b);
    wait_for(child);
    for (uint64_t k = 1; k < 50; k++) {
        leat_batch_release(b, NULL);
        T_OK(leat_loader_next(l, &b, &t_err));
        loading_check(&w, b, 4 * k);
    }
    leat_loader_close(l);
    leat_plan_close(w.plan);
}

/* ---- Ranks ---- */

static void cover(void)
{
    struct loading w = open_plan("d", "seq-len 100\nepochs 2\n");
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    atomic_uchar *seen;
    pid_t children[2];

    leat_plan_info(w.plan, &info);
    seen = mmap(NULL, info.samples, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (uint64_t rank = 0; rank < 2; rank++) {
        children[rank] = fork();
        if (children[rank] == 0) {
            struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
            const struct leat_batch *b;
            struct leat_loader *l;
            bool blames = false;
            char text[512];

            o.batch = 10;
            o.ranks.rank = rank;
            o.ranks.world = 2;
            o.last = LEAT_LAST_PADDED;
            T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
            while (leat_loader_next(l, &b, &t_err) == LEAT_OK) {
                for (uint32_t i = 0; i < b->rows; i++)
                    if (!(b->flags[i] & LEAT_ROW_PADDED))
                        atomic_fetch_add(&seen[b->samples[i].number], 1);
                leat_batch_release(b, NULL);
            }
            while (leat_loader_notice(l, text, sizeof text))
                blames = blames || strstr(text, "for writing");
            leat_loader_close(l);
            _exit(t_err.status != LEAT_E_END || blames);
        }
    }
    wait_for(children[0]);
    wait_for(children[1]);
    for (uint64_t n = 0; n < info.samples; n++)
        T_EQ(atomic_load(&seen[n]), 1);
    munmap((void *)(uintptr_t)seen, info.samples);
    leat_plan_close(w.plan);
}

/* ---- Memory ---- */

/* A number of KiB in /proc/self/smaps_rollup; 0: not known. */
static uint64_t rollup(const char *key)
{
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    unsigned long long kib = 0;
    char line[256];

    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0)
            sscanf(line + strlen(key), "%llu", &kib);
    if (f)
        fclose(f);
    return kib;
}

#define PROCESSES 8u

struct sizes {
    atomic_uint ready;
    uint64_t own[PROCESSES], pss[PROCESSES], ring[PROCESSES];
};

static void take_memory(const struct loading *w, struct sizes *z, unsigned rank)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;
    uint64_t before = rollup("Anonymous:");
    const struct leat_batch *b;
    struct leat_loader *l;

    o.batch = PROCESSES * 16;
    o.ranks.rank = rank;
    o.ranks.world = PROCESSES;
    o.io.engine = LEAT_ENGINE_MAP;
    T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
    for (unsigned k = 0; k < 300; k++) {
        T_OK(leat_loader_next(l, &b, &t_err));
        leat_batch_release(b, NULL);
    }
    leat_loader_stats(l, &stats);
    atomic_fetch_add(&z->ready, 1);
    while (atomic_load(&z->ready) < PROCESSES)
        usleep(1000);
    z->own[rank] = rollup("Anonymous:") - before;
    z->pss[rank] = rollup("Pss:");
    z->ring[rank] = stats.ring.bytes / 1024;
    atomic_fetch_add(&z->ready, 1);
    while (atomic_load(&z->ready) < 2 * PROCESSES)
        usleep(1000);
    leat_loader_close(l);
    _exit(t_failures != 0);
}

static void memory(void)
{
    struct loading w = open_plan("large", "seq-len 512\n");
    struct sizes *z = mmap(NULL, sizeof *z, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t children[PROCESSES];
    uint64_t pss = 0;

    leat_plan_close(w.plan); /* each child opens its own */
    for (unsigned i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            w = open_plan("large", "seq-len 512\n");
            take_memory(&w, z, i);
        }
    }
    for (unsigned i = 0; i < PROCESSES; i++)
        wait_for(children[i]);
    for (unsigned i = 0; i < PROCESSES; i++) {
        pss += z->pss[i];
        /* nor is that which the driver of a real GPU takes */
        T_CHECK(T_SANITIZED || getenv("LEAT_TEST_DEVICE") || z->own[i] < z->ring[i] + 16384);
    }
    fprintf(stderr, "eight processes on 16 MiB: %llu KiB in all; of its own each %llu KiB, of which the ring %llu\n",
            (unsigned long long)pss, (unsigned long long)z->own[0], (unsigned long long)z->ring[0]);
    munmap(z, sizeof *z);
}

int main(void)
{
    snprintf(folder, sizeof folder, "%s", t_folder());
    loading_write(t_text("%s/d", folder), 30000, 2, 60);
    loading_write(t_text("%s/large", folder), 8 << 20, 2, 60);
    /* first those whose children open loaders: a device that this process has opened is closed to its children */
    cover();
    memory();
    for (enum leat_engine e = LEAT_ENGINE_AUTO; e < GATHER_ENGINE_COUNT; e++)
        for (size_t t = 0; t < LOADING_THREADS; t++)
            forks(e, loading_threads[t]);
    return t_end();
}
