/* plan_megatron.c: checks and sets what only the order "megatron" has: splits of its sources, and surplus samples. */
#include "plan_rules.h"

#include <string.h>

#include "base/status.h"
#include "order/megatron.h"
#include "plan_order.h"

static const char *const ranges[3] = { "train", "valid", "test" };

/* ---- The split ---- */

static bool is_number(char c)
{
    return (c >= '0' && c <= '9') || c == '.';
}

bool plan_megatron_is_split(const char *text, size_t length)
{
    bool numbers = length > 0;

    for (size_t i = 0; i < length; i++)
        numbers = numbers && (is_number(text[i]) || text[i] == ',' || text[i] == ' ');
    return numbers;
}

/* Sets the split as Megatron reads it: it finds the numbers [.0-9]+ in the text, whatever stands between them. */
enum leat_status plan_megatron_set_split(struct plan_rules *r, const char *text, size_t length, struct leat_error *err)
{
    struct plan_megatron *m = &r->megatron;
    bool any = false;
    const char *why;

    for (size_t at = 0, end; at < length; at = end) {
        for (end = at; end < length && is_number(text[end]);)
            end++;
        if (end == at) {
            end++;
            continue;
        }
        if (m->ratio_count == 3)
            return status_argument(
                err, "split", "the split \"%.*s\" has more than three numbers: train, valid and test, as in 969,30,1",
                plan_rules_shown(length), text);
        if (!decimal_parse(text + at, end - at, &m->ratios[m->ratio_count], &why))
            return status_argument(err, "split", "the number \"%.*s\" of the split %s", plan_rules_shown(end - at),
                                   text + at, why);
        any = any || m->ratios[m->ratio_count].digits > 0;
        m->ratio_count++;
    }
    if (any)
        return LEAT_OK;
    return status_argument(err, "split", "the split \"%.*s\" has no number above 0; give one such as 969,30,1",
                           plan_rules_shown(length), text);
}

enum leat_status plan_megatron_set_surplus(struct plan_rules *r, const char *text, size_t length,
                                           struct leat_error *err)
{
    const char *why;

    r->megatron.has_surplus = true;
    if (!decimal_parse(text, length, &r->megatron.surplus, &why))
        return status_argument(err, "mid_level_dataset_surplus", "the surplus \"%.*s\" %s", plan_rules_shown(length),
                               text, why);
    if (megatron_double(r->megatron.surplus) <= MEGATRON_MAX_SURPLUS)
        return LEAT_OK;
    return status_argument(err, "mid_level_dataset_surplus",
                           "the surplus \"%.*s\" is too large: at most %d is supported", plan_rules_shown(length), text,
                           MEGATRON_MAX_SURPLUS);
}

unsigned plan_megatron_used(const struct plan_rules *r)
{
    unsigned i = 0;

    while (r->use && i < 3 && strcmp(r->use, ranges[i]) != 0)
        i++;
    return i;
}

static enum leat_status finish_split(struct plan_rules *r, struct leat_error *err)
{
    if (r->split_count > 0)
        return status_argument(
            err, "split", "a plan of order megatron takes Megatron's split, such as 969,30,1, not named fractions");
    if (r->use && r->megatron.ratio_count == 0)
        return status_argument(err, "split",
                               "the range %.*s is to be used, but the split is missing; give one, such as 969,30,1",
                               PLAN_SHOWN, r->use);
    if (plan_megatron_used(r) == 3)
        return status_argument(err, "use",
                               "unknown range \"%.*s\": those of Megatron's split are train, valid and test",
                               PLAN_SHOWN, r->use);
    if (r->use || r->megatron.ratio_count == 0)
        return LEAT_OK;
    r->use = strdup(ranges[0]);
    return r->use ? LEAT_OK : status_no_memory(err, strlen(ranges[0]));
}

/* ---- Sources ---- */

bool plan_megatron_blends(const struct plan_rules *r)
{
    return r->source_count > 1 || (r->sources[0].weighted && r->megatron.ratio_count > 0);
}

static enum leat_status check_sources(const struct plan_rules *r, struct leat_error *err)
{
    const struct plan_source_rule *first = &r->sources[0];

    if (r->source_count > MEGATRON_MAX_SOURCES)
        return status_argument(err, "sources", "%zu sources are too many: Megatron takes at most %u", r->source_count,
                               MEGATRON_MAX_SOURCES);
    for (size_t i = 0; i < r->source_count; i++) {
        const struct plan_source_rule *s = &r->sources[i];

        if (s->epochs > 0)
            return status_in_file(
                err,
                status_argument(
                    err, "sources",
                    "%.300s has a limit of epochs, which Megatron does not know: it makes as many epochs as "
                    "the number of samples needs",
                    s->name),
                s->name);
        if (s->weighted != first->weighted)
            return status_argument(
                err, "sources",
                "%.200s has a weight and %.200s has none: Megatron takes weights for all sources, or for "
                "none",
                s->weighted ? s->name : first->name, s->weighted ? first->name : s->name);
        if (!s->weighted && decimal_after_name(s->name, strlen(s->name)) > 0)
            return status_in_file(
                err,
                status_argument(
                    err, "sources",
                    "the name %.300s ends like a weight, but the source has none; rename it, or name it in an @list",
                    s->name),
                s->name);
        if (s->weight.digits == 0)
            return status_in_file(err,
                                  status_argument(err, "sources",
                                                  "%.300s has the weight 0, which Megatron refuses; leave it out",
                                                  s->name),
                                  s->name);
    }
    if (first->weighted && r->megatron.samples == 0)
        return status_field(
            err,
            status_set_hint(
                err, LEAT_E_ARGUMENT, LEAT_HINT_SAMPLES, NULL,
                "the number of samples is missing: with weights, Megatron builds for a given number of samples"),
            "samples");
    return LEAT_OK;
}

/* ---- All together ---- */

enum leat_status plan_megatron_finish(struct plan_rules *r, struct leat_error *err)
{
    enum leat_status s;

    if (r->epochs > 0)
        return status_argument(
            err, "epochs",
            "a plan of order megatron has no limit of epochs: Megatron makes as many as the number of "
            "samples needs; give that");
    if (r->seed > UINT32_MAX)
        return status_argument(err, "seed", "the seed %" PRIu64 " is not below 2^32, as numpy's generator needs it",
                               r->seed);
    if (r->megatron.samples > MEGATRON_MAX_SAMPLES)
        return status_argument(err, "samples",
                               "%" PRIu64 " samples are too many: a plan of order megatron has at most 2^40",
                               r->megatron.samples);
    if (!r->megatron.has_surplus)
        r->megatron.surplus = (struct decimal) { 5, -3 };
    s = finish_split(r, err);
    return s == LEAT_OK ? check_sources(r, err) : s;
}

enum leat_status plan_megatron_refuse(const struct plan_rules *r, struct leat_error *err)
{
    if (r->megatron.ratio_count > 0)
        return status_argument(
            err, "split",
            "the split has numbers without names, which only order megatron takes; for order %s, write "
            "NAME=FRACTION,...",
            leat_order_name((enum leat_order)r->order));
    if (r->megatron.samples > 0 || r->megatron.has_surplus)
        return status_argument(err, r->megatron.samples > 0 ? "samples" : "mid_level_dataset_surplus",
                               "%s is for order megatron, and the plan's order is %s",
                               r->megatron.samples > 0 ? "the number of samples" : "mid-level-dataset-surplus",
                               leat_order_name((enum leat_order)r->order));
    return LEAT_OK;
}
