/* plan_order.c: see plan_order.h. */
#include "plan_order.h"

#include <string.h>

#include "plan.h"

static const struct {
    const char *name;
    const struct plan_order *order;
} rows[] = {
#define ROW(number, name, table) [number] = { name, &plan_order_##table },
    PLAN_ORDERS(ROW)
#undef ROW
};
#define ROWS (sizeof rows / sizeof rows[0])

const struct plan_order *plan_order_of(uint64_t number)
{
    return number < ROWS ? rows[number].order : NULL;
}

bool plan_order_find(const char *name, size_t length, uint32_t *number)
{
    for (uint32_t i = 0; i < ROWS; i++)
        if (strlen(rows[i].name) == length && memcmp(rows[i].name, name, length) == 0) {
            *number = i;
            return true;
        }
    return false;
}

const char *leat_order_name(enum leat_order order)
{
    return (uint64_t)order < ROWS ? rows[order].name : NULL;
}

static void whole_rows(const struct leat_sample *samples, uint64_t count, struct leat_piece *pieces)
{
    for (uint64_t i = 0; i < count; i++)
        pieces[i] = (struct leat_piece) { .token = samples[i].token,
                                          .offset = samples[i].offset,
                                          .document = LEAT_NONE,
                                          .source = samples[i].source,
                                          .part = samples[i].part,
                                          .count = samples[i].tokens };
}

enum leat_status plan_order_samples(const struct leat_plan *plan, uint64_t n, uint64_t count,
                                    struct leat_sample *samples, struct leat_error *err)
{
    enum leat_status s = plan->order->samples(plan, n, count, samples, err);

    return s == LEAT_OK && plan->order->begins ? plan->order->begins(plan, samples, count, err) : s;
}

enum leat_status plan_order_pieces(const struct leat_plan *plan, const struct leat_sample *samples, uint64_t count,
                                   struct leat_piece *pieces, struct leat_error *err)
{
    if (plan->order->pieces)
        return plan->order->pieces(plan, samples, count, pieces, err);
    whole_rows(samples, count, pieces);
    return LEAT_OK;
}
