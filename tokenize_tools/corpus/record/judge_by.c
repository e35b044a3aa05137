/* judge_by.c: takes the value that chooses a record's dataset. */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "judge.h"

struct by {
    const char *field;
    uint32_t want;
};

static bool asked(const struct leat_pack_options *o)
{
    return o->by != NULL;
}

static enum leat_status prepare(void **self, struct record_fields *fields, const struct leat_pack_options *o,
                                struct leat_error *err)
{
    struct record_want want = { .path = o->by, .use = RECORD_BY, .needed = true };
    struct by *b;

    b = calloc(1, sizeof *b);
    if (!b)
        return status_no_memory(err, sizeof *b);
    *self = b;
    b->field = o->by;
    want.most = sizeof((struct verdict *)0)->by + 1;
    return status_field(err, record_want(fields, &want, &b->want, err), "by");
}

static enum leat_status too_long(const char *field, struct leat_error *err)
{
    return status_set(err, LEAT_E_TEXT, "\"%.200s\" is longer than %zu bytes: it is to choose a dataset", field,
                      JUDGE_BY_BYTES);
}

static enum leat_status take_value(const struct record *r, const char *field, const struct record_value *value,
                                   struct verdict *v, struct leat_error *err)
{
    if (value->bytes > sizeof v->by)
        return too_long(field, err);
    v->by_bytes = value->held;
    if (value->escaped)
        v->by_bytes = (size_t)(r->fields->paths.kernels->unescape(v->by, value->at, value->at + value->held) - v->by);
    else
        memcpy(v->by, value->at, value->held);
    if (v->by_bytes > JUDGE_BY_BYTES)
        return too_long(field, err);
    if (memchr(v->by, 0, v->by_bytes))
        return status_set(err, LEAT_E_TEXT, "\"%.200s\" has a zero byte: it is to choose a dataset", field);
    return LEAT_OK;
}

static enum leat_status judge_value(const struct by *b, const struct record *r, struct verdict *v,
                                    struct leat_error *err)
{
    const struct record_value *value = record_value(r, b->want);

    switch (value->kind) {
    case JSON_KIND_STRING:
    case JSON_KIND_NUMBER:
    case JSON_KIND_TRUE:
    case JSON_KIND_FALSE:
        return take_value(r, b->field, value, v, err);
    case JSON_KIND_NONE:
        return status_set(err, LEAT_E_TEXT, "the record has no \"%.200s\" to choose its dataset by", b->field);
    default:
        return status_set(err, LEAT_E_TEXT, "\"%.200s\" is %s, not a string, a number, true or false", b->field,
                          json_scan_kind(value->kind));
    }
}

static enum leat_status judge(void *self, const struct record *r, struct verdict *v, struct leat_error *err)
{
    const struct by *b = self;

    return status_field(err, judge_value(b, r, v, err), b->field);
}

const struct record_judge judge_by = {
    .prepare = prepare, .judge = judge, .free = free, .asked = asked, .option = "by", .needs = "to choose datasets by"
};
