/*
 * test_loader_change.c: a loader that changes to another plan gives the batches of one that was opened with the new
 * plan there: at every place of the ring, for all engines and several sizes of the ring, with and without a thread,
 * again and again, at the plan's end and after a failure. Batches that are held stay as they are; the plan before may
 * be closed. A plan with another past is refused, and the loader goes on as if nothing had been asked. So with batches
 * by tokens, and with rows that are dealt to ranks. Threads run here.
 */
#include "loading.h"

static struct loading w;
static struct leat_plan *plans[5]; /* each but the first is the one before it, changed at sample 40 i */

/* A change from a sample on: ":WEIGHTS" or so, and a source to add ("": none). */
static struct leat_plan *changed(const struct leat_plan *plan, const char *source, uint64_t at, const char *rest)
{
    struct leat_plan *out;
    const char *text = t_text("%s%s\nat %" PRIu64 "%s\n", source[0] ? "source " : "", source, at, rest);

    T_OK(leat_plan_change_parse(&out, plan, text, strlen(text), NULL, NULL, &t_err));
    return out;
}

static void check(const struct leat_plan *plan, const struct leat_batch *b, uint64_t position, uint64_t number)
{
    struct loading of = w;

    of.plan = (struct leat_plan *)(uintptr_t)plan;
    T_EQ(b->position, position);
    T_EQ(b->number, number);
    loading_check(&of, b, position);
}

/* A batch of some plan that is held over changes. */
struct held {
    const struct leat_batch *batch;
    const struct leat_plan *plan;
    uint64_t position, number;
};

static void look(const struct held *h)
{
    char text[LEAT_PLAN_STATE_BYTES];

    check(h->plan, h->batch, h->position, h->number);
    T_OK(leat_batch_state(h->batch, text, &t_err));
}

/* Takes `take` batches, changes, and so on through all plans, then takes some more; holds one batch throughout. */
static void walk(struct leat_loader_options o, uint64_t take, bool hold)
{
    struct held held = { .batch = NULL };
    struct leat_loader *l;
    uint64_t position = o.position, number = 0;

    T_OK(leat_loader_open(&l, plans[0], &o, &t_err));
    for (unsigned i = 0; i < 5; i++) {
        if (i > 0)
            T_OK(leat_loader_change(l, plans[i], &t_err));
        for (uint64_t k = 0; k < (i < 4 ? take : 12); k++, position += o.batch, number++) {
            const struct leat_batch *b;

            T_OK(leat_loader_next(l, &b, &t_err));
            check(plans[i], b, position, number);
            if (!held.batch && hold)
                held = (struct held) { b, plans[i], position, number };
            else
                leat_batch_release(b, NULL);
        }
        if (held.batch)
            look(&held);
    }
    if (held.batch)
        leat_batch_release(held.batch, NULL);
    leat_loader_close(l);
}

/* All changes come at the place where the loader is, at samples of the plans' own or later ones. */
static void make_plans(uint64_t first, uint64_t step)
{
    static const char *const weights[] = { ":3,1", ":0", "", ":1,2,3" };

    for (unsigned i = 1; i < 5; i++) {
        leat_plan_close(plans[i]);
        plans[i] = changed(plans[i - 1], i == 3 ? w.names[2] : "", first + (i - 1) * step, weights[i - 1]);
    }
}

static void places(void)
{
    for (uint64_t take = 0; take < 9; take++)
        for (uint32_t threads = 0; threads < 2; threads++) {
            struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;

            o.batch = 8;
            o.io.threads = threads;
            o.io.slots = 2 + (uint32_t)(take * 3 + threads) % 7;
            o.io.engine = (enum leat_engine)(take % GATHER_ENGINE_COUNT);
            o.io.verify = take % 2;
            make_plans(8 * take + 16, 8 * take);
            if (take > 0)
                walk(o, take, false);
            if (take > 0 && o.io.slots > 2)
                walk(o, take, true);
            o.position = 24; /* changes at, and after, the place */
            make_plans(24 + 8 * take, 8 * take);
            if (take > 0)
                walk(o, take, o.io.slots > 2);
        }
}

static void refused(void)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_plan *past = changed(plans[0], "", 10, ":3,1"), *plan, *long_rows, *fit;
    const struct leat_batch *b;
    struct leat_loader *l;

    plan = loading_plan(t_text("source %s\nseq-len 50\nbase-len 100\n", w.names[0]));
    long_rows = changed(plan, "", 64, ":len=100");
    T_OK(leat_plan_reorder(&fit, plans[0], LEAT_ORDER_FIT, 0, &t_err));
    for (uint32_t threads = 0; threads < 2; threads++) {
        o.batch = 8;
        o.io.threads = threads;
        T_OK(leat_loader_open(&l, plans[0], &o, &t_err));
        T_REFUSED(leat_loader_change(l, fit, &t_err), LEAT_E_INCOMPATIBLE, "another order");
        for (uint64_t k = 0; k < 6; k++) {
            T_OK(leat_loader_next(l, &b, &t_err));
            check(plans[0], b, 8 * k, k);
            leat_batch_release(b, NULL);
            if (k < 1)
                continue;
            T_REFUSED(leat_loader_change(l, past, &t_err), LEAT_E_CHECKPOINT,
                      "1 phases start before its position, but 2 in the plan");
        }
        leat_loader_close(l);
        T_OK(leat_loader_open(&l, plan, &o, &t_err));
        T_OK(leat_loader_next(l, &b, &t_err));
        T_REFUSED(leat_loader_change(l, long_rows, &t_err), LEAT_E_UNSUPPORTED, "up to 100 inputs, instead of 50");
        leat_loader_close(l);
    }
    leat_plan_close(plan);
    leat_plan_close(past);
    leat_plan_close(long_rows);
    leat_plan_close(fit);
}

