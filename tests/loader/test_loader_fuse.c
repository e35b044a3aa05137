/*
 * test_loader_fuse.c: a file system of another machine (tests/support/fuse_file.h): no file of it is ever mapped; what
 * fits into memory is brought there by reads of 1 MiB; batches are those of a plain file. By io_uring, reads go on
 * while one is slow: each slow one here is answered only after more than 60 others were. A read that fails is an error
 * that names file, page and documents, or a masked row; one that comes back short does not show, or is an error: never
 * a row that is wrong. All that by io_uring once more with rows that are read to where they stay. Runs the loader's
 * thread; needs root and /dev/fuse.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "faults/own_mounts.h"
#include "loading.h"
#include "refused_call.h"
#include "support/fuse_file.h"

#define TOKENS ((uint64_t)8 << 20) /* 16 MiB */
#define LENGTH 700                 /* rows lie across pages */
#define BATCH  16u

typedef unsigned long long ull;

static char folder[512], plain[600], mounted[600];
static enum leat_apart apart; /* rows may be read to where they stay, too */

/* ---- A dataset on it ---- */

static bool mount_fuse(struct fuse_file *f)
{
    if (fuse_file_mount(f, plain, mounted))
        return true;
    fprintf(stderr, "cannot mount: %s\n", strerror(errno));
    return false;
}

static struct loading open_plan(enum leat_access access, const char *more)
{
    struct loading w = { .width = 2, .mean = 60 };
    struct leat_open_options open = LEAT_OPEN_OPTIONS_INIT;
    char text[900];

    open.access = access;
    snprintf(text, sizeof text, "source %s/d\nseq-len %d\n%s", mounted, LENGTH, more);
    T_OK(leat_plan_parse(&w.plan, text, strlen(text), NULL, &open, &t_err));
    return w;
}

static struct leat_loader_options options(enum leat_engine engine)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;

    o.batch = BATCH;
    o.engine = engine;
    o.apart = apart;
    return o;
}

/* So many batches, checked by what the tokens of the dataset are; what the statistics say then. */
static struct leat_loader_stats take(const struct loading *w, struct leat_loader *l, uint64_t count)
{
    struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;
    const struct leat_batch *b;

    while (count-- > 0) {
        T_OK(leat_loader_next(l, &b, &t_err));
        loading_check(w, b, b->position);
        leat_batch_release(b, NULL);
    }
    leat_loader_stats(l, &stats);
    return stats;
}

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
    o.slots = 4;
    o.batch = 1; /* few reads of rows, which leave holes in what is to be read at once */
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    stats = take(&w, l, 4);
    T_CHECK(!is_mapped("/mounted/"));
    while (stats.warming) {
        T_CHECK(strcmp(stats.engine, "advise") == 0 || strcmp(stats.engine, "pread") == 0);
        usleep(10000);
        leat_loader_stats(l, &stats);
    }
    while (strcmp(stats.engine, "pread") != 0) /* looked at once a second */
        stats = take(&w, l, 1);
    stats = take(&w, l, 500);
    /* what the kernel was told of is read by now: rows have been taken from all of the file */
    fprintf(stderr, "%llu reads, %.1f MiB, of them %.1f MiB by reads of 1 MiB\n", (ull)atomic_load(&f.board->reads),
            (double)atomic_load(&f.board->bytes) / 1048576, (double)atomic_load(&f.board->large_bytes) / 1048576);
    T_CHECK(!f.reads_far || atomic_load(&f.board->large_bytes) >= TOKENS / 2); /* rows were read besides */
    T_CHECK(!is_mapped("/mounted/"));
    leat_loader_close(l);
    leat_plan_close(w.plan);
    fuse_file_unmount(&f);
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
    if (strcmp(stats.engine, "advise") != 0 || engine != LEAT_ENGINE_URING) /* no io_uring here */
        T_STR(stats.engine, shown);
    T_CHECK(access == LEAT_ACCESS_TRUSTED || !is_mapped("/mounted/"));
    leat_loader_close(l);
    leat_plan_close(w.plan);
    fuse_file_unmount(&f);
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
    o.slots = 16;
    atomic_store(&f.board->hold_for, OTHERS);
    atomic_store(&f.board->hold_every, 500);
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    do {
        stats = take(&w, l, 1);
        usleep(500); /* a ring that is full when the slow read is met has few others begun: more must be, then */
    } while (atomic_load(&f.board->held) < 5 && strcmp(stats.engine, "uring") == 0);
    atomic_store(&f.board->hold_every, 0);
    T_EQ(atomic_load(&f.board->alone), 0);
    fprintf(stderr, "%llu reads were held until %u others were answered; %u in flight at most\n",
            (ull)atomic_load(&f.board->held), OTHERS, stats.reads_in_flight);
    leat_loader_close(l);
    leat_plan_close(w.plan);
    fuse_file_unmount(&f);
    return strcmp(stats.engine, "uring") == 0;
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
    T_STR(stats.engine, "uring");
    T_CHECK(atomic_load(&f.board->refused) > 0 && atomic_load(&f.board->refused) <= 2 * stats.reads_in_flight);
    leat_loader_close(l);
    leat_plan_close(w.plan);
    fuse_file_unmount(&f);
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
    o.slots = 32;
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
    leat_loader_close(l);
    leat_plan_close(w.plan);
    fuse_file_unmount(&f);
}

