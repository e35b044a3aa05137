/*
 * test_loader_balance.c: loaders whose ranks are dealt their rows by what attention costs, or by lanes. All ranks
 * together have the rows of each global batch, each rank those that leat_plan_deal() says, by rising number, at every
 * world size from 1 to 8 and at 64, with and without a thread, to the plan's end, whatever becomes of the last batch; a
 * run whose world size changes in the middle shows every sample once. Statistics say how far apart ranks are, and would
 * be by chance. Refused: other orders, and unknown values.
 */
#include "loading.h"
#include "plan/plan.h"

#define MOST   512u
#define LENGTH 256u

static struct loading loading;
static struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
static enum leat_balance how;
static uint64_t batch; /* rows of a global batch */
static uint8_t *seen;  /* of each sample, how often it was given */

static struct leat_loader_options options(uint64_t rank, uint64_t world)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;

    o.batch = batch;
    o.ranks.rank = rank;
    o.ranks.world = world;
    o.ranks.balance = how;
    o.io.threads = rank % 2;
    return o;
}

/* A batch has this rank's rows. */
static void check_batch(const struct leat_batch *b, const struct leat_loader_options *o)
{
    uint32_t ranks[MOST], row = 0;

    T_OK(leat_plan_deal(loading.plan, how, b->position, batch, o->ranks.world, ranks, NULL, &t_err));
    for (uint32_t i = 0; i < batch; i++) {
        struct leat_sample x;
        uint64_t got;

        if (ranks[i] != o->ranks.rank)
            continue;
        T_OK(leat_plan_samples(loading.plan, b->position + i, 1, &x, &got, &t_err));
        if (got == 0 && o->last != LEAT_LAST_PADDED)
            continue;
        T_CHECK(row < b->rows);
        T_EQ(b->flags[row] & LEAT_ROW_PADDED, got == 0 ? LEAT_ROW_PADDED : 0);
        if (got > 0) {
            T_EQ(b->samples[row].number, x.number);
            T_EQ(b->samples[row].token, x.token);
            T_EQ(b->lengths[row], x.length);
            T_EQ(loading_stored(b, row, 0), loading_token(&loading, &x, 0));
            seen[x.number]++;
        }
        row++;
    }
    T_EQ(b->rows, row);
    T_EQ(b->length, LENGTH);
}

/* The batches of a rank from a position or a state on; *state is that after the last one. */
static uint64_t run(struct leat_loader_options o, uint64_t most, char state[LEAT_PLAN_STATE_BYTES])
{
    struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;
    const struct leat_batch *b;
    struct leat_loader *l;
    uint64_t k = 0;

    T_OK(leat_loader_open(&l, loading.plan, &o, &t_err));
    for (; k < most && leat_loader_next(l, &b, &t_err) == LEAT_OK; k++) {
        check_batch(b, &o);
        if (state)
            T_OK(leat_batch_state(b, state, &t_err));
        leat_batch_release(b, NULL);
    }
    leat_loader_stats(l, &stats);
    T_CHECK(stats.balance.dealt >= k || how == LEAT_BALANCE_LANES);
    T_CHECK(stats.balance.spread >= 0 && stats.balance.spread <= 1);
    if (o.ranks.world > 1 && o.last == LEAT_LAST_DROPPED && how == LEAT_BALANCE_ATTENTION) {
        T_CHECK(stats.balance.spread_mean <= 0.025);
        T_CHECK(stats.balance.spread_by_chance > 2 * stats.balance.spread_mean);
    }
    if (o.ranks.world == 1)
        T_CHECK(stats.balance.spread == 0 && stats.balance.spread_by_chance == 0);
    leat_loader_close(l);
    return k;
}

static void check_seen(uint64_t from, uint64_t end, uint8_t times)
{
    for (uint64_t n = 0; n < info.samples; n++)
        T_EQ(seen[n], n >= from && n < end ? times : 0);
    memset(seen, 0, info.samples);
}

/* To the plan's end: all ranks as many batches, or, if the last one is short, one less without a row in it. */
static void check_world(uint64_t world)
{
    uint64_t whole = info.samples / batch, rest = info.samples % batch;

    for (enum leat_last_batch last = LEAT_LAST_SHORT; last <= LEAT_LAST_DROPPED; last++) {
        for (uint64_t rank = 0; rank < world; rank++) {
            struct leat_loader_options o = options(rank, world);

            o.last = last;
            T_EQ(run(o, UINT64_MAX, NULL),
                 whole + (rest > 0 && (last == LEAT_LAST_PADDED || (last == LEAT_LAST_SHORT && rank < rest))));
        }
        check_seen(0, last == LEAT_LAST_DROPPED ? whole * batch : info.samples, 1);
    }
}

