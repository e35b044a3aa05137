/*
 * test_loader_batches.c: every batch holds the rows that the plan says, for all engines, with and without a thread, for
 * several ranks, from several positions, over lists of datasets and blends, to the end of the plan, where batches of
 * padding alone have the shape of the others: they had length 1. Threads run here.
 */
#include "loader/loader_fields.h"
#include "loading.h"

static char folder[512];

/* All batches from `from` on, at most `most`. */
static uint64_t check_batches(const struct loading *w, struct leat_loader_options o, uint64_t max)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    uint64_t first_row, rows, k = 0, damaged = 0;
    const struct leat_batch *b;
    struct leat_loader *l;
    enum leat_status s = LEAT_OK;

    leat_plan_info(w->plan, &info);
    T_OK(leat_plan_rank_rows(o.batch, o.ranks.rank, o.ranks.world, &first_row, &rows, &t_err));
    T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
    for (; k < max && (s = leat_loader_next(l, &b, &t_err)) == LEAT_OK; k++) {
        uint64_t p = o.position + k * o.batch;

        T_EQ(b->number, k);
        T_EQ(b->position, p);
        T_EQ(b->cursor, p + o.batch < info.positions ? p + o.batch : info.positions);
        T_EQ(b->damaged, damaged);
        loading_check(w, b, p + first_row);
        leat_batch_release(b, NULL);
    }
    T_CHECK(s == LEAT_OK || s == LEAT_E_END);
    if (s == LEAT_E_END) {
        T_STATUS(leat_loader_next(l, &b, &t_err), LEAT_E_END);
        T_STATUS(leat_loader_next_within(l, 0, &b, &t_err), LEAT_E_END);
        T_STATUS(leat_loader_next_within(l, 1, &b, &t_err), LEAT_E_END);
    }
    leat_loader_close(l);
    return k;
}

static void engines(const struct loading *w, uint64_t batch)
{
    for (enum leat_engine e = LEAT_ENGINE_AUTO; e < GATHER_ENGINE_COUNT; e++)
        for (size_t t = 0; t < LOADING_THREADS; t++)
            for (uint32_t verify = 0; verify < 2; verify++) {
                struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
                int before = t_failures;

                o.batch = batch;
                o.io.engine = e;
                o.io.threads = loading_threads[t];
                o.io.verify = verify;
                check_batches(w, o, 20);
                o.position = 777;
                o.io.slots = 2 + (uint32_t)e;
                o.ranks.world = 2;
                o.ranks.rank = t % 2;
                check_batches(w, o, 20);
                if (t_failures > before)
                    T_FAIL("engine %s, %u threads, verify %u", loader_engines[e], o.io.threads, verify);
            }
}

/* A crew comes to work where the consumer is in a hurry; with one thread there is none. */
static void crew_works(const struct loading *w)
{
    for (uint32_t threads = 1; threads < 4; threads += 2) {
        struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
        struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;
        uint64_t k = 0, most = threads > 1 ? 100000 : 100;
        const struct leat_batch *b;
        struct leat_loader *l;

        o.batch = 2000;
        o.io.engine = LEAT_ENGINE_MAP;
        o.io.threads = threads;
        T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
        for (; k < most && stats.time.crew_ns == 0; k++) {
            T_OK(leat_loader_next(l, &b, &t_err));
            if (k % 100 == 0)
                loading_check(w, b, o.batch * k);
            leat_batch_release(b, NULL);
            leat_loader_stats(l, &stats);
        }
        T_EQ(stats.io.threads, threads);
        T_CHECK((stats.time.crew_ns > 0) == (threads > 1));
        leat_loader_close(l);
    }
}

/* Two ranks have each sample once, in order, and end together. */
static void ranks(const struct loading *w, enum leat_last_batch last)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    uint8_t *seen;
    uint64_t batches[2] = { 0, 0 }, shown = 0;

    leat_plan_info(w->plan, &info);
    seen = calloc(info.samples, 1);
    for (uint64_t rank = 0; rank < 2; rank++) {
        struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
        const struct leat_batch *b;
        struct leat_loader *l;

        o.batch = 14;
        o.ranks.rank = rank;
        o.ranks.world = 2;
        o.last = last;
        T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
        while (leat_loader_next(l, &b, &t_err) == LEAT_OK) {
            for (uint32_t i = 0; i < b->rows; i++)
                if (!(b->flags[i] & LEAT_ROW_PADDED))
                    seen[b->samples[i].number]++;
            batches[rank]++;
            leat_batch_release(b, NULL);
        }
        T_EQ(t_err.status, LEAT_E_END);
        leat_loader_close(l);
    }
    for (uint64_t n = 0; n < info.samples; n++) {
        T_CHECK(seen[n] <= 1);
        shown += seen[n];
    }
    if (last == LEAT_LAST_DROPPED)
        T_EQ(shown, info.samples / 14 * 14);
    else
        T_EQ(shown, info.samples);
    if (last != LEAT_LAST_SHORT)
        T_EQ(batches[0], batches[1]);
    free(seen);
}

