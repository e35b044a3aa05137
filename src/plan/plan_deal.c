/* plan_deal.c: the rows of a global batch, dealt to ranks. order/deal.h has the arithmetic. */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "order/deal.h"
#include "plan.h"

static enum leat_status check_attention(const struct leat_plan *plan, uint64_t batch, struct leat_error *err)
{
    uint64_t row = plan->max_length * plan->max_length, most = row > 0 ? DEAL_MAX_COST / row : UINT32_MAX;

    if (!plan->order->attention)
        return status_argument(err, "balance",
                               "rows of order %s cannot be dealt by what attention costs: only those of order fit can",
                               leat_order_name(plan->rules.order));
    most = most < UINT32_MAX / 2 ? most : UINT32_MAX / 2;
    if (batch > most)
        return status_argument(err, "batch",
                               "a global batch of %" PRIu64 " rows of %" PRIu64
                               " inputs is too large to be dealt by what attention costs: at most %" PRIu64 " rows",
                               batch, plan->max_length, most);
    return LEAT_OK;
}

static enum leat_status check_lanes(const struct leat_plan *plan, uint64_t world, struct leat_error *err)
{
    uint64_t lanes = plan->rules.stretches[PLAN_LANES];

    if (plan->rules.stretches[PLAN_STRETCH] == 0)
        return status_argument(err, "balance",
                               "the plan has no stretches, and so no lanes by which rows could be dealt");
    if (lanes % world != 0)
        return status_argument(err, "balance",
                               "the plan's %" PRIu64 " lane%s cannot be dealt to %" PRIu64
                               " ranks: give the plan as many lanes as ranks, or a multiple",
                               lanes, lanes == 1 ? "" : "s", world);
    return LEAT_OK;
}

enum leat_status plan_deal_check(const struct leat_plan *plan, enum leat_balance how, uint64_t batch, uint64_t world,
                                 struct leat_error *err)
{
    uint64_t first, rows;
    enum leat_status s = leat_plan_rank_rows(batch, 0, world, &first, &rows, err);

    if (s == LEAT_OK && batch > UINT32_MAX / 2)
        s = status_argument(err, "batch", "a global batch of %" PRIu64 " rows is too large to be dealt", batch);
    if (s != LEAT_OK)
        return s;
    if (how == LEAT_BALANCE_ATTENTION)
        return check_attention(plan, batch, err);
    if (how == LEAT_BALANCE_LANES)
        return check_lanes(plan, world, err);
    return status_argument(err, "how", "rows are dealt by what attention costs, or by lanes");
}

enum leat_status plan_deal(const struct leat_plan *plan, enum leat_balance how, uint64_t position, uint64_t batch,
                           uint64_t world, struct leat_sample *samples, uint64_t *got, uint32_t *ranks, uint64_t *costs,
                           struct leat_error *err)
{
    enum leat_status s = plan_samples(plan, position, batch, samples, got, err);

    if (s != LEAT_OK)
        return s;
    if (how == LEAT_BALANCE_LANES) {
        for (uint64_t i = 0; i < *got; i++)
            ranks[i] = (uint32_t)plan_stretches_lane(plan, &samples[i]);
        deal_lanes(ranks, (uint32_t)*got, (uint32_t)batch, plan->rules.stretches[PLAN_LANES], (uint32_t)world, costs);
        memset(costs, 0, batch * sizeof *costs);
        return LEAT_OK;
    }
    plan->order->attention(plan, samples, *got, costs);
    for (uint64_t i = *got; i < batch; i++)
        costs[i] = 0;
    return deal_rows(costs, (uint32_t)batch, (uint32_t)world, ranks, err);
}

enum leat_status leat_plan_deal(const struct leat_plan *plan, enum leat_balance how, uint64_t position, uint64_t batch,
                                uint64_t world, uint32_t *ranks, uint64_t *costs, struct leat_error *err)
{
    enum leat_status s = plan_deal_check(plan, how, batch, world, err);
    struct leat_sample *samples;
    uint64_t *own = NULL, got;

    if (s != LEAT_OK)
        return s;
    samples = calloc(batch, sizeof *samples);
    if (!costs)
        costs = own = calloc(batch, sizeof *own);
    s = samples && costs ? plan_deal(plan, how, position, batch, world, samples, &got, ranks, costs, err)
                         : status_no_memory(err, batch * sizeof *samples);
    free(samples);
    free(own);
    return s;
}
