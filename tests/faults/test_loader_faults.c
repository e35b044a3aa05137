/*
 * test_loader_faults.c: what the loader does when files fail under it. A file that is cut, or a read that fails, or a
 * page whose hash does not match, is an error that names file, page and documents, or a row that is masked, flagged and
 * counted; every row that is given without a flag is right, whatever happened; a file that is removed goes on. Short
 * and interrupted reads do not show. Any call of the loader may fail: a status comes back, and nothing is left behind.
 * The loader's thread runs here.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>

#include "dataset/dataset.h"
#include "dataset/part_index.h"
#include "loader/loading.h"
#include "loader/page_cache.h"
#include "plan/plan.h"
#include "small.h"
#include "support/fault.h"

#define TOKENS 40000
#define LENGTH 700 /* rows lie across pages */

static char folder[512], original[600], name[600];
static enum leat_apart apart; /* where the disk itself may write rows to their slots, too */

/* ---- A plan over a copy of the dataset ---- */

static void copy_original(void)
{
    unlink(with(name, ".tokens"));
    unlink(with(name, ".leat"));
    copy_dataset(original, name);
}

static struct loading open_part(enum leat_access access, const char *part)
{
    struct loading w = { .width = 2, .mean = 50 };
    struct leat_open_options open = LEAT_OPEN_OPTIONS_INIT;
    char text[800];

    open.access = access;
    snprintf(text, sizeof text, "source %s\nseq-len %d\nepochs 3\n%s", name, LENGTH, part);
    T_OK(leat_plan_parse(&w.plan, text, strlen(text), NULL, &open, &t_err));
    return w;
}

static struct loading open_plan(enum leat_access access)
{
    return open_part(access, "");
}

/* Damages a byte of the token file. */
static void damage(uint64_t offset)
{
    int fd = open(with(name, ".tokens"), O_RDWR);
    uint8_t byte;

    T_CHECK(pread(fd, &byte, 1, (off_t)offset) == 1);
    byte ^= 0x40;
    T_CHECK(pwrite(fd, &byte, 1, (off_t)offset) == 1);
    close(fd);
}

static struct leat_loader_options options(enum leat_engine engine, enum leat_on_damage on_damage)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;

    o.batch = 5;
    o.engine = engine;
    o.on_damage = on_damage;
    o.slots = 4;
    o.apart = apart;
    return o;
}

/* What a run gave. */
struct run {
    uint64_t batches, damaged;
    enum leat_status status;
};

/* Takes batches until there are no more, and checks each; `on_batch` is called after each. */
static struct run take_all(const struct loading *w, const struct leat_loader_options *o, void (*on_batch)(uint64_t))
{
    struct run r = { 0, 0, LEAT_OK };
    const struct leat_batch *b;
    struct leat_loader *l;

    r.status = leat_loader_open(&l, w->plan, o, &t_err);
    if (r.status != LEAT_OK)
        return r;
    while ((r.status = leat_loader_next(l, &b, &t_err)) == LEAT_OK) {
        loading_check(w, b, r.batches * o->batch);
        r.damaged += b->damaged_rows;
        T_EQ(b->damaged, r.damaged);
        for (uint32_t row = 0; row < b->rows; row++)
            if (b->flags[row] & LEAT_ROW_DAMAGED)
                for (uint32_t i = 0; i <= LENGTH; i++)
                    T_EQ(loading_stored(b, row, i), 0); /* there is no end token */
        leat_batch_release(b, NULL);
        r.batches++;
        if (on_batch)
            on_batch(r.batches);
    }
    if (r.status != LEAT_E_END) { /* it stays */
        struct leat_error err;

        T_STATUS(leat_loader_next(l, &b, &err), r.status);
        T_STR(err.message, t_err.message);
    }
    leat_loader_close(l);
    return r;
}

/* ---- A damaged page ---- */

/* The rows that have a token of a page. */
static uint64_t rows_of_page(const struct loading *w, uint64_t page, uint64_t *first_batch)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    uint64_t rows = 0, got;

    leat_plan_info(w->plan, &info);
    *first_batch = LEAT_NONE;
    for (uint64_t p = 0; p < info.positions; p++) {
        struct leat_sample x;

        T_OK(leat_plan_samples(w->plan, p, 1, &x, &got, &t_err));
        if (2 * x.offset / 4096 <= page && 2 * (x.offset + x.length) / 4096 >= page) {
            if (*first_batch == LEAT_NONE)
                *first_batch = p / 5;
            rows++;
        }
    }
    return rows;
}

