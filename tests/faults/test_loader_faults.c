/*
 * test_loader_faults.c: what the loader does when files fail under it. A read that fails, or a page whose hash does not
 * match, is an error that names file, page and documents, or a row that is masked, flagged and counted; every row that
 * is given without a flag is right, whatever happened. Short and interrupted reads do not show. Any call of the loader
 * may fail: a status comes back, and nothing is left behind. test_loader_cut.c has files that change. The loader's
 * thread runs here.
 */
#include "dataset/dataset.h"
#include "dataset/part_index.h"
#include "loader/page_cache.h"
#include "loader_faulty.h"
#include "support/fault.h"

static uint64_t drawn; /* which calls fail: others in each run, all of them by make check-every */

/* ---- A damaged page ---- */

/* Damages a byte of the token file. */
static void damage(uint64_t offset)
{
    t_flip(with(name, ".tokens"), offset);
}

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

    o.io.threads = threads;
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
    o.outputs.wanted = LEAT_OUTPUT_POSITION_IDS;
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
    o.outputs.wanted = LEAT_OUTPUT_POSITION_IDS;
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

static void failing_reads(enum leat_engine engine, uint32_t threads)
{
    struct leat_loader_options o = options(engine, LEAT_ON_DAMAGE_ERROR);
    struct loading w;
    struct run r;

    copy_original();
    w = open_plan(LEAT_ACCESS_READ);
    o.io.threads = threads;
    fault_arm(FAULT_SYSTEM, FAULT_COUNT, 0, 0);
    r = take_all(&w, &o, NULL);
    T_EQ(r.status, LEAT_E_END);
    T_CHECK(fault_disarm() > 100);
    for (enum leat_on_damage d = LEAT_ON_DAMAGE_ERROR; d <= LEAT_ON_DAMAGE_MASK; d++)
        for (uint64_t n = 1 + t_below(&drawn, t_step(30)); n < 300; n += t_step(30)) {
            unsigned files = fault_open_files();
            long allocations = fault_allocations();

            o.on_damage = d;
            o.outputs.wanted = n % 3 ? 0 : LEAT_OUTPUT_POSITION_IDS; /* which are found in the index */
            o.outputs.ahead = n % 5 ? 0 : 2;                         /* rows are in segments */
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
    /* which read is the n-th depends on the threads: all are tried until one of the index has failed */
    for (uint64_t n = 1 + t_below(&drawn, t_step(34)), step = t_step(34); n < 400; n += step) {
        struct leat_loader_options o = options(engine, LEAT_ON_DAMAGE_MASK);
        const struct leat_batch *b;
        enum leat_status s;
        struct leat_loader *l;
        uint64_t k = 0;

        o.io.threads = threads;
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
        if (n + step >= 400 && step > 1 && errors == 0 && threads <= 1) {
            n = 0;
            step = 1;
        }
    }
    T_CHECK(errors > 0 || threads > 1); /* the reads of a crew come in any order */
    leat_plan_close(documents);
    leat_plan_close(w.plan);
}

static void short_and_interrupted(enum leat_engine engine)
{
    for (enum fault_mode mode = FAULT_SHORT; mode <= FAULT_INTERRUPT; mode++)
        for (size_t t = 0; t < LOADING_THREADS; t++) {
            struct leat_loader_options o = options(engine, LEAT_ON_DAMAGE_ERROR);
            struct loading w;
            struct run r;

            copy_original();
            w = open_plan(LEAT_ACCESS_READ);
            o.io.threads = loading_threads[t];
            o.outputs.wanted = LEAT_OUTPUT_CU_SEQLENS;
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
    o.io.slots = 16;
    o.io.verify = 0;
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

            o.io.threads = 0;
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
    T_CHECK(failed[0] > 1 && failed[1] > 1 && failed[2] > 0);
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

static void opening(enum fault_kind kind, enum leat_access access, bool documents, uint32_t ahead)
{
    struct loading w;
    bool failed = true;

    copy_original();
    w = open_part(access, documents ? "split x=0.5,y=0.5\nuse y\n" : "");
    for (uint64_t n = 1 + t_below(&drawn, t_step(2)); failed && n < 300; n += t_step(2)) {
        struct leat_loader_options o = options(LEAT_ENGINE_AUTO, LEAT_ON_DAMAGE_ERROR);
        unsigned files = fault_open_files();
        long allocations = fault_allocations();
        struct leat_plan *plan = NULL;
        struct leat_loader *l = NULL;
        enum leat_status s = LEAT_OK;

        o.outputs.wanted = LEAT_OUTPUT_INPUTS;
        o.outputs.borrow = 1;
        o.outputs.ahead = ahead;
        o.io.numa_node = 0;
        o.io.threads = 3;
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

/* Memory for what is known of rows in segments is needed while batches are made. */
static void failing_segments(void)
{
    bool failed = true;
    struct loading w;

    copy_original();
    w = open_plan(LEAT_ACCESS_READ);
    for (uint64_t n = 1; failed && n < 300; n++) {
        struct leat_loader_options o = options(LEAT_ENGINE_PREAD, LEAT_ON_DAMAGE_MASK);
        long allocations = fault_allocations();
        struct run r;

        o.io.threads = 0;
        o.outputs.ahead = 2;
        o.outputs.wanted = LEAT_OUTPUT_POSITION_IDS;
        fault_arm(FAULT_MEMORY, FAULT_ONCE, n, ENOMEM);
        r = take_all(&w, &o, NULL);
        failed = fault_disarm() >= n;
        T_CHECK(r.status == LEAT_E_NO_MEMORY || (r.status == LEAT_E_END && r.damaged == 0));
        T_EQ(fault_allocations(), allocations);
    }
    T_CHECK(!failed);
    leat_plan_close(w.plan);
}

static void fail(enum leat_engine e)
{
    for (enum leat_access a = LEAT_ACCESS_LEASED; a <= LEAT_ACCESS_READ; a += 2)
        for (size_t t = 0; t < LOADING_THREADS; t++)
            damaged_page(a, e, loading_threads[t]);
    failing_reads(e, 0); /* so that the count of calls is always the same */
    failing_reads(e, 3);
    for (uint32_t threads = 0; threads < 3; threads++)
        failing_places(e, threads);
    slow_reads(e);
    short_and_interrupted(e);
}

int main(void)
{
    drawn = t_draw();
    begin_faulty();
    each_engine(fail);
    damaged_directory();
    failing_maps();
    failing_events();
    failing_segments();
    opening(FAULT_MEMORY, LEAT_ACCESS_LEASED, false, 0);
    opening(FAULT_SYSTEM, LEAT_ACCESS_LEASED, false, 0);
    opening(FAULT_MEMORY, LEAT_ACCESS_READ, true, 0);
    opening(FAULT_SYSTEM, LEAT_ACCESS_READ, true, 2);
    opening(FAULT_MEMORY, LEAT_ACCESS_READ, true, 2);
    return t_end();
}
