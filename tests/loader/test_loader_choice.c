/*
 * test_loader_choice.c: which engine a file is read with. In memory: the map. Not in memory: reads in flight for the
 * rows of all slots, and the file is brought to memory meanwhile, and then mapped. A file that may not be mapped is
 * read. Forced engines stay; where io_uring is refused, advice takes its place. Statistics and notices tell. The
 * loader's thread runs here.
 */
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "loading.h"
#include "page_cache.h"
#include "refused_call.h"

#define TOKENS ((uint64_t)16 << 20)

static char name[600];

static const char *token_file(void)
{
    return t_text("%s.tokens", name);
}

static struct loading open_plan(enum leat_access access)
{
    struct loading w = { .width = 2, .mean = 60 };
    struct leat_open_options open = LEAT_OPEN_OPTIONS_INIT;
    char text[800];

    open.access = access;
    snprintf(text, sizeof text, "source %s\nseq-len 512\n", name);
    T_OK(leat_plan_parse(&w.plan, text, strlen(text), NULL, &open, &t_err));
    return w;
}

/* Batches [from, from + count), checked; what the statistics say then. */
static struct leat_loader_stats take(const struct loading *w, struct leat_loader *l, uint64_t from, uint64_t count)
{
    struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;
    const struct leat_batch *b;

    for (uint64_t k = from; k < from + count; k++) {
        T_OK(leat_loader_next(l, &b, &t_err));
        loading_check(w, b, 16 * k);
        leat_batch_release(b, NULL);
    }
    leat_loader_stats(l, &stats);
    T_CHECK(stats.batches == from + count && stats.rows == 16 * stats.batches && stats.tokens == 512 * stats.rows);
    T_CHECK(stats.io.bytes >= 16 * stats.batches * 513 * 2 && stats.io.read_bytes >= stats.io.bytes);
    /* a few may be counted this moment; they were counted a ring ahead: "256 of 192 rows from memory" */
    T_CHECK(stats.io.hits < stats.io.reads + 16);
    T_CHECK(stats.next.count == stats.batches - 1 && stats.next.max >= stats.next.p50);
    return stats;
}

static struct leat_loader_options options(enum leat_engine engine)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;

    o.batch = 16;
    o.io.engine = engine;
    return o;
}

static void hot(enum leat_access access, const char *engine)
{
    struct loading w = open_plan(access);
    struct leat_loader_options o = options(LEAT_ENGINE_AUTO);
    struct leat_loader_stats stats;
    struct leat_loader *l;
    char text[400];

    page_cache_fill(token_file()); /* a busy machine may have taken what was written out of memory */
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    stats = take(&w, l, 0, 200);
    T_STR(stats.io.engine, engine);
    T_EQ(stats.io.warmed_bytes, 0);
    T_CHECK(stats.io.hits + 1 >= stats.io.reads); /* one may be counted this moment */
    leat_loader_stats_line(l, text, sizeof text);
    T_CONTAINS(text, "batches 200, rows 3200");
    T_CONTAINS(text, engine);
    memset(text, 'x', sizeof text);
    leat_loader_stats_line(l, text, 10);
    T_EQ(strlen(text), 9);
    leat_loader_close(l);
    leat_plan_close(w.plan);
}

/* More files than are looked at when the loader is opened and with the first batch: the others are taken to be like
 * those. */
static void many(const char *folder)
{
    struct loading w = { .width = 2, .mean = 60 };
    struct leat_loader_options o = options(LEAT_ENGINE_AUTO);
    struct leat_loader_stats stats;
    struct leat_loader *l;
    char file[700];

    snprintf(file, sizeof file, "%s/many", folder);
    T_EQ(mkdir(file, 0777), 0);
    for (unsigned i = 0; i < 100; i++) {
        snprintf(file, sizeof file, "%s/many/%u", folder, i);
        loading_write(file, 2000, 2, 60);
    }
    w.plan = loading_plan(t_text("source %s/many\nseq-len 512\n", folder));
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    stats = take(&w, l, 0, 40); /* two epochs: each file has three rows */
    T_STR(stats.io.engine, "map");
    leat_loader_close(l);
    leat_plan_close(w.plan);
}

/* All is checked where it must come to memory first. */
static void verifies(void)
{
    struct leat_open_options o = LEAT_OPEN_OPTIONS_INIT;
    struct leat_verify_report report = LEAT_VERIFY_REPORT_INIT;
    struct leat_dataset *d;

    o.access = LEAT_ACCESS_TRUSTED;
    T_OK(leat_dataset_open(&d, name, &o, &t_err));
    T_OK(leat_dataset_verify(d, NULL, &report, &t_err));
    T_CHECK(report.bytes >= 2 * TOKENS);
    leat_dataset_close(d);
}

