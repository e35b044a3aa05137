/*
 * judge_keep.c: conditions (condition/condition.h) on the fields of a record, which is kept if all hold.
 *
 * A field of CSV or TSV has no type. A condition with a number compares the field if its text is a number; a condition
 * with a string always compares it. An empty field counts as missing. A text of more than DECIMAL_DIGITS characters
 * does not count as a number.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_string.h"
#include "base/status.h"
#include "condition/condition.h"
#include "judge.h"

struct keep {
    const struct record_fields *fields;
    atomic_uint_least64_t lacking; /* a bit for each of the first wants, set if no record had its field */
    size_t count;
    struct condition *conditions[];
};

static void free_conditions(void *self)
{
    struct keep *k = self;

    for (size_t i = 0; i < k->count; i++)
        free(k->conditions[i]);
    free(k);
}

static enum leat_status want_field(struct keep *k, struct condition_step *step, struct record_fields *fields,
                                   struct leat_error *err)
{
    struct record_want want = { .path = step->field, .use = RECORD_VALUE, .needed = true, .most = DECIMAL_DIGITS };
    enum leat_status s;

    if (step->operation == CONDITION_EXISTS)
        want.use = RECORD_EXISTS;
    if (step->text && !step->is_number) /* bytes after this decide nothing; and no pair of surrogates is cut */
        want.most = RECORD_RAW_BYTES * step->bytes + 12;
    s = status_field(err, record_want(fields, &want, &step->number, err), "keep");
    if (s == LEAT_OK && step->number < 64)
        k->lacking |= (uint64_t)1 << step->number;
    return s;
}

static bool asked(const struct leat_pack_options *o)
{
    return o->keep_count > 0;
}

static enum leat_status prepare(void **self, struct record_fields *fields, const struct leat_pack_options *o,
                                struct leat_error *err)
{
    struct keep *k;
    size_t bytes = 0;
    enum leat_status s = LEAT_OK;

    if (o->keep_count > JUDGE_KEEP_BYTES || !(k = calloc(1, sizeof *k + (size_t)o->keep_count * sizeof *k->conditions)))
        return status_no_memory(err, o->keep_count * sizeof *k->conditions);
    k->fields = fields;
    for (size_t i = 0; s == LEAT_OK && i < o->keep_count; i++) {
        bytes += strlen(o->keep[i]) + 1;
        s = bytes > JUDGE_KEEP_BYTES
                ? status_argument(err, "keep", "the conditions are longer than %zu bytes in all", JUDGE_KEEP_BYTES)
                : condition_read(&k->conditions[i], o->keep[i], "keep", err);
        k->count = i + 1;
        for (uint32_t step = 0; s == LEAT_OK && step < k->conditions[i]->count; step++)
            if (k->conditions[i]->steps[step].field)
                s = want_field(k, &k->conditions[i]->steps[step], fields, err);
    }
    *self = k; /* set after a failure, too, since fields that are wanted may lie in it */
    return s;
}

/* Compares a string with a text, by bytes after unescaping. */
static int compare_text(const struct record_value *v, const char *text, size_t text_bytes)
{
    const char *at = v->at, *end = at + v->held;
    size_t seen = 0, count = 1;

    while (at < end) {
        char plain[4] = { *at };

        if (v->escaped)
            count = json_take_bytes(&at, end, plain);
        else
            at++;
        for (size_t i = 0; i < count; i++, seen++) {
            if (seen == text_bytes)
                return 1;
            if (plain[i] != text[seen])
                return (uint8_t)plain[i] < (uint8_t)text[seen] ? -1 : 1;
        }
    }
    return seen < text_bytes ? -1 : 0;
}

/* Gets the value of a field for a condition. Only the bytes of a string that are in memory decide. */
static bool get(const void *record, const struct condition_step *step, struct decimal *number, int *order)
{
    const struct record_value *v = record_value(record, step->number);
    bool is_text = step->text && !step->is_number;
    struct decimal field, constant;

    if (step->operation == CONDITION_EXISTS)
        return v->kind != JSON_KIND_NONE && v->kind != JSON_KIND_NULL;
    if (v->kind != (is_text || v->untyped ? JSON_KIND_STRING : JSON_KIND_NUMBER))
        return false;
    if (is_text)
        *order = compare_text(v, step->text, step->bytes);
    else if (v->bytes > DECIMAL_DIGITS || !decimal_read(number ? number : &field, v->at, v->held))
        return false;
    if (step->is_number) {
        decimal_read(&constant, step->text, step->bytes);
        *order = decimal_compare(&field, &constant);
    }
    return true;
}

static enum leat_status judge(void *self, const struct record *r, struct verdict *v, struct leat_error *err)
{
    struct keep *k = self;
    uint64_t lacking = atomic_load_explicit(&k->lacking, memory_order_relaxed), met = 0;

    (void)err;
    for (uint32_t i = 0; i < 64 && lacking >> i != 0; i++)
        if (record_value(r, i)->kind != JSON_KIND_NONE && record_value(r, i)->kind != JSON_KIND_NULL)
            met |= (uint64_t)1 << i;
    if (lacking & met)
        atomic_fetch_and_explicit(&k->lacking, ~met, memory_order_relaxed);
    for (size_t i = 0; !v->kept_out && i < k->count; i++)
        v->kept_out = !condition_holds(k->conditions[i], get, r);
    return LEAT_OK;
}

const char *judge_keep_lacks(const struct record_judges *j)
{
    const struct keep *k = j->self[JUDGE_KEEP];
    uint32_t i = 0;

    while (k && i < 64 && !(k->lacking >> i & 1))
        i++;
    return k && i < 64 ? k->fields->wants[i].path : NULL;
}

const struct record_judge judge_keep = { .prepare = prepare,
                                         .judge = judge,
                                         .free = free_conditions,
                                         .filters = true,
                                         .asked = asked,
                                         .option = "keep",
                                         .needs = "for conditions" };