/* All ranks' last batches have one shape, however few rows are left for them. */
static void last_shape(const struct loading *w)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    struct leat_sample last;
    uint64_t got;

    leat_plan_info(w->plan, &info);
    T_OK(leat_plan_samples(w->plan, info.positions - 1, 1, &last, &got, &t_err));
    o.last = LEAT_LAST_PADDED;
    o.io.threads = 0;
    for (o.ranks.world = 1; o.ranks.world <= 5; o.ranks.world++)
        for (uint64_t rows = 1; rows <= 3; rows++)
            for (uint64_t left = 1; left <= rows * o.ranks.world; left++)
                for (o.ranks.rank = 0; o.ranks.rank < o.ranks.world; o.ranks.rank++) {
                    const struct leat_batch *b;
                    struct leat_loader *l;

                    o.batch = rows * o.ranks.world;
                    o.position = info.positions - left;
                    o.io.apart = (enum leat_apart)(left % (LEAT_APART_NEVER + 1));
                    T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
                    T_OK(leat_loader_next(l, &b, &t_err));
                    T_EQ(b->rows, rows);
                    T_EQ(b->length, last.length);
                    T_STATUS(leat_loader_next(l, &b, &t_err), LEAT_E_END);
                    leat_loader_close(l);
                }
}

static void plan_text(char *text, size_t capacity, const char *more, unsigned width)
{
    snprintf(text, capacity, "source %s/a%u:3\nsource @%s/list%u\n%s", folder, width, folder, width, more);
}

static void with_width(unsigned width)
{
    struct loading w = { .width = width, .mean = 40 };
    char text[2048];
    FILE *list;

    loading_write(t_text("%s/a%u", folder, width), 30011, width, w.mean);
    loading_write(t_text("%s/b%u", folder, width), 9000, width, w.mean);
    loading_write(t_text("%s/c%u", folder, width), 41, width, w.mean); /* less than a page */
    list = fopen(t_text("%s/list%u", folder, width), "w");
    fprintf(list, "b%u\nc%u\n", width, width);
    fclose(list);

    plan_text(text, sizeof text, "seq-len 40\nseed 5\n", width);
    w.plan = loading_plan(text);
    engines(&w, 6);
    crew_works(&w);
    leat_plan_close(w.plan);

    /* two lengths, a batch across the change; skips */
    plan_text(text, sizeof text, "seq-len 20\nbase-len 40\nat 64:1,1:len=40\nskip 10:13\n", width);
    w.plan = loading_plan(text);
    engines(&w, 10);
    leat_plan_close(w.plan);

    /* rows longer than a page */
    plan_text(text, sizeof text, "seq-len 5000\nseed 1\n", width);
    snprintf(text, sizeof text, "source %s/a%u\nseq-len 5000\n", folder, width);
    w.plan = loading_plan(text);
    engines(&w, 2);
    leat_plan_close(w.plan);

    /* a finite pass: 750 samples of a, 225 + 1 of the list */
    plan_text(text, sizeof text, "seq-len 40\nepochs 1\n", width);
    w.plan = loading_plan(text);
    for (enum leat_last_batch last = LEAT_LAST_SHORT; last <= LEAT_LAST_DROPPED; last++) {
        struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;

        o.last = last;
        o.batch = 50;
        T_EQ(check_batches(&w, o, 1000), last == LEAT_LAST_DROPPED ? 976 / 50 : (976 + 49) / 50);
        ranks(&w, last);
    }
    last_shape(&w);
    leat_plan_close(w.plan);

    /* skips let it end among the shorter of two lengths */
    plan_text(text, sizeof text, "seq-len 20\nbase-len 40\nepochs 1\nat 1600:1,1:len=40\nskip 1500:10000\n", width);
    w.plan = loading_plan(text);
    last_shape(&w);
    leat_plan_close(w.plan);
}

int main(void)
{
    snprintf(folder, sizeof folder, "%s", t_folder());
    with_width(2);
    with_width(4);
    return t_end();
}
