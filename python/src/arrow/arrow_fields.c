/* arrow_fields.c: finds the fields of a packer's conditions among the columns of a table, and judges rows. */
#include <stdlib.h>

#include "arrow.h"

enum leat_status arrow_fields_find(struct arrow_fields *f, const struct ArrowSchema *schema,
                                   const struct leat_packer *p, struct leat_error *err)
{
    const struct leat_field *fields;
    uint64_t count;
    enum leat_status s = LEAT_OK;

    leat_packer_fields(p, &fields, &count);
    if (f->places && f->count != count)
        return errors_set(err, LEAT_E_ARGUMENT, "these rows were begun by a packer with other conditions");
    if (f->found || count == 0)
        return LEAT_OK;
    if (!f->places) {
        f->count = (size_t)count;
        f->places = calloc((size_t)count, sizeof *f->places);
        f->columns = calloc((size_t)count, sizeof *f->columns);
        f->values = calloc((size_t)count, sizeof *f->values);
    }
    if (!f->places || !f->columns || !f->values)
        return errors_set(err, LEAT_E_NO_MEMORY, "no memory for the columns of conditions");
    for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
        s = arrow_find(schema, fields[i].path,
                       fields[i].compared ? ARROW_TEXTS | ARROW_NUMBER | ARROW_FLOAT : ARROW_NOTHING | ARROW_ANY,
                       fields[i].compared ? "strings or numbers that a condition can compare; of other types only "
                                            "\"exists\" can be asked"
                                          : "one that says which of its values are missing",
                       &f->places[i], err);
        if (s == LEAT_OK && f->places[i].depth == 0)
            s = errors_set(err, LEAT_E_ARGUMENT,
                           "conditions (keep) are on the columns of a table, and this is a single column");
    }
    f->found = s == LEAT_OK;
    return s;
}

void arrow_fields_free(struct arrow_fields *f)
{
    free(f->places);
    free(f->columns);
    free(f->values);
}

enum leat_status arrow_fields_bind(struct arrow_fields *f, const struct ArrowArray *array, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < f->count; i++)
        s = arrow_bind(&f->columns[i], &f->places[i], array, err);
    return s;
}

static void give_value(const struct arrow_place *place, const struct arrow_value *from, struct leat_value *to)
{
    *to = (struct leat_value) { .kind = LEAT_VALUE_NULL };
    if (from->missing)
        return;
    switch (place->kind) {
    case ARROW_ANY:
        to->kind = LEAT_VALUE_OTHER;
        return;
    case ARROW_FLOAT:
        to->kind = place->number == 'f' ? LEAT_VALUE_FLOAT : LEAT_VALUE_DOUBLE;
        to->as.number = from->real;
        return;
    case ARROW_NUMBER:
        to->kind = place->number == 'Q' ? LEAT_VALUE_UINT64 : LEAT_VALUE_INT64;
        if (place->number == 'Q')
            to->as.uint64 = (uint64_t)from->number;
        else
            to->as.int64 = from->number;
        return;
    default:
        to->kind = LEAT_VALUE_STRING;
        to->as.text = from->text;
        to->bytes = from->bytes;
    }
}

enum leat_status arrow_fields_judge(struct arrow_fields *f, int64_t row, struct leat_packer *p, uint32_t *keep,
                                    struct leat_error *err)
{
    struct arrow_value value;

    for (size_t i = 0; i < f->count; i++) {
        enum leat_status s = arrow_get(&f->columns[i], row, &value, err);

        if (s != LEAT_OK)
            return s;
        give_value(&f->places[i], &value, &f->values[i]);
    }
    return leat_packer_judge(p, f->values, keep, err);
}
