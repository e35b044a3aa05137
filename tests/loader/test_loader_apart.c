/*
 * test_loader_apart.c: rows of cold files that the disk itself writes to their slots, inside of the pages around them
 * (enum leat_apart): batches are those of a map, bit by bit, and the CPU has copied nothing, for rows of all sizes, at
 * the ends of files, padded, empty or damaged. Files in memory, and files that are brought there, give rows that lie
 * together; so it is where memory cannot be registered, and the statistics say so. The loader's thread runs here.
 */
#include <sys/syscall.h>
#include <sys/wait.h>

#include "apart_files.h"
#include "page_cache.h"
#include "refused_call.h"

/* The same with its files out of memory, where a map would keep some pages. */
static struct loading open_cold(unsigned width, const char *rules)
{
    struct loading w = open_plan(width, LEAT_ACCESS_READ, rules);

    for (unsigned i = 0; i < MAX_FILES; i++)
        T_CHECK(page_cache_drop(token_file(i)));
    return w;
}

/* ---- Cold files ---- */

/* The same batches from maps, and from the disk. */
static void same(unsigned width, const char *rules, uint32_t threads, uint32_t borrow)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    struct leat_loader_options o = options(LEAT_ENGINE_MAP, LEAT_APART_ALWAYS);
    struct loading w = open_plan(width, LEAT_ACCESS_TRUSTED, rules);
    struct taken mapped, direct;

    o.outputs.borrow = borrow;
    o.io.threads = threads;
    o.io.verify = !borrow;
    leat_plan_info(w.plan, &info);
    if (info.positions == LEAT_NONE)
        o.position = 9600 - ROWS / 2; /* where the length changes */
    else if (info.order < LEAT_ORDER_DOCUMENTS && info.positions > ROWS)
        o.position = info.positions - ROWS; /* to the end */
    mapped = taken_run(&w, o, ROWS / 7 + 1);
    leat_plan_close(w.plan);
    T_EQ(mapped.apart, 0);
    T_CHECK(mapped.stats.io.copied_bytes > 0);
    w = open_cold(width, rules);
    o.io.engine = LEAT_ENGINE_URING;
    direct = taken_run(&w, o, ROWS / 7 + 1);
    leat_plan_close(w.plan);
    T_EQ(direct.batches, mapped.batches);
    T_EQ(direct.apart, direct.batches);
    T_EQ(direct.stats.io.copied_bytes, 0);
    T_EQ(direct.stats.io.hits, 0);
    T_CHECK(taken_equal(&direct, &mapped));
}

static void all_same(unsigned width)
{
    make_files(width, 700001, 1000003, 1000001);
    /* both lengths in one batch */
    same(width, "seq-len 30\nbase-len 90\nat 9600:1:len=90\n", 1, 0);
    same(width, "seq-len 2047\nepochs 2\n", 0, 1);
    if (width == 2 || t_every()) { /* the width counts where rows are cut to pages, and these are cut as those are */
        same(width, "seq-len 40\nepochs 1\norder sequential\n", 1, 0);
        same(width, "seq-len 2048\nepochs 2\n", 1, 0);
        same(width, "seq-len 5000\nepochs 2\norder sequential\n", 1, 1);
        same(width, "seq-len 40\nepochs 1\norder documents\n", 0, 0);
    }
    /* rows of three reads each; two batches */
    same(width, width == 2 ? "seq-len 333000\nepochs 1\n" : "seq-len 166500\nepochs 1\n", 1, 0);
}

/* Without being asked for: on a GPU, if rows are long. */
static void by_itself(void)
{
    static const struct {
        uint64_t length;
        enum leat_apart apart;
        bool on_host, on_gpu;
    } table[] = { { 4096, LEAT_APART_AUTO, false, true },
                  { 2048, LEAT_APART_AUTO, false, false },
                  { 2048, LEAT_APART_ALWAYS, true, true },
                  { 4096, LEAT_APART_NEVER, false, false } };

    make_files(2, 1000001, 1300000, 1000100);
    for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct leat_loader_options o = options(LEAT_ENGINE_URING, table[i].apart);
        struct loading w;
        struct taken t;
        bool apart;

        w = open_cold(2, t_text("seq-len %llu\n", (unsigned long long)table[i].length));
        t = taken_run(&w, o, 4);
        apart = strncmp(t.stats.device.name, "host", 4) == 0 ? table[i].on_host : table[i].on_gpu;
        T_EQ(t.apart, apart ? 4 : 0);
        T_EQ(t.stats.io.copied_bytes > 0, !apart);
        leat_plan_close(w.plan);
    }
}

/* A damaged page in the middle of rows of several pages; and of rows of several reads, of which one is found damaged
 * while others are still under way to the row's place. */
