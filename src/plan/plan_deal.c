/* plan_deal.c: the rows of a global batch, dealt to ranks by what attention costs. order/deal.h has the arithmetic. */
#include <stdlib.h>

#include "base/status.h"
#include "order/deal.h"
#include "plan.h"

enum leat_status plan_deal_check(const struct leat_plan *plan, uint64_t batch, uint64_t world, struct leat_error *err)
{
    uint64_t row = plan->max_length * plan->max_length, most = row > 0 ? DEAL_MAX_COST / row : UINT32_MAX, first, rows;
    enum leat_status s = leat_plan_rank_rows(batch, 0, world, &first, &rows, err);

    most = most < UINT32_MAX / 2 ? most : UINT32_MAX / 2;
    if (s == LEAT_OK && !plan->order->attention)
        s = status_argument(err, "balance",
                            "rows of order %s cannot be dealt by what attention costs: only those of order fit can",
                            leat_order_name(plan->rules.order));
    if (s == LEAT_OK && batch > most)
        s = status_argument(err, "batch",
                            "a global batch of %" PRIu64 " rows of %" PRIu64
                            " inputs is too large to be dealt by what attention costs: at most %" PRIu64 " rows",
                            batch, plan->max_length, most);
    return s;
}

enum leat_status plan_deal(const struct leat_plan *plan, uint64_t position, uint64_t batch, uint64_t world,
                           struct leat_sample *samples, uint64_t *got, uint32_t *ranks, uint64_t *costs,
                           struct leat_error *err)
{
    enum leat_status s = plan_samples(plan, position, batch, samples, got, err);

    if (s != LEAT_OK)
        return s;
    plan->order->attention(plan, samples, *got, costs);
    for (uint64_t i = *got; i < batch; i++)
        costs[i] = 0;
    return deal_rows(costs, (uint32_t)batch, (uint32_t)world, ranks, err);
}

enum leat_status leat_plan_deal(const struct leat_plan *plan, uint64_t position, uint64_t batch, uint64_t world,
                                uint32_t *ranks, uint64_t *costs, struct leat_error *err)
{
    enum leat_status s = plan_deal_check(plan, batch, world, err);
    struct leat_sample *samples;
    uint64_t *own = NULL, got;

    if (s != LEAT_OK)
        return s;
    samples = calloc(batch, sizeof *samples);
    if (!costs)
        costs = own = calloc(batch, sizeof *own);
    s = samples && costs ? plan_deal(plan, position, batch, world, samples, &got, ranks, costs, err)
                         : status_no_memory(err, batch * sizeof *samples);
    free(samples);
    free(own);
    return s;
}