/* ---- Reads that fail ---- */

#define BAD_PAGE 1003u

/* How many of the first rows of the plan have a token of the bad page; *first: of which batch the first one is. */
static uint64_t bad_rows(const struct loading *w, uint64_t rows, uint64_t *first)
{
    uint64_t bad = 0, got;

    *first = LEAT_NONE;
    for (uint64_t p = 0; p < rows; p++) {
        struct leat_sample x;

        T_OK(leat_plan_samples(w->plan, p, 1, &x, &got, &t_err));
        if (2 * x.offset / 4096 > BAD_PAGE || 2 * (x.offset + x.length) / 4096 < BAD_PAGE)
            continue;
        if (*first == LEAT_NONE)
            *first = p / BATCH;
        bad++;
    }
    return bad;
}

static void fails(enum leat_engine engine, enum leat_on_damage on_damage, bool direct)
{
    struct leat_loader_options o = options(engine);
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    uint64_t first, rows, k = 0, damaged = 0;
    const struct leat_batch *b;
    struct leat_loader *l;
    enum leat_status s;
    struct fuse_file f;
    struct loading w;
    char words[64];

    T_CHECK(mount_fuse(&f));
    atomic_store(&f.board->direct, direct);
    w = open_plan(LEAT_ACCESS_LEASED, "epochs 1\n");
    leat_plan_info(w.plan, &info);
    rows = bad_rows(&w, info.positions, &first);
    atomic_store(&f.board->fail_begin, (uint64_t)BAD_PAGE * 4096);
    atomic_store(&f.board->fail_end, (uint64_t)BAD_PAGE * 4096 + 4096);
    o.on_damage = on_damage;
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    while ((s = leat_loader_next(l, &b, &t_err)) == LEAT_OK) {
        loading_check(&w, b, BATCH * k++);
        damaged += b->damaged_rows;
        leat_batch_release(b, NULL);
    }
    T_CHECK(atomic_load(&f.board->failed) > 0);
    if (on_damage == LEAT_ON_DAMAGE_MASK) {
        T_STATUS(s, LEAT_E_END);
        T_EQ(damaged, rows);
    } else {
        T_STATUS(s, LEAT_E_IO);
        T_EQ(t_err.os_error, EIO);
        T_EQ(k, first);
        T_CONTAINS(t_err.message, "/mounted/d.tokens");
        T_CONTAINS(t_err.message, "documents ");
        snprintf(words, sizeof words, "page %u", BAD_PAGE);
        if (!strstr(t_err.message, words)) /* the row begins in the page before */
            snprintf(words, sizeof words, "page %u", BAD_PAGE - 1);
        T_CONTAINS(t_err.message, words);
    }
    leat_loader_close(l);
    leat_plan_close(w.plan);
    fuse_file_unmount(&f);
}

/* Without the page cache a short read is one that is gone on with. With it, the kernel takes it for the file's end: an
 * error, unless the bytes that lack were asked for by nobody. */
static void short_reads(enum leat_engine engine, bool direct)
{
    struct leat_loader_options o = options(engine);
    enum leat_status s = LEAT_OK;
    const struct leat_batch *b;
    struct leat_loader *l;
    struct fuse_file f;
    struct loading w;
    uint64_t k = 0;

    T_CHECK(mount_fuse(&f));
    atomic_store(&f.board->direct, direct);
    w = open_plan(LEAT_ACCESS_LEASED, "");
    atomic_store(&f.board->short_every, 3);
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    for (; k < 200 && (s = leat_loader_next(l, &b, &t_err)) == LEAT_OK; k++) {
        loading_check(&w, b, BATCH * k);
        leat_batch_release(b, NULL);
    }
    T_CHECK(atomic_load(&f.board->shortened) > 0);
    if (s != LEAT_OK) {
        T_CHECK(!direct && (s == LEAT_E_TRUNCATED || s == LEAT_E_CHECKSUM));
        T_CONTAINS(t_err.message, "/mounted/d.tokens");
        T_CONTAINS(t_err.message, "documents ");
    }
    leat_loader_close(l);
    leat_plan_close(w.plan);
    fuse_file_unmount(&f);
}