static void forced(enum leat_engine engine, const char *shown)
{
    struct loading w = open_plan(LEAT_ACCESS_LEASED);
    struct leat_loader_options o = options(engine);
    struct leat_loader_stats stats;
    struct leat_loader *l;
    bool refused = false;
    char text[600];

    page_cache_fill(token_file());
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    take(&w, l, 0, 20);
    leat_loader_close(l);
    T_CHECK(page_cache_drop(token_file()));
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    stats = take(&w, l, 0, 60);
    while (leat_loader_notice(l, text, sizeof text))
        refused = refused || strstr(text, "io_uring");
    T_EQ(leat_loader_notice(l, text, sizeof text), 0); /* once */
#if !defined(LEAT_HAVE_URING)
    T_CHECK(refused || engine != LEAT_ENGINE_URING);
#endif
    T_STR(stats.io.engine, refused && engine == LEAT_ENGINE_URING ? "advise" : shown);
    T_EQ(stats.io.warmed_bytes, 0);
    if (engine == LEAT_ENGINE_URING && !refused)
        T_CHECK(stats.io.reads_in_flight >= 64);
    /* whole pages around rows of 1026 bytes, and no more; the map's faults are the kernel's affair */
    T_CHECK(stats.io.read_bytes <= 16 * stats.batches * 8 * 4096 + stats.ring.slots * 16 * 8192);
    leat_loader_close(l);
    leat_plan_close(w.plan);
}

static bool may_be_read_directly(void)
{
    static _Alignas(4096) char page[4096];
    int fd = open(token_file(), O_RDONLY | O_DIRECT);
    bool may = fd >= 0 && pread(fd, page, sizeof page, 0) == (ssize_t)sizeof page;

    if (fd >= 0)
        close(fd);
    return may;
}

/* A quarter is in memory, as chance has it: of the rest nothing comes there while it is read past it. (To ask for a row
 * without waiting makes newer kernels read it in the background: each row was read twice.) */
static void partly_in_memory(void)
{
    struct loading w = open_plan(LEAT_ACCESS_LEASED);
    struct leat_loader_options o = options(LEAT_ENGINE_URING);
    struct leat_loader_stats stats;
    struct leat_loader *l;
    uint64_t before, after;

    T_CHECK(page_cache_drop(token_file()));
    page_cache_fill_some(token_file(), 2 * TOKENS / 4);
    before = page_cache_pages(token_file());
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    stats = take(&w, l, 0, 100);
    leat_loader_close(l);
    leat_plan_close(w.plan);
    after = page_cache_pages(token_file());
    T_CHECK(stats.io.hits > 0);
    if (strcmp(stats.io.engine, "uring") == 0 && may_be_read_directly() && after > before + stats.io.reads / 8)
        T_FAIL("of %llu rows, %llu of memory: %llu pages in memory after %llu before",
               (unsigned long long)stats.io.reads, (unsigned long long)stats.io.hits, (unsigned long long)after,
               (unsigned long long)before);
}

/* Rows that are longer than a read of the ring, and than what is read around a row at once. */
static void long_rows(enum leat_engine engine, uint64_t length)
{
    struct loading w = { .width = 2, .mean = 60 };
    struct leat_loader_options o = options(engine);
    const struct leat_batch *b;
    struct leat_loader *l;

    w.plan = loading_plan(t_text("source %s\nseq-len %llu\n", name, (unsigned long long)length));
    T_CHECK(page_cache_drop(token_file()));
    o.batch = 3;
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    for (unsigned k = 0; k < 3; k++) {
        T_OK(leat_loader_next(l, &b, &t_err));
        loading_check(&w, b, 3 * k);
        leat_batch_release(b, NULL);
    }
    leat_loader_close(l);
    leat_plan_close(w.plan);
}

/* Cold, and fits: batches flow at once, and in the end it is in memory and mapped. */
static void warms(void)
{
    struct loading w = open_plan(LEAT_ACCESS_LEASED);
    struct leat_loader_options o = options(LEAT_ENGINE_AUTO);
    struct leat_loader_stats stats;
    struct leat_loader *l;
    uint64_t k = 20;

    T_CHECK(page_cache_drop(token_file()));
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    stats = take(&w, l, 0, 20);
    while (stats.io.warming || strcmp(stats.io.engine, "map") != 0) {
        stats = take(&w, l, k, 5);
        k += 5;
        usleep(10000);
    }
    T_CHECK(stats.io.warmed_bytes > 0 || stats.io.hits + 1 >= stats.io.reads);
    leat_loader_close(l);
    leat_plan_close(w.plan);
}

/* In stretches, only the first pool comes to memory with the first rows, and what is soon to be shown of the next. */
static void warms_in_stretches(void)
{
    struct loading w = { .width = 2, .mean = 60 };
    struct leat_loader_options o = options(LEAT_ENGINE_AUTO);
    struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;
    struct leat_loader *l;
    uint64_t pages, pool = ((uint64_t)4 << 20) / 4096;

    w.plan = loading_plan(t_text("source %s\nseq-len 512\nstretch 1048576\nmix 4\n", name));
    T_CHECK(page_cache_drop(token_file()));
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    do {
        usleep(10000);
        leat_loader_stats(l, &stats);
        pages = page_cache_pages(token_file());
    } while (stats.io.warming || pages < pool);
    take(&w, l, 0, 20);
    pages = page_cache_pages(token_file());
    if (pages > 2 * TOKENS / 4096 / 2)
        T_FAIL("%llu pages in memory after rows of a pool of %llu", (unsigned long long)pages,
               (unsigned long long)pool);
    leat_loader_close(l);
    leat_plan_close(w.plan);
}

