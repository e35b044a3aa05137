/*
 * test_loader_fuse.c: a file system of another machine (tests/support/fuse_file.h): no file of it is ever mapped; what
 * fits into memory is brought there by reads of 1 MiB; batches are those of a plain file. By io_uring, reads go on
 * while one is slow: each slow one here is answered only after more than 60 others were; and once more with rows that
 * are read to where they stay. test_loader_fuse_faults.c has reads that fail. Runs the loader's thread; needs root and
 * /dev/fuse.
 */
#include <pthread.h>
#include <sys/mman.h>

#include "fuse_loading.h"
#include "refused_call.h"

/* Whether a file of this name is mapped. */
static bool is_mapped(const char *part)
{
    FILE *f = fopen("/proc/self/maps", "r");
    char line[1200];
    bool found = false;

    while (f && fgets(line, sizeof line, f))
        found = found || strstr(line, part);
    if (f)
        fclose(f);
    return found;
}

/* ---- What is chosen ---- */

static void warms(void)
{
    struct leat_loader_options o = options(LEAT_ENGINE_AUTO);
    struct leat_loader_stats stats;
    struct leat_loader *l;
    struct fuse_file f;
    struct loading w;

    T_CHECK(mount_fuse(&f));
    w = open_plan(LEAT_ACCESS_LEASED, "");
    T_CHECK(!is_mapped("/mounted/"));
    o.io.slots = 4;
    o.batch = 1; /* few reads of rows, which leave holes in what is to be read at once */
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    stats = take(&w, l, 4);
    T_CHECK(!is_mapped("/mounted/"));
    while (stats.io.warming) {
        T_CHECK(strcmp(stats.io.engine, "advise") == 0 || strcmp(stats.io.engine, "pread") == 0);
        usleep(10000);
        leat_loader_stats(l, &stats);
    }
    while (strcmp(stats.io.engine, "pread") != 0) /* looked at once a second */
        stats = take(&w, l, 1);
    stats = take(&w, l, 500);
    /* what the kernel was told of is read by now: rows have been taken from all of the file */
    fprintf(stderr, "%llu reads, %.1f MiB, of them %.1f MiB by reads of 1 MiB\n", (ull)atomic_load(&f.board->reads),
            (double)atomic_load(&f.board->bytes) / 1048576, (double)atomic_load(&f.board->large_bytes) / 1048576);
    T_CHECK(!f.reads_far || atomic_load(&f.board->large_bytes) >= TOKENS / 2); /* rows were read besides */
    T_CHECK(!is_mapped("/mounted/"));
    end_fuse(&f, &w, l);
}

/* Also where the caller vouches for the files, the loader does not copy from a map that can fail. */
static void forced(enum leat_access access, enum leat_engine engine, const char *shown)
{
    struct leat_loader_options o = options(engine);
    struct leat_loader_stats stats;
    struct leat_loader *l;
    struct fuse_file f;
    struct loading w;

    T_CHECK(mount_fuse(&f));
    w = open_plan(access, "");
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    stats = take(&w, l, 40);
    if (strcmp(stats.io.engine, "advise") != 0 || engine != LEAT_ENGINE_URING) /* no io_uring here */
        T_STR(stats.io.engine, shown);
    T_CHECK(access == LEAT_ACCESS_TRUSTED || !is_mapped("/mounted/"));
    end_fuse(&f, &w, l);
}

/* ---- Slow reads ---- */

#define OTHERS 61u

/* False: there is no io_uring here. */
static bool overtakes(void)
{
    struct leat_loader_options o = options(LEAT_ENGINE_URING);
    struct leat_loader_stats stats;
    struct leat_loader *l;
    struct fuse_file f;
    struct loading w;

    T_CHECK(mount_fuse(&f));
    w = open_plan(LEAT_ACCESS_LEASED, "");
    o.io.slots = 16;
    atomic_store(&f.board->hold_for, OTHERS);
    atomic_store(&f.board->hold_every, 500);
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    do {
        stats = take(&w, l, 1);
        usleep(500); /* a ring that is full when the slow read is met has few others begun: more must be, then */
    } while (atomic_load(&f.board->held) < 5 && strcmp(stats.io.engine, "uring") == 0);
    atomic_store(&f.board->hold_every, 0);
    T_EQ(atomic_load(&f.board->alone), 0);
    fprintf(stderr, "%llu reads were held until %u others were answered; %u in flight at most\n",
            (ull)atomic_load(&f.board->held), OTHERS, stats.io.reads_in_flight);
    end_fuse(&f, &w, l);
    return strcmp(stats.io.engine, "uring") == 0;
}

/* O_DIRECT that is taken when a file is opened and refused when it is read is not tried for each read. */
static void refuses_direct(void)
{
    struct leat_loader_options o = options(LEAT_ENGINE_URING);
    struct leat_loader_stats stats;
    struct leat_loader *l;
    struct fuse_file f;
    struct loading w;

    T_CHECK(mount_fuse(&f));
    atomic_store(&f.board->refuse_direct, true);
    w = open_plan(LEAT_ACCESS_LEASED, "");
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    stats = take(&w, l, 200);
    T_STR(stats.io.engine, "uring");
    T_CHECK(atomic_load(&f.board->refused) > 0 && atomic_load(&f.board->refused) <= 2 * stats.io.reads_in_flight);
    end_fuse(&f, &w, l);
}

