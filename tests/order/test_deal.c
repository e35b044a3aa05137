/*
 * test_deal.c: rows dealt to ranks by what attention costs. Each rank gets as many, and all together get the batch. The
 * sums differ by at most 2 % with 16 rows per rank, of lognormal documents in rows of order fit, at world sizes from 1
 * to 64. What a row costs is what its pieces say. Other orders, and batches that do not divide, are refused.
 */
#include <stdlib.h>

#include "documents.h"
#include "order/deal.h"
#include "pieces_of.h"

#define MOST 1024u

static uint64_t state;

/* (Greatest - least) / greatest, in thousandths. */
static uint64_t apart(const uint64_t *sums, uint32_t world)
{
    uint64_t least = sums[0], most = sums[0];

    for (uint32_t r = 1; r < world; r++) {
        least = sums[r] < least ? sums[r] : least;
        most = sums[r] > most ? sums[r] : most;
    }
    return most > 0 ? 1000 * (most - least) / most : 0;
}

/* Checks that each rank has its rows; returns how far apart the ranks are. */
static uint64_t check_deal(const uint64_t *costs, uint32_t count, uint32_t world, const uint32_t *ranks)
{
    uint64_t sums[MOST] = { 0 };
    uint32_t rows[MOST] = { 0 };

    for (uint32_t i = 0; i < count; i++) {
        T_CHECK(ranks[i] < world);
        sums[ranks[i]] += costs[i];
        rows[ranks[i]]++;
    }
    for (uint32_t r = 0; r < world; r++)
        T_EQ(rows[r], count / world);
    return apart(sums, world);
}

static uint64_t deal(const uint64_t *costs, uint32_t count, uint32_t world)
{
    uint32_t ranks[MOST];

    T_OK(deal_rows(costs, count, world, ranks, &t_err));
    return check_deal(costs, count, world, ranks);
}

/* ---- Rows of lognormal documents ---- */

/* About a standard normal number, in 1/1000: a sum of 12 even ones. */
static int64_t normal(void)
{
    int64_t sum = -6000;

    for (int i = 0; i < 12; i++)
        sum += (int64_t)t_below(&state, 1000);
    return sum;
}

/* Documents of about exp(6 + 1.3 x) tokens, as a text for documents_dataset(). */
static void lognormal_documents(char *text, size_t room, unsigned count)
{
    size_t used = 0;

    for (unsigned i = 0; i < count; i++) {
        uint64_t length = 403, x;
        int64_t left = 1300 * normal() / 1000; /* in 1/1000 of a power of e */

        for (; left >= 10; left -= 10)
            length = length * 1010 / 1000 + 1;
        for (; left <= -10 && length > 2; left += 10)
            length = length * 990 / 1000;
        x = length < 4096 ? length : 4096;
        used += (size_t)snprintf(text + used, room - used, "%s%" PRIu64, i > 0 ? "," : "", x);
        T_CHECK(used + 8 < room);
    }
}

static struct leat_plan *open_plan(struct leat_dataset *d, uint64_t length, enum leat_order order, uint64_t align,
                                   uint64_t epochs)
{
    struct leat_plan_source source = LEAT_PLAN_SOURCE_INIT;
    struct leat_plan_options o = LEAT_PLAN_OPTIONS_INIT;
    struct leat_plan *plan = NULL;

    source.name = "documents";
    source.dataset = d;
    o.sources = &source;
    o.source_count = 1;
    o.seq_len = length;
    o.order = order;
    o.epochs = epochs;
    o.fit.align = align;
    T_OK(leat_plan_open(&plan, &o, &t_err));
    return plan;
}

/* What its pieces say of the row at a position; 0 after the plan's end. */
static uint64_t cost_at(const struct leat_plan *plan, uint64_t position, uint64_t length, uint64_t align)
{
    static struct leat_piece pieces[4096];
    struct leat_sample x;
    uint64_t count, got, cost = 0, left = length;

    T_OK(leat_plan_samples(plan, position, 1, &x, &got, &t_err));
    if (got == 0)
        return 0;
    T_OK(leat_plan_pieces(plan, &x, 1, pieces, &t_err));
    count = x.pieces;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t places = (pieces[i].count - 1 + align - 1) / align * align;

        cost += places * places;
        left -= places;
    }
    return cost + left * left;
}

