/* plan_mask.c: how much tokens count as labels: as much as their dataset's mask says, and not at all if they are
 * context (struct leat_piece) or in a document that is banned. */
#include <string.h>

#include "base/status.h"
#include "plan.h"

void plan_mask_open(struct leat_plan *plan)
{
    plan->masks =
        plan->rules.fit[PLAN_FIT_ALIGN] > 0 || plan->rules.fit[PLAN_FIT_OVERLAP] > 0 || plan->rules.ban_count > 0;
    for (size_t i = 0; i < plan->rules.source_count && !plan->masks; i++) {
        struct leat_info info = LEAT_INFO_INIT;

        leat_dataset_info(plan->sources[i].dataset, &info);
        plan->masks = info.stores_mask;
    }
}

/* Finds the first tokens of a piece whose labels are context: all up to the label of the last prediction of the
 * overlap. */
static enum leat_status find_context(const struct leat_plan *plan, const struct leat_piece *p, uint64_t *tokens,
                                     struct leat_error *err)
{
    uint64_t overlap = plan->rules.fit[PLAN_FIT_OVERLAP], start = p->token;
    enum leat_status s = LEAT_OK;

    if (overlap > 0)
        s = leat_dataset_starts(plan->sources[p->source].dataset, p->document, 1, &start, err);
    *tokens = start < p->token ? overlap + 1 : 0;
    return s;
}

enum leat_status leat_plan_mask(const struct leat_plan *plan, uint64_t number, const struct leat_piece *p,
                                uint64_t first, uint64_t count, uint8_t *mask, struct leat_error *err)
{
    uint64_t context;
    enum leat_status s;

    if (p->source >= plan->rules.source_count)
        return status_argument(err, "piece", "the piece did not come from leat_plan_pieces() of this plan");
    s = leat_dataset_mask(plan->sources[p->source].dataset, p->token + first, count, mask, err);
    if (s == LEAT_OK)
        s = find_context(plan, p, &context, err);
    if (s != LEAT_OK)
        return s;
    if (context > first)
        memset(mask, 0, (size_t)(context - first < count ? context - first : count));
    plan_bans_mask(plan, p->source, number, p->token + first, count, mask);
    return LEAT_OK;
}