static void damaged_page(enum leat_access access, enum leat_engine engine, uint32_t threads)
{
    struct leat_loader_options o = options(engine, LEAT_ON_DAMAGE_ERROR);
    uint64_t first_batch, rows;
    struct loading w;
    struct run r;

    o.threads = threads;
    copy_original();
    damage(7 * 4096 + 100);
    if (threads)
        page_cache_drop(with(name, ".tokens"));
    w = open_plan(access);
    rows = rows_of_page(&w, 7, &first_batch);
    r = take_all(&w, &o, NULL);
    T_EQ(r.status, LEAT_E_CHECKSUM);
    T_EQ(r.batches, first_batch);
    T_CONTAINS(t_err.message, "page 7 of ");
    T_CONTAINS(t_err.message, "d.tokens");
    T_CONTAINS(t_err.message, "documents ");
    o.on_damage = LEAT_ON_DAMAGE_MASK;
    o.outputs = LEAT_OUTPUT_POSITION_IDS;
    r = take_all(&w, &o, NULL);
    T_EQ(r.status, LEAT_E_END);
    T_EQ(r.damaged, rows);
    leat_plan_close(w.plan);
}

/* ---- A damaged index ---- */

/* An entry of the directory that says more documents than there are: where documents begin cannot be told. */
static void damaged_directory(void)
{
    static const uint8_t ones[8] = { 255, 255, 255, 255, 255, 255, 255, 255 };
    struct leat_loader_options o = options(LEAT_ENGINE_PREAD, LEAT_ON_DAMAGE_ERROR);
    const struct part *part;
    struct loading w;
    struct run r;
    int fd;

    copy_original();
    w = open_plan(LEAT_ACCESS_READ);
    part = dataset_part(w.plan->sources[0].dataset, 0);
    fd = open(with(name, ".leat"), O_WRONLY);
    T_CHECK(pwrite(fd, ones, 8, (off_t)part->index->header.sections[FORMAT_DIRECTORY].offset) == 8);
    close(fd);
    o.outputs = LEAT_OUTPUT_POSITION_IDS;
    r = take_all(&w, &o, NULL);
    T_EQ(r.status, LEAT_E_DOCUMENTS);
    T_CONTAINS(t_err.message, "entry 0 of its directory does not match the next one");
    o.on_damage = LEAT_ON_DAMAGE_MASK;
    r = take_all(&w, &o, NULL);
    T_EQ(r.status, LEAT_E_END);
    T_CHECK(r.damaged > 0);
    leat_plan_close(w.plan);
}

/* ---- Reads that fail ---- */

static void failing_reads(enum leat_engine engine)
{
    struct leat_loader_options o = options(engine, LEAT_ON_DAMAGE_ERROR);
    struct loading w;
    struct run r;

    copy_original();
    w = open_plan(LEAT_ACCESS_READ);
    o.threads = 0; /* so that the count of calls is always the same */
    fault_arm(FAULT_SYSTEM, FAULT_COUNT, 0, 0);
    r = take_all(&w, &o, NULL);
    T_EQ(r.status, LEAT_E_END);
    T_CHECK(fault_disarm() > 100);
    for (enum leat_on_damage d = LEAT_ON_DAMAGE_ERROR; d <= LEAT_ON_DAMAGE_MASK; d++)
        for (uint64_t n = 1; n < 300; n += 13) {
            unsigned files = fault_open_files();
            long allocations = fault_allocations();

            o.on_damage = d;
            o.outputs = n % 3 ? 0 : LEAT_OUTPUT_POSITION_IDS; /* which are found in the index */
            fault_arm(FAULT_SYSTEM, n % 2 ? FAULT_ONCE : FAULT_FROM_THEN_ON, n, EIO);
            r = take_all(&w, &o, NULL);
            fault_disarm();
            if (r.status == LEAT_E_IO && strcmp(fault_failed(), "pread") == 0 && r.batches > 0) {
                T_CONTAINS(t_err.message, "Input/output error");
                T_CHECK(strstr(t_err.message, "d.tokens") || strstr(t_err.message, "d.leat"));
                T_EQ(t_err.os_error, EIO);
            }
            T_CHECK(r.status == LEAT_E_END || r.status == LEAT_E_IO || r.status == LEAT_E_NO_MEMORY);
            T_CHECK(t_err.message[0]);
            T_EQ(fault_open_files(), files);
            T_EQ(fault_allocations(), allocations);
        }
    leat_plan_close(w.plan);
}