/* Reads of the token file past the page cache, so that their number is large; what it is then. */
static uint64_t many_reads(const struct fuse_file *f)
{
    static _Alignas(4096) uint8_t page[4096];
    char path[700];
    int fd;

    snprintf(path, sizeof path, "%s/d.tokens", mounted);
    fd = open(path, O_RDONLY | O_DIRECT);
    for (unsigned i = 0; i < 300; i++)
        T_CHECK(pread(fd, page, sizeof page, 0) == sizeof page);
    close(fd);
    return atomic_load(&f->board->reads);
}

/* A row of several reads, the first of which fails at once, while another is held up: what that one brings must not
 * come to a row that was masked meanwhile. */
static void late_reads(void)
{
    const uint64_t length = 500000;
    struct leat_loader_options o = options(LEAT_ENGINE_URING);
    struct loading w = { .width = 2, .mean = 60 };
    const struct leat_batch *b;
    struct leat_loader *l;
    struct fuse_file f;
    uint64_t wrong = 0;
    char text[900];

    T_CHECK(mount_fuse(&f));
    snprintf(text, sizeof text, "source %s/d\nseq-len %llu\norder sequential\n", mounted, (ull)length);
    w.plan = loading_plan(text);
    atomic_store(&f.board->fail_begin, 60 * 4096); /* further than what was read ahead when the file was opened */
    atomic_store(&f.board->fail_end, 61 * 4096);
    atomic_store(&f.board->hold_for, 1000000);
    atomic_store(&f.board->hold_every, many_reads(&f) + 4);
    o.batch = 2;
    o.on_damage = LEAT_ON_DAMAGE_MASK;
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    usleep(300000);
    T_EQ(atomic_load(&f.board->held), 1);
    atomic_store(&f.board->hold_every, 0);
    T_OK(leat_loader_next(l, &b, &t_err));
    T_CHECK(!b->tokens);
    loading_check(&w, b, 0);
    T_EQ(b->flags[0], LEAT_ROW_DAMAGED);
    T_EQ(b->flags[1], 0);
    for (uint64_t i = 0; i <= length; i++)
        wrong += loading_stored(b, 0, i) != 0;
    T_EQ(wrong, 0);
    leat_loader_close(l);
    leat_plan_close(w.plan);
    fuse_file_unmount(&f);
}

static bool stays_mapped(const void *byte)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    return msync((void *)((uintptr_t)byte / page * page), page, MS_ASYNC) == 0;
}

static unsigned late_row; /* of the second batch: its read is held up */

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

    many_reads(f); /* so many that no second one is held up */
    atomic_store(&f->board->hold_every, many_reads(f) + BATCH + late_row);
    o.threads = 0;
    o.slots = 4;
    o.verify = 0;
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    T_OK(leat_loader_next(l, &b, &t_err));
    row = leat_batch_row(b, 0);
    leat_batch_release(b, NULL);
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
    T_CHECK(atomic_load(&f.board->held) > 0);
    fuse_file_unmount(&f);
}

static void rows_apart(void)
{
    apart = LEAT_APART_ALWAYS;
    overtakes();
    refuses_direct();
    stops_alone();
    late_reads();
    for (unsigned direct = 0; direct < 2; direct++) {
        fails(LEAT_ENGINE_URING, LEAT_ON_DAMAGE_ERROR, direct);
        fails(LEAT_ENGINE_URING, LEAT_ON_DAMAGE_MASK, direct);
        short_reads(LEAT_ENGINE_URING, direct);
    }
    apart = LEAT_APART_AUTO;
}

int main(void)
{
    static const enum leat_engine both[] = { LEAT_ENGINE_PREAD, LEAT_ENGINE_URING };
    struct fuse_file f;
    char name[700];

    snprintf(folder, sizeof folder, "%s", t_folder());
    snprintf(plain, sizeof plain, "%s/plain", folder);
    snprintf(mounted, sizeof mounted, "%s/mounted", folder);
    if (mkdir(plain, 0700) != 0 || mkdir(mounted, 0700) != 0 || !own_mounts() || !mount_fuse(&f))
        return t_skip("mounting /dev/fuse is not allowed here");
    fuse_file_unmount(&f);
    snprintf(name, sizeof name, "%s/d", plain);
    loading_write(name, TOKENS, 2, 60);
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
    for (unsigned i = 0; i < 2; i++)
        for (unsigned direct = 0; direct < 2; direct++) {
            fails(both[i], LEAT_ON_DAMAGE_ERROR, direct);
            fails(both[i], LEAT_ON_DAMAGE_MASK, direct);
            short_reads(both[i], direct);
        }
    return t_end();
}
