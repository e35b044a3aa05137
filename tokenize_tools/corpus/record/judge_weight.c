/*
 * judge_weight.c: the field that says how much a record counts: a number from 0 to 1, which multiplies its mask.
 */
#include <stdlib.h>

#include "base/status.h"
#include "condition/decimal.h"
#include "judge.h"

struct weight {
    const char *field;
    uint32_t want;
};

static bool asked(const struct leat_pack_options *o)
{
    return o->weight != NULL;
}

static enum leat_status prepare(void **self, struct record_fields *fields, const struct leat_pack_options *o,
                                struct leat_error *err)
{
    struct record_want want = { .path = o->weight, .use = RECORD_VALUE, .needed = true, .most = DECIMAL_DIGITS + 1 };
    struct weight *w;

    w = calloc(1, sizeof *w);
    if (!w)
        return status_no_memory(err, sizeof *w);
    *self = w;
    w->field = o->weight;
    return status_field(err, record_want(fields, &want, &w->want, err), "weight");
}

static enum leat_status judge_value(const struct weight *w, const struct record_value *value, struct verdict *v,
                                    struct leat_error *err)
{
    static const struct decimal zero, one = { .exponent = 1, .count = 1, .digits = "1" };
    struct decimal number;

    if (value->kind == JSON_KIND_NONE)
        return status_set(err, LEAT_E_TEXT, "the record has no \"%.200s\" that says how much it counts", w->field);
    if ((value->kind != JSON_KIND_NUMBER && !value->untyped) || value->bytes > DECIMAL_DIGITS ||
        !decimal_read(&number, value->at, value->held) || decimal_compare(&number, &zero) < 0 ||
        decimal_compare(&number, &one) > 0)
        return status_set(err, LEAT_E_TEXT,
                          "\"%.200s\" is not a number from 0 to 1: it says how much the record counts", w->field);
    v->weight = decimal_double(&number);
    return LEAT_OK;
}

static enum leat_status judge(void *self, const struct record *r, struct verdict *v, struct leat_error *err)
{
    const struct weight *w = self;

    return status_field(err, judge_value(w, record_value(r, w->want), v, err), w->field);
}

const struct record_judge judge_weight = {
    .prepare = prepare, .judge = judge, .free = free, .asked = asked, .option = "weight", .needs = "for weights"
};