/* Rows of documents, whose places are read from the index while others are under way: what was begun before a read of
 * it fails is given, and then the error. Once the loader waited for it without end. */
static void failing_places(enum leat_engine engine, uint32_t threads)
{
    struct leat_plan *documents;
    struct loading w;
    uint64_t errors = 0;

    copy_original();
    w = open_plan(LEAT_ACCESS_READ);
    T_OK(leat_plan_reorder(&documents, w.plan, LEAT_ORDER_DOCUMENTS, 0, &t_err));
    for (uint64_t n = 1; n < 400; n += 17) {
        struct leat_loader_options o = options(engine, LEAT_ON_DAMAGE_MASK);
        const struct leat_batch *b;
        enum leat_status s;
        struct leat_loader *l;
        uint64_t k = 0;

        o.threads = threads;
        fault_arm(FAULT_SYSTEM, FAULT_ONCE, n, EIO);
        s = leat_loader_open(&l, documents, &o, &t_err);
        while (s == LEAT_OK && k < 300 && (s = leat_loader_next(l, &b, &t_err)) == LEAT_OK) {
            T_EQ(b->number, k++);
            for (uint32_t row = 0; row < b->rows; row++)
                if (!(b->flags[row] & LEAT_ROW_DAMAGED) && b->lengths[row] > 0)
                    T_EQ(loading_stored(b, row, 1), counting_token(b->samples[row].token + 1, 2));
            leat_batch_release(b, NULL);
        }
        fault_disarm();
        T_CHECK(s == LEAT_OK || s == LEAT_E_IO || s == LEAT_E_NO_MEMORY);
        if (s == LEAT_E_IO && k > 0) {
            T_CONTAINS(t_err.message, "d.leat");
            errors++;
        }
        leat_loader_close(l);
    }
    T_CHECK(errors > 0);
    leat_plan_close(documents);
    leat_plan_close(w.plan);
}

static void short_and_interrupted(enum leat_engine engine)
{
    for (enum fault_mode mode = FAULT_SHORT; mode <= FAULT_INTERRUPT; mode++)
        for (uint32_t threads = 0; threads < 2; threads++) {
            struct leat_loader_options o = options(engine, LEAT_ON_DAMAGE_ERROR);
            struct loading w;
            struct run r;

            copy_original();
            w = open_plan(LEAT_ACCESS_READ);
            o.threads = threads;
            o.outputs = LEAT_OUTPUT_CU_SEQLENS;
            fault_arm(FAULT_SYSTEM, mode, 1, 0);
            r = take_all(&w, &o, NULL);
            fault_disarm();
            T_EQ(r.status, LEAT_E_END);
            T_EQ(r.damaged, 0);
            leat_plan_close(w.plan);
        }
}

/* One read in a hundred is slow: all is right; how often the consumer felt it is shown, not judged. */
static void slow_reads(enum leat_engine engine)
{
    struct leat_loader_options o = options(engine, LEAT_ON_DAMAGE_ERROR);
    struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;
    const struct leat_batch *b;
    struct leat_loader *l;
    struct loading w;

    copy_original();
    w = open_plan(LEAT_ACCESS_READ);
    o.slots = 16;
    o.verify = 0;
    fault_arm(FAULT_SYSTEM, FAULT_DELAY, 100, 0);
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    for (uint64_t k = 0; leat_loader_next(l, &b, &t_err) == LEAT_OK; k++) {
        loading_check(&w, b, 5 * k);
        usleep(2000);
        leat_batch_release(b, NULL);
    }
    T_EQ(t_err.status, LEAT_E_END);
    leat_loader_stats(l, &stats);
    T_CHECK(fault_disarm() >= 100);
    fprintf(stderr, "steps of 2 ms, one read in 100 takes 20 ms more: next p50 %llu us, most %llu us\n",
            (unsigned long long)stats.next.p50 / 1000, (unsigned long long)stats.next.max / 1000);
    leat_loader_close(l);
    leat_plan_close(w.plan);
}