static void damaged(uint32_t threads, uint64_t length)
{
    struct leat_loader_options o = options(LEAT_ENGINE_URING, LEAT_APART_ALWAYS);
    const struct leat_batch *b;
    struct leat_loader *l;
    uint64_t hurt = 0, rows = 0;
    struct loading w;

    make_files(2, 3 * length + 1, 2 * length, 50);
    damage_page();
    w = open_cold(2, t_text("seq-len %llu\nepochs 2\n", (unsigned long long)length));
    o.io.threads = threads;
    o.on_damage = LEAT_ON_DAMAGE_MASK;
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    while (leat_loader_next(l, &b, &t_err) == LEAT_OK) {
        T_CHECK(!b->tokens);
        loading_check(&w, b, rows);
        for (uint32_t row = 0; row < b->rows; row++) {
            const struct leat_sample *x = &b->samples[row];
            bool holds = !(b->flags[row] & LEAT_ROW_PADDED) && (off_t)x->offset * 2 / 4096 <= 9 &&
                         (off_t)(x->offset + x->length) * 2 / 4096 >= 9 && x->source == 0;

            T_EQ((b->flags[row] & LEAT_ROW_DAMAGED) != 0, holds);
            hurt += holds;
            for (uint32_t i = 0; holds && i <= x->length; i++)
                T_EQ(loading_stored(b, row, i), 0);
        }
        rows += b->rows;
        leat_batch_release(b, NULL);
    }
    T_EQ(t_err.status, LEAT_E_END);
    T_CHECK(hurt >= 2);
    leat_loader_close(l);
    check_ends_with_damage(&w, o);
}

/* ---- Files in memory, and both ---- */

/* One source in memory, the other not; nothing is warmed, since there is no thread. */
static void mixed(const char *weights, bool some_apart, bool some_together)
{
    struct leat_loader_options o = options(LEAT_ENGINE_AUTO, LEAT_APART_ALWAYS);
    const struct leat_batch *b;
    struct leat_loader *l;
    uint64_t apart = 0, rows = 0, cold_rows = 0;
    struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;
    struct leat_open_options open = LEAT_OPEN_OPTIONS_INIT;
    unsigned hot_weight, cold_weight;
    struct loading w = { .width = 2, .mean = 60 };
    char text[2000];

    sscanf(weights, "%u %u", &hot_weight, &cold_weight);
    snprintf(text, sizeof text, "source %s:%u\nsource %s:%u\nseq-len 1500\n", files[0], hot_weight, files[1],
             cold_weight);
    open.access = LEAT_ACCESS_READ;
    T_OK(leat_plan_parse(&w.plan, text, strlen(text), NULL, &open, &t_err));
    T_CHECK(page_cache_drop(token_file(1)));
    page_cache_fill(token_file(0));
    o.batch = 16;
    o.io.threads = 0;
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    for (unsigned k = 0; k < 12; k++) {
        T_OK(leat_loader_next(l, &b, &t_err));
        loading_check(&w, b, rows);
        apart += !b->tokens;
        rows += b->rows;
        for (uint32_t row = 0; row < b->rows; row++)
            cold_rows += b->samples[row].source == 1;
        leat_batch_release(b, NULL);
    }
    leat_loader_stats(l, &stats);
    T_CHECK(cold_rows > 0 && cold_rows < rows);
    T_EQ(apart > 0, some_apart);
    T_EQ(apart < 12, some_together);
    T_CHECK(stats.io.copied_bytes > 0 && (!some_apart || stats.io.copied_bytes < stats.io.bytes));
    leat_loader_close(l);
    leat_plan_close(w.plan);
}

/* ---- Memory that may not be registered ---- */

static void without_registering(void)
{
#if defined(__linux__) && defined(SYS_io_uring_register)
    pid_t child = fork();

    if (child == 0) {
        struct loading w;
        struct taken t;

        if (!refuse_call(SYS_io_uring_register, ENOMEM))
            _exit(0); /* no filters here */
        t_failures = 0;
        w = open_cold(2, "seq-len 2048\n");
        t = taken_run(&w, options(LEAT_ENGINE_URING, LEAT_APART_ALWAYS), 10);
        if (strcmp(t.stats.io.engine, "uring") != 0)
            _exit(t_failures != 0); /* there is none in any case */
        T_EQ(t.apart, 10);
        T_EQ(t.stats.io.copied_bytes, 0);
        T_EQ(t.stats.io.unregistered, 1);
        _exit(t_failures != 0);
    }
    expect_success(child);
#endif
}

/* What is missing for files that are cold, and are then read past the page cache. */
static const char *missing(void)
{
    static _Alignas(4096) uint8_t page[4096];
    int fd = open(token_file(0), O_RDONLY | O_DIRECT);
    bool direct = fd >= 0 && pread(fd, page, sizeof page, 4096) == sizeof page;

    if (fd >= 0)
        close(fd);
    if (!direct)
        return "this file system has no O_DIRECT";
    return page_cache_drop(token_file(0)) ? NULL : "this file system keeps files in memory";
}

/* io_uring, too. */
static bool has_uring(void)
{
    struct loading w = open_cold(2, "seq-len 30\n");
    struct taken t = taken_run(&w, options(LEAT_ENGINE_URING, LEAT_APART_NEVER), 1);

    leat_plan_close(w.plan);
    T_EQ(t.apart, 0);
    T_CHECK(t.stats.io.copied_bytes > 0);
    return strcmp(t.stats.io.engine, "uring") == 0;
}

int main(void)
{
    const char *why;

    snprintf(folder, sizeof folder, "%s", t_disk_folder());
    make_files(2, 1000001, 1300000, 1000100);
    why = missing();
    if (why)
        return t_skip(why);
    without_registering(); /* first, since its child opens a loader, for which no device must have been opened before */
    if (!has_uring())
        return t_skip("io_uring is unavailable");
    mixed("1 40", true, false);
    mixed("1 1", false, true);
    all_same(2);
    all_same(4);
    by_itself();
    for (size_t t = 0; t < LOADING_THREADS; t++) {
        damaged(loading_threads[t], 7000);
        damaged(loading_threads[t], 500000);
    }
    return t_end();
}