/* One read in a thousand takes 20 ms more, with steps of 1 ms: all is right; how often the consumer felt it is shown,
 * not judged. */
static void slow_reads(void)
{
    struct leat_loader_options o = options(LEAT_ENGINE_URING);
    struct leat_loader_stats stats;
    struct leat_loader *l;
    struct fuse_file f;
    struct loading w;

    T_CHECK(mount_fuse(&f));
    w = open_plan(LEAT_ACCESS_LEASED, "");
    o.io.slots = 32;
    atomic_store(&f.board->slow_every, 1000);
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    for (uint64_t k = 0; k < 500; k++) {
        stats = take(&w, l, 1);
        usleep(1000);
    }
    fprintf(stderr,
            "one read in a thousand takes 20 ms more, %llu reads: next p50 %.1f us, p99 %.1f us, most %.1f us\n",
            (ull)atomic_load(&f.board->reads), (double)stats.next.p50 / 1e3, (double)stats.next.p99 / 1e3,
            (double)stats.next.max / 1e3);
    end_fuse(&f, &w, l);
}

/* ---- Calls of io_uring that are refused ---- */

static bool stays_mapped(const void *byte)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    return msync((void *)((uintptr_t)byte / page * page), page, MS_ASYNC) == 0;
}

/* Of the second batch; its read is held whenever it comes, because reads overtake each other. */
static unsigned late_row;

static uint64_t late_byte(const struct loading *w)
{
    struct leat_sample x;
    uint64_t got;

    T_OK(leat_plan_samples(w->plan, BATCH + late_row, 1, &x, &got, &t_err));
    return x.offset * w->width + 1;
}

/* From the second batch on this thread's calls of io_uring are refused, while reads are under way, one of which is held
 * up until its slot is filled anew. No row is given that it could still be written to, and none takes what came late
 * for its own. Once such a row was given without its tokens. */
static void *stops(void *fuse)
{
#if defined(__linux__) && defined(SYS_io_uring_enter)
    struct leat_loader_options o = options(LEAT_ENGINE_URING);
    struct loading w = open_plan(LEAT_ACCESS_READ, "");
    const struct leat_batch *b;
    struct leat_loader *l;
    const struct fuse_file *f = fuse;
    enum leat_status s = LEAT_OK;
    const void *row;
    char text[600];

    atomic_store(&f->board->hold_byte, late_byte(&w));
    o.io.threads = 0;
    o.io.slots = 4;
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    T_OK(leat_loader_next(l, &b, &t_err));
    row = leat_batch_row(b, 0);
    leat_batch_release(b, NULL);
    for (int ms = 0; ms < 60000 && atomic_load(&f->board->held) == 0; ms++)
        usleep(1000); /* what the kernel has not begun when the ring is closed never comes */
    if (refuse_call(SYS_io_uring_enter, EPERM)) {
        for (uint64_t k = 1; k < 40 && (s = leat_loader_next(l, &b, &t_err)) == LEAT_OK; k++) {
            loading_check(&w, b, k * BATCH);
            leat_batch_release(b, NULL);
        }
        T_CHECK(s == LEAT_E_UNSUPPORTED || (s == LEAT_OK && apart != LEAT_APART_ALWAYS));
        if (s != LEAT_OK)
            T_CONTAINS(t_err.message, "io_uring stopped reporting completions (errno 1)");
        T_CHECK(leat_loader_notice(l, text, sizeof text));
        T_CONTAINS(text, "io_uring is unavailable (forbidden");
    }
    leat_loader_close(l);
    if (s != LEAT_OK) /* a read into a row was under way: what lies there next must not be written over */
        T_CHECK(stays_mapped(row));
    leat_plan_close(w.plan);
#else
    (void)fuse;
#endif
    return NULL;
}

/* In a thread of its own, which the filter ends with. */
static void stops_alone(void)
{
    struct fuse_file f;
    pthread_t thread;

    T_CHECK(mount_fuse(&f));
    atomic_store(&f.board->hold_for, 150);
    T_CHECK(pthread_create(&thread, NULL, stops, &f) == 0);
    pthread_join(thread, NULL);
    T_EQ(atomic_load(&f.board->held), 1);
    atomic_store(&f.board->hold_byte, 0); /* a loader that stopped with an error reads nothing more */
    fuse_file_unmount(&f);
}

static void rows_apart(void)
{
    apart = LEAT_APART_ALWAYS;
    overtakes();
    refuses_direct();
    stops_alone();
    apart = LEAT_APART_AUTO;
}

int main(void)
{
    if (!begin_fuse())
        return t_skip("mounting /dev/fuse is not allowed here");
    warms();
    forced(LEAT_ACCESS_LEASED, LEAT_ENGINE_MAP, "pread");
    forced(LEAT_ACCESS_TRUSTED, LEAT_ENGINE_MAP, "pread");
    forced(LEAT_ACCESS_LEASED, LEAT_ENGINE_PREAD, "pread");
    forced(LEAT_ACCESS_LEASED, LEAT_ENGINE_ADVISE, "advise");
    forced(LEAT_ACCESS_LEASED, LEAT_ENGINE_URING, "uring");
    if (overtakes()) {
        refuses_direct();
        slow_reads();
        for (late_row = 1; late_row < 6; late_row++)
            stops_alone();
        rows_apart();
    }
    return t_end();
}