/* ---- Maps and events that cannot be had ---- */

/* Page tables that cannot be filled: the rows are read instead, or, where the kernel only does not know how (EINVAL),
 * copied; nor is memory needed to know which were. */
static void failing_maps(void)
{
    static const int errors[] = { EIO, EINVAL, ENOMEM };
    unsigned failed[3] = { 0 };
    struct loading w;

    copy_original();
    w = open_plan(LEAT_ACCESS_TRUSTED);
    for (unsigned i = 0; i < 3; i++)
        for (uint64_t n = 1; n < 80; n++) {
            struct leat_loader_options o = options(LEAT_ENGINE_MAP, LEAT_ON_DAMAGE_ERROR);
            const char *call;
            struct run r;

            o.threads = 0;
            fault_arm(i == 2 ? FAULT_MEMORY : FAULT_SYSTEM, FAULT_ONCE, n, errors[i]);
            r = take_all(&w, &o, NULL);
            fault_disarm();
            call = fault_failed();
            if (!call || (i < 2 && strcmp(call, "madvise") != 0) || r.status == LEAT_E_NO_MEMORY)
                continue;
            T_EQ(r.status, LEAT_E_END);
            T_EQ(r.damaged, 0);
            failed[i]++;
        }
    T_CHECK(failed[0] > 2 && failed[1] > 2 && failed[2] > 0);
    leat_plan_close(w.plan);
}

static void failing_events(void)
{
    struct leat_loader_options o = options(LEAT_ENGINE_PREAD, LEAT_ON_DAMAGE_MASK);
    struct leat_loader *l;
    struct loading w;
    int fd;

    copy_original();
    w = open_plan(LEAT_ACCESS_READ);
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    fault_arm(FAULT_SYSTEM, FAULT_FROM_THEN_ON, 1, EMFILE);
    T_STATUS(leat_loader_event_fd(l, &fd, &t_err), LEAT_E_IO);
    fault_disarm();
    T_CONTAINS(t_err.message, "ulimit -n");
    T_OK(leat_loader_event_fd(l, &fd, &t_err));
    leat_loader_close(l);
    leat_plan_close(w.plan);
}

/* ---- Opening with failing calls ---- */

static void opening(enum fault_kind kind, enum leat_access access, bool documents)
{
    struct loading w;
    bool failed = true;

    copy_original();
    w = open_part(access, documents ? "split x=0.5,y=0.5\nuse y\n" : "");
    for (uint64_t n = 1; failed && n < 300; n++) {
        struct leat_loader_options o = options(LEAT_ENGINE_AUTO, LEAT_ON_DAMAGE_ERROR);
        unsigned files = fault_open_files();
        long allocations = fault_allocations();
        struct leat_plan *plan = NULL;
        struct leat_loader *l = NULL;
        enum leat_status s = LEAT_OK;

        o.outputs = LEAT_OUTPUT_INPUTS;
        o.borrow = 1;
        o.numa_node = 0;
        fault_arm(kind, FAULT_ONCE, n, kind == FAULT_MEMORY ? ENOMEM : EIO);
        if (documents)
            s = leat_plan_reorder(&plan, w.plan, LEAT_ORDER_DOCUMENTS, 0, &t_err);
        if (s == LEAT_OK)
            s = leat_loader_open(&l, plan ? plan : w.plan, &o, &t_err);
        failed = fault_disarm() >= n;
        T_CHECK((s == LEAT_OK) == (l != NULL));
        if (s != LEAT_OK)
            T_CHECK(t_err.message[0]);
        leat_loader_close(l);
        leat_plan_close(plan);
        T_EQ(fault_open_files(), files);
        T_EQ(fault_allocations(), allocations);
    }
    T_CHECK(!failed);
    leat_plan_close(w.plan);
}

/* ---- Files that change ---- */

static pthread_t cutter;
static atomic_bool cut_done;
static off_t cut_to;
static struct file_map *leased; /* the token file, if it is */
static bool cut_early;          /* while there were many batches to come */

static void *cut_file(void *unused)
{
    (void)unused;
    T_CHECK(truncate(with(name, ".tokens"), cut_to) == 0); /* waits until the lease is given back */
    atomic_store(&cut_done, true);
    return NULL;
}

/* Begins to cut, and waits until it is done, or waits for us to give the lease back; and once that is given back, until
 * it is done. */
