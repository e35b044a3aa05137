/*
 * plan_change.c: plans that differ from another one from a sample on: its weights, sources or length change there.
 *
 * A change is a phase, and sources that have no weight before it. So the new plan's rules are the old one's, read again
 * from their text, which holds all of them; the sources that the old plan has open are shared. What may not change is
 * checked where every plan is: a phase that cuts a group of blocks, weights that are too fine.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/options.h"
#include "base/status.h"
#include "order/sampler.h"
#include "plan.h"

/* Copies the rules of an open plan, whose sources the copy will share. */
static enum leat_status copy_rules(struct plan_rules *to, const struct leat_plan *plan, struct leat_error *err)
{
    uint64_t bytes = plan_rules_print(&plan->rules, NULL, 0);
    char *text = malloc((size_t)bytes + 1);
    struct leat_error own;
    enum leat_status s;

    *to = (struct plan_rules) { .seed = 0 };
    if (!text)
        return status_no_memory(err, bytes + 1);
    plan_rules_print(&plan->rules, text, (size_t)bytes + 1);
    s = plan_rules_read(to, text, (size_t)bytes, "plan", err ? err : &own);
    free(text);
    for (size_t i = 0; s == LEAT_OK && i < to->source_count; i++) {
        to->sources[i].dataset = plan->rules.sources[i].dataset;
        to->sources[i].opened = plan->sources[i].opened;
        to->sources[i].choice = plan->sources[i].choice;
    }
    return s;
}

enum leat_status plan_change_check(const struct plan_rules *rules, struct leat_error *err)
{
    if (plan_order_of(rules->order)->phases)
        return LEAT_OK;
    return status_argument(err, "plan", "a plan of order %s has no changes: its weights and length stay the same",
                           leat_order_name((enum leat_order)rules->order));
}

/* Adds the sources that an open plan's changes name. */
static enum leat_status add_sources(struct plan_rules *rules, const struct leat_plan_change *change,
                                    struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (change->source_count > PLAN_MAX_SOURCES)
        return plan_rules_say_sources(err);
    for (size_t i = 0; s == LEAT_OK && i < change->source_count; i++)
        s = plan_add_source(rules, change->sources, i, err);
    return s;
}

static enum leat_status add_change(struct plan_rules *rules, const struct leat_plan_change *changes, size_t number,
                                   struct leat_error *err)
{
    struct leat_plan_change change = LEAT_PLAN_CHANGE_INIT;
    size_t added = rules->source_count;
    enum leat_status s =
        options_read(&change, sizeof change, NULL, options_element(changes, number), "leat_plan_change", err);

    if (s == LEAT_OK)
        s = add_sources(rules, &change, err);
    if (s != LEAT_OK)
        return s;
    return plan_rules_change(rules,
                             &(struct plan_change) { .at = change.at,
                                                     .weights = change.weights ? change.weights : "",
                                                     .weights_length = change.weights ? strlen(change.weights) : 0,
                                                     .seq_len = change.seq_len,
                                                     .added = added },
                             err);
}

enum leat_status leat_plan_change(struct leat_plan **out, const struct leat_plan *plan,
                                  const struct leat_plan_change *changes, uint64_t count,
                                  const struct leat_open_options *open, struct leat_error *err)
{
    struct plan_rules rules;
    enum leat_status s;

    *out = NULL;
    s = copy_rules(&rules, plan, err);
    if (s == LEAT_OK)
        s = plan_change_check(&rules, err);
    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        s = add_change(&rules, changes, i, err);
    if (s == LEAT_OK)
        return plan_open_rules(out, &rules, open, err);
    plan_rules_free(&rules);
    return s;
}

enum leat_status leat_plan_change_parse(struct leat_plan **out, const struct leat_plan *plan, const char *text,
                                        uint64_t bytes, const char *label, const struct leat_open_options *open,
                                        struct leat_error *err)
{
    struct plan_rules rules;
    struct leat_error own;
    enum leat_status s;

    *out = NULL;
    s = copy_rules(&rules, plan, err);
    if (s == LEAT_OK)
        s = plan_change_check(&rules, err);
    if (s == LEAT_OK)
        s = plan_rules_read_changes(&rules, text, bytes, label, err ? err : &own);
    if (s == LEAT_OK)
        return plan_open_rules(out, &rules, open, err);
    plan_rules_free(&rules);
    return s;
}

uint64_t leat_plan_change_place(const struct leat_plan *plan, uint64_t number)
{
    size_t next = plan_phase_at(plan, number) + 1;
    uint64_t begin = plan_phase_begin(plan, next - 1), unit = plan->rules.base_len / plan->lengths[next - 1], place;

    unit = unit > 1 && plan->order->blocks && !plan->order->lengths ? unit * SAMPLER_GROUP : 1;
    place = begin + bytes_divide_up(number - begin, unit) * unit;
    if (next <= plan->rules.phase_count && place > plan_phase_begin(plan, next))
        return plan_phase_begin(plan, next);
    return place > plan->end && number <= plan->end ? plan->end : place;
}