/* A plan that has ended goes on with a source that is added; the plan before is closed at once. */
static void at_the_end(void)
{
    for (uint32_t threads = 0; threads < 2; threads++) {
        struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
        struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
        const struct leat_batch *b;
        struct leat_loader *l;
        struct leat_plan *plan, *more;
        uint64_t number = 0;

        plan = loading_plan(t_text("source %s\nseq-len 50\nepochs 1\n", w.names[0]));
        leat_plan_info(plan, &info);
        o.batch = 8;
        o.io.threads = threads;
        o.last = LEAT_LAST_PADDED;
        T_OK(leat_loader_open(&l, plan, &o, &t_err));
        for (; leat_loader_next(l, &b, &t_err) == LEAT_OK; number++)
            leat_batch_release(b, NULL);
        T_EQ(t_err.status, LEAT_E_END);
        T_CHECK(info.samples % 8 != 0);
        more = changed(plan, w.names[1], info.samples, "");
        T_OK(leat_loader_change(l, more, &t_err));
        leat_plan_close(plan);
        for (uint64_t k = 0; k < 20; k++) {
            T_OK(leat_loader_next(l, &b, &t_err));
            check(more, b, info.samples + 8 * k, number + k);
            leat_batch_release(b, NULL);
        }
        leat_loader_close(l);
        leat_plan_close(more);
    }
}

/* A damaged row of a source fails its batch; the plan without the source goes on from the batch before. */
static void after_damage(void)
{
    const char *name = t_text("%s-bad", w.names[1]);

    loading_write(name, 40000, 2, 50);
    t_flip(t_text("%s.tokens", name), 30000);
    for (uint32_t threads = 0; threads < 2; threads++) {
        struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
        struct leat_plan *plan, *without;
        const struct leat_batch *b;
        struct leat_loader *l;
        uint64_t k = 0;

        plan = loading_plan(t_text("source %s\nsource %s\nseq-len 50\n", w.names[0], name));
        o.batch = 4;
        o.io.threads = threads;
        T_OK(leat_loader_open(&l, plan, &o, &t_err));
        while (leat_loader_next(l, &b, &t_err) == LEAT_OK) {
            check(plan, b, 4 * k, k);
            leat_batch_release(b, NULL);
            k++;
        }
        T_EQ(t_err.status, LEAT_E_CHECKSUM);
        without = changed(plan, "", 4 * k, ":,0");
        T_OK(leat_loader_change(l, without, &t_err));
        for (uint64_t i = 0; i < 20; i++) {
            T_OK(leat_loader_next(l, &b, &t_err));
            check(without, b, 4 * (k + i), k + i);
            leat_batch_release(b, NULL);
        }
        leat_loader_close(l);
        leat_plan_close(plan);
        leat_plan_close(without);
    }
}

/* After `take` batches, the loader of a plan gives the batches of one that is opened with another plan there. */
static void goes_on_as(struct leat_loader_options o, const struct leat_plan *from, const struct leat_plan *to,
                       uint64_t take)
{
    struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;
    const struct leat_batch *b, *x;
    struct leat_loader *l, *opened;

    T_OK(leat_loader_open(&l, from, &o, &t_err));
    for (uint64_t k = 0; k < take; k++) {
        T_OK(leat_loader_next(l, &b, &t_err));
        o.position = b->cursor;
        leat_batch_release(b, NULL);
    }
    while (o.io.threads > 0 && stats.io.bytes == 0) /* the stage has looked at what the plan before gives */
        leat_loader_stats(l, &stats);
    T_OK(leat_loader_change(l, to, &t_err));
    T_OK(leat_loader_open(&opened, to, &o, &t_err));
    for (unsigned k = 0; k < 30; k++) {
        T_OK(leat_loader_next(l, &b, &t_err));
        T_OK(leat_loader_next(opened, &x, &t_err));
        T_EQ(b->position, x->position);
        T_EQ(b->cursor, x->cursor);
        T_EQ(b->rows, x->rows);
        T_EQ(b->length, x->length);
        T_CHECK(memcmp(b->samples, x->samples, b->rows * sizeof *b->samples) == 0);
        for (uint32_t row = 0; row < b->rows; row++)
            T_EQ(loading_stored(b, row, 0), loading_stored(x, row, 0));
        leat_batch_release(b, NULL);
        leat_batch_release(x, NULL);
    }
    leat_loader_close(l);
    leat_loader_close(opened);
}