static void cut_after_three(uint64_t batches)
{
    if (batches == 3)
        T_CHECK(pthread_create(&cutter, NULL, cut_file, NULL) == 0);
    while (batches >= 3 && !atomic_load(&cut_done) &&
           (!leased || (fcntl(leased->fd, F_GETLEASE) == F_RDLCK || atomic_load(&leased->unmapped))))
        usleep(100);
    if (batches <= 20)
        cut_early = atomic_load(&cut_done);
}

static void remove_after_three(uint64_t batches)
{
    if (batches == 3) {
        unlink(with(name, ".tokens"));
        unlink(with(name, ".leat"));
    }
}

static struct file_map *leased_file(const struct leat_plan *plan)
{
    struct file_map *f = dataset_part(plan->sources[0].dataset, 0)->data.file;

    return f->leased ? f : NULL;
}

static void cut(enum leat_access access, enum leat_engine engine, enum leat_on_damage on_damage, uint32_t threads)
{
    struct leat_loader_options o = options(engine, on_damage);
    struct loading w;
    struct run r;

    copy_original();
    cut_to = 5 * 4096 + 11;
    atomic_store(&cut_done, false);
    w = open_plan(access);
    leased = leased_file(w.plan);
    cut_early = false;
    o.threads = threads;
    r = take_all(&w, &o, cut_after_three);
    leat_plan_close(w.plan); /* a lease that nobody asked about any more is given back now */
    if (r.batches >= 3)
        pthread_join(cutter, NULL);
    T_CHECK(atomic_load(&cut_done));
    /* engines that do not touch the map ask for the lease once a second only */
    if (access == LEAT_ACCESS_READ || engine <= LEAT_ENGINE_MAP)
        T_CHECK(cut_early || r.status != LEAT_E_END);
    if (on_damage == LEAT_ON_DAMAGE_MASK) {
        T_EQ(r.status, LEAT_E_END);
        T_CHECK(r.damaged > 0 || !cut_early);
    } else if (r.status == LEAT_E_END) {
        T_CHECK(!cut_early);
    } else {
        T_CHECK(r.status == LEAT_E_TRUNCATED || r.status == LEAT_E_CHECKSUM);
        T_CONTAINS(t_err.message, "d.tokens");
        T_CONTAINS(t_err.message, "documents ");
    }
}

static void removed(enum leat_access access, enum leat_engine engine)
{
    struct leat_loader_options o = options(engine, LEAT_ON_DAMAGE_ERROR);
    struct loading w;
    struct run r;

    copy_original();
    w = open_plan(access);
    r = take_all(&w, &o, remove_after_three);
    T_EQ(r.status, LEAT_E_END);
    leat_plan_close(w.plan);
}

int main(void)
{
    snprintf(folder, sizeof folder, "%s", t_folder());
    snprintf(original, sizeof original, "%s/original", folder);
    snprintf(name, sizeof name, "%s/d", folder);
    loading_write(original, TOKENS, 2, 50);
    for (int k = LEAT_ENGINE_AUTO; k <= GATHER_ENGINE_COUNT; k++) {
        enum leat_engine e = k < GATHER_ENGINE_COUNT ? (enum leat_engine)k : LEAT_ENGINE_URING;

        apart = k < GATHER_ENGINE_COUNT ? LEAT_APART_AUTO : LEAT_APART_ALWAYS;
        for (enum leat_access a = LEAT_ACCESS_LEASED; a <= LEAT_ACCESS_READ; a += 2) {
            for (uint32_t threads = 0; threads < 2; threads++) {
                damaged_page(a, e, threads);
                cut(a, e, LEAT_ON_DAMAGE_ERROR, threads);
                cut(a, e, LEAT_ON_DAMAGE_MASK, threads);
            }
            removed(a, e);
        }
        failing_reads(e);
        failing_places(e, 0);
        failing_places(e, 1);
        slow_reads(e);
        short_and_interrupted(e);
    }
    damaged_directory();
    failing_maps();
    failing_events();
    opening(FAULT_MEMORY, LEAT_ACCESS_LEASED, false);
    opening(FAULT_SYSTEM, LEAT_ACCESS_LEASED, false);
    opening(FAULT_MEMORY, LEAT_ACCESS_READ, true);
    opening(FAULT_SYSTEM, LEAT_ACCESS_READ, true);
    return t_end();
}
