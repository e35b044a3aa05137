/* plan_row.h: a row as it is shown: what the pieces of a sample become if the plan changes documents in it. */
#ifndef LEAT_PLAN_ROW_H
#define LEAT_PLAN_ROW_H

#include <stddef.h>

#include "plan.h"

/* A list of stretches. It begins as all zeros, and may be used for many rows; the caller frees `items`. */
struct plan_row {
    struct leat_stretch *items;
    size_t count, room;
};

/* Returns true if rows differ from the pieces of their samples. */
static inline bool plan_row_changes(const struct leat_plan *plan)
{
    return plan->rules.fim.given || plan->rules.fit[PLAN_FIT_BEGIN] > 0;
}

/* Adds the stretches of a sample, whose pieces plan_order_pieces() gave, to those that are there. */
enum leat_status plan_row_add(const struct leat_plan *plan, const struct leat_sample *sample,
                              const struct leat_piece *pieces, struct plan_row *row, struct leat_error *err);

#endif