/* Two batches with 4 ranks, the third with 8, the others with 2. */
static void check_elastic(void)
{
    static const struct {
        uint64_t world, batches;
    } parts[] = { { 4, 2 }, { 8, 1 }, { 2, UINT64_MAX } };
    static char state[LEAT_PLAN_STATE_BYTES], next[LEAT_PLAN_STATE_BYTES];

    for (unsigned p = 0; p < 3; p++) {
        for (uint64_t rank = 0; rank < parts[p].world; rank++) {
            struct leat_loader_options o = options(rank, parts[p].world);

            o.last = LEAT_LAST_PADDED;
            o.state = p > 0 ? state : NULL;
            run(o, parts[p].batches, next);
        }
        memcpy(state, next, sizeof state);
    }
    check_seen(0, info.samples, 1);
}

static void check_refused(void)
{
    struct leat_loader_options o = options(0, 2);
    struct leat_plan *windows;
    struct leat_loader *l;

    T_OK(leat_plan_reorder(&windows, loading.plan, LEAT_ORDER_SHUFFLED, LENGTH, &t_err));
    T_REFUSED(leat_loader_open(&l, windows, &o, &t_err), LEAT_E_ARGUMENT, "rows of order shuffled cannot be dealt");
    T_STR(t_err.field, "balance");
    o.ranks.balance = LEAT_BALANCE_LANES;
    T_REFUSED(leat_loader_open(&l, windows, &o, &t_err), LEAT_E_ARGUMENT, "the plan has no stretches");
    o.ranks.balance = (enum leat_balance)3;
    T_REFUSED(leat_loader_open(&l, loading.plan, &o, &t_err), LEAT_E_ARGUMENT, "unknown value 3 for balance");
    leat_plan_close(windows);
}

/* The stretches of all places are the tokens of the plan's only epoch, and one more for the label of each's last. */
static void check_places(void)
{
    uint64_t tokens = 0, place = 0, given = 0, here = 1;
    struct plan_range range;

    for (; here > 0 && place < 10000; place++)
        for (here = given = 0; plan_stretches_range(loading.plan, 0, place, &given, &range); here++)
            tokens += range.count - 1;
    T_EQ(tokens, info.samples * LENGTH);
    T_EQ(place, (info.samples * LENGTH * 2 + 8191) / 8192 + 1);
}

/* A plan in 8 lanes. */
static void check_lanes(void)
{
    struct leat_loader_options o;
    struct leat_loader *l;

    leat_plan_close(loading.plan);
    loading.plan =
        loading_plan(t_text("source %s\nseq-len %u\nstretch 8192\nmix 4\nlanes 8\nepochs 1", loading.names[0], LENGTH));
    leat_plan_info(loading.plan, &info);
    check_places();
    how = LEAT_BALANCE_LANES;
    seen = realloc(seen, info.samples);
    memset(seen, 0, info.samples);
    for (uint64_t world = 1; world <= 8; world *= 2) {
        batch = 16 * world;
        check_world(world);
    }
    batch = 64;
    check_elastic();
    o = options(0, 16);
    T_REFUSED(leat_loader_open(&l, loading.plan, &o, &t_err), LEAT_E_ARGUMENT, "8 lanes cannot be dealt to 16 ranks");
    T_STR(t_err.field, "balance");
}

int main(void)
{
    static const uint64_t worlds[] = { 1, 2, 3, 4, 5, 6, 7, 8, 64 };

    how = LEAT_BALANCE_ATTENTION;
    loading.width = 2;
    loading.mean = 90;
    snprintf(loading.names[0], sizeof loading.names[0], "%s/documents", t_folder());
    loading_write(loading.names[0], 600000, 2, loading.mean);
    loading.plan = loading_plan(t_text("source %s\nseq-len %u\norder fit\nepochs 1", loading.names[0], LENGTH));
    leat_plan_info(loading.plan, &info);
    T_CHECK(info.samples > 600 && info.samples % 64 > 8);
    seen = calloc(info.samples, 1);
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
        batch = (worlds[i] > 4 ? 8 : 16) * worlds[i];
        check_world(worlds[i]);
    }
    batch = 64;
    check_elastic();
    check_refused();
    check_lanes();
    free(seen);
    leat_plan_close(loading.plan);
    return t_end();
}