static void check_plan(struct leat_dataset *d, uint64_t length, uint64_t align)
{
    static const uint32_t worlds[] = { 1, 2, 3, 4, 5, 6, 7, 8, 64 };
    struct leat_plan *plan = open_plan(d, length, LEAT_ORDER_FIT, align, 0);
    uint64_t chance = 0, dealt = 0;

    for (size_t w = 0; w < sizeof worlds / sizeof *worlds; w++)
        for (uint32_t each = 8; each <= 16; each += 8) {
            uint32_t world = worlds[w], batch = world * each, ranks[MOST], again[MOST];
            uint64_t costs[MOST], sums[64] = { 0 }, position = t_below(&state, 1000), spread;

            T_OK(leat_plan_deal(plan, LEAT_BALANCE_ATTENTION, position, batch, world, ranks, costs, &t_err));
            T_OK(leat_plan_deal(plan, LEAT_BALANCE_ATTENTION, position, batch, world, again, NULL, &t_err));
            for (uint32_t i = 0; i < batch; i++) {
                T_EQ(ranks[i], again[i]);
                T_EQ(costs[i], cost_at(plan, position + i, length, align > 0 ? align : 1));
                sums[i / each] += costs[i];
            }
            spread = check_deal(costs, batch, world, ranks);
            T_CHECK(spread <= (each == 16 ? 20 : 40));
            chance += apart(sums, world);
            dealt += spread;
        }
    T_CHECK(chance > 10 * dealt); /* by chance, they are far apart */
    leat_plan_close(plan);
}

/* After the plan's end: each rank's rows of the plan are as many as they can be, or all ranks have one. */
static void check_end(struct leat_dataset *d)
{
    struct leat_plan *plan = open_plan(d, 2048, LEAT_ORDER_FIT, 0, 1);
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    uint32_t ranks[64];
    uint64_t costs[64];

    leat_plan_info(plan, &info);
    for (uint32_t left = 0; left <= 64; left++) {
        bool has[8] = { false };

        T_OK(leat_plan_deal(plan, LEAT_BALANCE_ATTENTION, info.positions - left, 64, 8, ranks, costs, &t_err));
        check_deal(costs, 64, 8, ranks);
        for (uint32_t i = 0; i < 64; i++) {
            T_EQ(costs[i] > 0, i < left);
            if (i < left)
                has[ranks[i]] = true;
        }
        for (uint32_t r = 0; r < 8; r++)
            T_EQ(has[r], r < left);
    }
    leat_plan_close(plan);
}

static void check_refused(struct leat_dataset *d)
{
    struct leat_plan *fit = open_plan(d, 1 << 24, LEAT_ORDER_FIT, 0, 0);
    struct leat_plan *windows = open_plan(d, 16, LEAT_ORDER_SHUFFLED, 0, 0);
    uint32_t ranks[8];

    T_REFUSED(leat_plan_deal(windows, LEAT_BALANCE_ATTENTION, 0, 8, 2, ranks, NULL, &t_err), LEAT_E_ARGUMENT,
              "only those of order fit can");
    T_STR(t_err.field, "balance");
    T_REFUSED(leat_plan_deal(fit, LEAT_BALANCE_ATTENTION, 0, 8, 3, ranks, NULL, &t_err), LEAT_E_ARGUMENT,
              "does not divide equally");
    T_REFUSED(leat_plan_deal(fit, LEAT_BALANCE_ATTENTION, 0, 16385, 1, ranks, NULL, &t_err), LEAT_E_ARGUMENT,
              "at most 16384 rows");
    T_STR(t_err.field, "batch");
    leat_plan_close(fit);
    leat_plan_close(windows);
}

int main(void)
{
    static char text[1 << 16];
    struct leat_dataset *d;
    uint64_t costs[MOST];

    state = t_seed();
    lognormal_documents(text, sizeof text, 4000);
    d = documents_dataset(t_folder(), 0, text);
    check_plan(d, 2048, 0);
    check_plan(d, 2048, 64);
    check_plan(d, 4096, 0);
    check_end(d);
    check_refused(d);
    leat_dataset_close(d);
    /* any costs: nothing but the counts holds, and it ends */
    for (unsigned i = 0; i < 300; i++) {
        uint32_t world = 1 + (uint32_t)t_below(&state, 64),
                 count = world * (1 + (uint32_t)t_below(&state, MOST / world));
        uint64_t most = (uint64_t)1 << t_below(&state, 50);

        for (uint32_t k = 0; k < count; k++)
            costs[k] = t_below(&state, 2) ? t_below(&state, most) + 1 : most >> t_below(&state, 50);
        deal(costs, count, world);
    }
    return t_end();
}
