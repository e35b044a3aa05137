/*
 * plan_megatron.h: what a plan says in addition for the order megatron, in megatron-core's own words: its split, the
 * number of samples to build for, the surplus of blended sources.
 */
#ifndef LEAT_PLAN_MEGATRON_H
#define LEAT_PLAN_MEGATRON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat.h"
#include "order/decimal.h"

#define PLAN_MEGATRON_SEED 1234u /* Megatron's, if a text does not give one */

struct plan_rules;

struct plan_megatron {
    struct decimal ratios[3]; /* of the split: train, valid, test */
    unsigned ratio_count;     /* 0: no split */
    uint64_t samples;         /* 0: not given */
    struct decimal surplus;
    bool has_surplus; /* it was given */
};

/* Whether the text of a split is one of Megatron's: numbers without names. */
bool plan_megatron_is_split(const char *text, size_t length);
enum leat_status plan_megatron_set_split(struct plan_rules *r, const char *text, size_t length, struct leat_error *err);
enum leat_status plan_megatron_set_surplus(struct plan_rules *r, const char *text, size_t length,
                                           struct leat_error *err);

/* Checks the rules of a plan of this order, and fills in defaults; of another order: that nothing of this is given. */
enum leat_status plan_megatron_finish(struct plan_rules *r, struct leat_error *err);
enum leat_status plan_megatron_refuse(const struct plan_rules *r, struct leat_error *err);

/* Which range of the split is used: 0 train, 1 valid, 2 test. */
unsigned plan_megatron_used(const struct plan_rules *r);

/* Whether Megatron makes a BlendedDataset: of several sources, or of one that has a weight and a split. */
bool plan_megatron_blends(const struct plan_rules *r);

#endif
