/* plan_stretches.c: where the tokens lie that the order shows together, for those who read them ahead. */
#include "order/sampler.h"
#include "plan.h"

/* Returns the stretches of a source; NULL: the plan has none. */
static const struct stretches *stretches_of(const struct leat_plan *plan, uint32_t source)
{
    return plan->rules.stretches[PLAN_STRETCH] > 0 ? &((const struct sampler *)plan->derived)->stretches[source] : NULL;
}

bool plan_stretches_near(const struct leat_plan *plan, const struct leat_sample *sample, uint64_t *first, uint64_t *end)
{
    const struct stretches *s = stretches_of(plan, sample->source);

    if (!s || plan->sources[sample->source].choice)
        return false;
    stretches_near(s, sample->epoch, sample->block, first, end);
    return true;
}

uint64_t plan_stretches_lane(const struct leat_plan *plan, const struct leat_sample *sample)
{
    const struct stretches *s = stretches_of(plan, sample->source);

    return s ? stretches_at(s, stretches_place(s, sample->epoch, sample->block)).lane : 0;
}

bool plan_stretches_range(const struct leat_plan *plan, uint32_t source, uint64_t place, uint64_t *given,
                          struct plan_range *range)
{
    const struct plan_source *x = &plan->sources[source];
    struct stretches_at at = stretches_at(stretches_of(plan, source), place);
    uint64_t block = at.first + *given, left = at.count - *given, base = plan->rules.base_len;
    const struct plan_part *p;

    if (left == 0 || at.epoch > (plan->limits[source] - 1) / x->blocks)
        return false;
    range->part = plan_source_part(x, block);
    range->lane = at.lane;
    p = &x->parts[range->part];
    block -= p->first_block;
    left = left < p->blocks - block ? left : p->blocks - block;
    range->offset = p->first + block * base - p->list_token;
    range->count = left * base + 1;
    *given += left;
    return true;
}