/* As in most containers: the system call is refused. */
static void without_uring(void)
{
#if defined(__linux__) && defined(SYS_io_uring_setup)
    pid_t child = fork();

    if (child == 0) {
        struct loading w = open_plan(LEAT_ACCESS_LEASED);
        struct leat_loader_options o = options(LEAT_ENGINE_URING);
        struct leat_loader_stats stats;
        struct leat_loader *l;
        char text[600];

        if (!refuse_call(SYS_io_uring_setup, EPERM))
            _exit(0); /* no filters here */
        t_failures = 0;
        T_CHECK(page_cache_drop(token_file()));
        T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
        stats = take(&w, l, 0, 60);
        T_STR(stats.io.engine, "advise");
        T_EQ(stats.io.reads_in_flight, 0);
        T_CHECK(leat_loader_notice(l, text, sizeof text));
        T_CONTAINS(text, "io_uring");
#if defined(LEAT_HAVE_URING)
        T_CONTAINS(text, "forbidden");
#else
        T_CONTAINS(text, "not built in");
#endif
        leat_loader_close(l);
        _exit(t_failures != 0);
    }
    expect_success(child);
#endif
}

/* A consumer that does so much with each batch. */
static void work(uint64_t ns)
{
    for (uint64_t end = clock_ns() + ns; ns > 0 && clock_ns() < end;)
        ;
}

#define RECENT 100u

struct steps {
    bool slow[RECENT];
    unsigned count;
};

/* Notes for how long the loop was not in the loader. Returns whether a quarter of the last steps took nearly as long as
 * a step that trains. */
static bool looks_busy(struct steps *s, uint64_t k, uint64_t ns)
{
    s->count += (ns > 150000) - s->slow[k % RECENT];
    s->slow[k % RECENT] = ns > 150000;
    return 4 * s->count >= RECENT;
}

/* Of a loop that only takes batches on the host, nothing is said, unless the machine is so busy that the loop seems to
 * work. A loop that stood now and then was taken for one that works: it was told to open the loader with a thread. */
static void starved(uint64_t work_ns)
{
    struct loading w = open_plan(LEAT_ACCESS_LEASED);
    struct leat_loader_options o = options(LEAT_ENGINE_PREAD);
    struct leat_loader_stats s = LEAT_LOADER_STATS_INIT;
    struct leat_loader *l;
    unsigned told = 0;
    struct steps steps = { .count = 0 };
    bool busy = false;
    char text[600];

    o.batch = 256;                 /* waiting for a hundred takes longer than the loop stands */
    o.io.threads = 0;              /* all work is waiting then */
    page_cache_fill(token_file()); /* as in hot() */
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    /* on a busy machine the work may take much longer at times, so that waiting is little of it */
    for (unsigned k = 0; k < 300 || (work_ns > 0 && told == 0 && k < 20000); k++) {
        const struct leat_batch *b;
        uint64_t began;

        T_OK(leat_loader_next(l, &b, &t_err));
        began = clock_ns();
        leat_batch_release(b, NULL);
        work(work_ns);
        if (k >= 150 && k % 16 == 0 && work_ns == 0) /* as if something else had the core */
            usleep(4000);
        while (leat_loader_notice(l, text, sizeof text)) {
            T_CONTAINS(text, "waited for batches");
            T_CONTAINS(text, "has no thread");
            T_CHECK(k >= 100);
            told++;
        }
        busy |= looks_busy(&steps, k, clock_ns() - began);
    }
    leat_loader_stats(l, &s);
    if (work_ns > 0 || !busy)
        T_EQ(told, work_ns > 0 || s.device.ring_bytes > 0);
    leat_loader_close(l);
    leat_plan_close(w.plan);
}

int main(void)
{
    const char *folder = t_disk_folder();

    snprintf(name, sizeof name, "%s/d", folder);
    loading_write(name, TOKENS, 2, 60);
    if (page_cache_drop(
            token_file())) /* first, since its child opens a loader, for which no device must have been opened before */
        without_uring();
    page_cache_fill(token_file());
    hot(LEAT_ACCESS_TRUSTED, "map");
    hot(LEAT_ACCESS_READ, "pread");
    many(folder);
    starved(220000);
    starved(0);
    if (!page_cache_drop(token_file()))
        return t_failures ? 1 : t_skip("this file system keeps files in memory: the rest passed");
    verifies();
    forced(LEAT_ENGINE_MAP, "map");
    forced(LEAT_ENGINE_PREAD, "pread");
    forced(LEAT_ENGINE_ADVISE, "advise");
    forced(LEAT_ENGINE_URING, "uring");
    partly_in_memory();
    for (enum leat_engine e = LEAT_ENGINE_AUTO; e < GATHER_ENGINE_COUNT; e++) {
        long_rows(e, 200000);
        long_rows(e, 1200000);
    }
    warms();
    warms_in_stretches();
    return t_end();
}