static struct leat_plan *plan_of(const char *more)
{
    return loading_plan(t_text("source %s\nseq-len 100\n%s", w.names[0], more));
}

static void by_tokens(void)
{
    struct leat_plan *plan = plan_of("order documents\nmax-tokens 800\npool 200\n");
    struct leat_plan *skips = plan_of("order documents\nmax-tokens 800\npool 200\nskip 390:402\nskip 900:901\n");
    /* the stage is still in the first pool when the plan changes */
    struct leat_plan *large = plan_of("order documents\nmax-tokens 800\npool 2000\n");
    struct leat_plan *seed = plan_of("order documents\nmax-tokens 800\npool 2000\nseed 7\n");
    struct leat_plan *less = plan_of("order documents\nmax-tokens 700\npool 200\n"),
                     *none = plan_of("order documents\n");
    struct leat_loader *l;

    for (uint32_t threads = 0; threads < 2; threads++) {
        struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;

        o.io.threads = threads;
        o.ranks.rank = threads;
        o.ranks.world = 2;
        goes_on_as(o, plan, skips, 3);
        goes_on_as(o, large, seed, 0);
        T_OK(leat_loader_open(&l, plan, &o, &t_err));
        T_REFUSED(leat_loader_change(l, less, &t_err), LEAT_E_INCOMPATIBLE, "other max-tokens, max-rows or pool");
        T_STATUS(leat_loader_change(l, none, &t_err), LEAT_E_INCOMPATIBLE);
        leat_loader_close(l);
    }
    leat_plan_close(plan);
    leat_plan_close(skips);
    leat_plan_close(large);
    leat_plan_close(seed);
    leat_plan_close(less);
    leat_plan_close(none);
}

static void dealt(void)
{
    struct leat_plan *plan = plan_of("order fit\n"), *more = changed(plan, w.names[1], 96, ":1,2");
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;

    o.batch = 32;
    o.ranks.rank = 1;
    o.ranks.world = 4;
    o.ranks.balance = LEAT_BALANCE_ATTENTION;
    for (o.io.threads = 0; o.io.threads < 2; o.io.threads++)
        goes_on_as(o, plan, more, 3);
    leat_plan_close(plan);
    leat_plan_close(more);
}

/* Rows with more documents take more tokens and, where an option takes the loss of labels, more of a mask: a slot that
 * has no room for both is refused. (The room of the mask was taken for that of tokens, and a batch was written past its
 * slot's end.) */
static void more_documents(void)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_plan *plan, *more;
    struct leat_loader *l;
    const char *name = t_text("%s/short", t_folder());

    loading_write(name, 20000, 2, 12);
    plan = loading_plan(t_text("source %s:1\nseq-len 500\norder fit\n", w.names[0]));
    more = changed(plan, name, 0, ":0,1");
    o.batch = 4;
    for (unsigned masked = 0; masked < 2; masked++) {
        o.outputs.mask_row_first = masked;
        T_OK(leat_loader_open(&l, plan, &o, &t_err));
        T_REFUSED(leat_loader_change(l, more, &t_err), LEAT_E_UNSUPPORTED, "need more room");
        leat_loader_close(l);
    }
    leat_plan_close(plan);
    leat_plan_close(more);
}

/* Rules of one source belong to the order of rows, as those of the plan do. At the first batch, others were taken. */
static void rules_of_sources(void)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_plan *plan = plan_of("order fit\nfit 0:max-length=60\n");
    struct leat_plan *whole = plan_of("order fit\nfit 0:whole\n");
    struct leat_plan *more = changed(plan, w.names[1], 0, ":1,2");
    struct leat_loader *l;

    o.batch = 8;
    T_OK(leat_loader_open(&l, plan, &o, &t_err));
    T_REFUSED(leat_loader_change(l, whole, &t_err), LEAT_E_INCOMPATIBLE, "another order, or other options of it");
    T_OK(leat_loader_change(l, more, &t_err));
    leat_loader_close(l);
    leat_plan_close(plan);
    leat_plan_close(whole);
    leat_plan_close(more);
}

int main(void)
{
    w = (struct loading) { .width = 2, .mean = 50 };
    for (unsigned i = 0; i < 3; i++) {
        snprintf(w.names[i], sizeof w.names[i], "%s/d%u", t_folder(), i);
        loading_write(w.names[i], 30000 + 7000 * i, 2, 50);
    }
    plans[0] = loading_plan(t_text("source %s:1\nsource %s:2\nseq-len 50\nseed 5\n", w.names[0], w.names[1]));
    places();
    refused();
    at_the_end();
    after_damage();
    by_tokens();
    dealt();
    more_documents();
    rules_of_sources();
    for (unsigned i = 0; i < 5; i++)
        leat_plan_close(plans[i]);
    return t_end();
}
