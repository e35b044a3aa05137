/* plan_stretches.c: where the tokens lie that the order shows together, for those who read them ahead. */
#include "order/sampler.h"
#include "plan.h"

/* Returns the stretches of a source; NULL: the plan has none. */
static const struct stretches *stretches_of(const struct leat_plan *plan, uint32_t source)
{
    return plan->rules.stretches[PLAN_STRETCH] > 0 ? &((const struct sampler *)plan->derived)->stretches[source] : NULL;
}

bool plan_stretches_known(const struct leat_plan *plan)
{
    return plan->rules.stretches[PLAN_STRETCH] > 0 && !plan->chooses;
}

void plan_stretches_near(const struct leat_plan *plan, const struct leat_sample *sample, uint64_t *first, uint64_t *end)
{
    stretches_near(stretches_of(plan, sample->source), sample->epoch, sample->block, first, end);
}

uint64_t plan_stretches_lane(const struct leat_plan *plan, const struct leat_sample *sample)
{
    const struct stretches *s = stretches_of(plan, sample->source);

    return s ? stretches_at(s, stretches_place(s, sample->epoch, sample->block)).lane : 0;
}

/* Returns the tokens of `left` blocks from this one on, as far as its part goes, and sets *given to their number. */
static struct plan_range range_of(const struct leat_plan *plan, uint32_t source, uint64_t block, uint64_t left,
                                  uint64_t *given)
{
    const struct plan_source *x = &plan->sources[source];
    uint32_t part = plan_source_part(x, block);
    const struct plan_part *p = &x->parts[part];
    uint64_t base = plan->rules.base_len, at = block - p->first_block;

    *given = left < p->blocks - at ? left : p->blocks - at;
    return (
        struct plan_range) { .part = part, .offset = p->first + at * base - p->list_token, .count = *given * base + 1 };
}

bool plan_stretches_range(const struct leat_plan *plan, uint32_t source, uint64_t place, uint64_t *given,
                          struct plan_range *range)
{
    struct stretches_at at = stretches_at(stretches_of(plan, source), place);
    uint64_t more;

    if (*given == at.count || at.epoch > (plan->limits[source] - 1) / plan->sources[source].blocks)
        return false;
    *range = range_of(plan, source, at.first + *given, at.count - *given, &more);
    range->lane = at.lane;
    *given += more;
    return true;
}

struct plan_range plan_stretches_around(const struct leat_plan *plan, const struct leat_sample *sample)
{
    const struct stretches *s = stretches_of(plan, sample->source);
    struct stretches_at at = stretches_at(s, stretches_place(s, sample->epoch, sample->block));
    const struct plan_source *x = &plan->sources[sample->source];
    uint64_t first = x->parts[plan_source_part(x, sample->block)].first_block, given;
    struct plan_range range;

    first = first > at.first ? first : at.first;
    range = range_of(plan, sample->source, first, at.first + at.count - first, &given);
    range.lane = at.lane;
    return range;
}
