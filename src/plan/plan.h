/* plan.h: the inside of struct leat_plan: its rules, its sources, and the sampler that the two make. */
#ifndef LEAT_PLAN_H
#define LEAT_PLAN_H

#include "leat.h"
#include "order/sampler.h"
#include "plan_rules.h"
#include "plan_source.h"

#define PLAN_SPLIT_VERSION 1u

struct leat_plan {
    struct plan_rules rules;
    struct plan_source *sources; /* as many as the rules have */
    struct sampler sampler;
    /* of each phase, the first included: weights as integers, of all sources */
    uint64_t *weights;
    uint64_t *lengths; /* of each phase */
    uint32_t token_width;
};

/* Opens what the rules say. Takes them over, also on failure; *out is NULL before. */
enum leat_status plan_open_rules(struct leat_plan **out, struct plan_rules *rules,
                                 const struct leat_open_options *options, struct leat_error *err);

/* What a place of the sampler is in tokens and files. */
void plan_sample(const struct leat_plan *plan, uint64_t number, const struct sampler_place *place,
                 struct leat_sample *sample);

#endif
