/* packer_judge.c: see packer_judge.h. */
#include "packer_judge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"

/* Copies the conditions to one allocation; the finished dataset and errors name them. */
static enum leat_status keep_conditions(struct packer_judge *j, struct leat_pack_options *o, struct leat_error *err)
{
    size_t bytes = (size_t)o->keep_count * sizeof *j->keep;
    char *to;

    for (uint64_t i = 0; i < o->keep_count; i++)
        bytes += strlen(o->keep[i]) + 1;
    j->keep = malloc(bytes);
    if (!j->keep)
        return status_no_memory(err, bytes);
    to = (char *)(j->keep + o->keep_count);
    for (uint64_t i = 0; i < o->keep_count; i++) {
        j->keep[i] = to;
        to = stpcpy(to, o->keep[i]) + 1;
    }
    o->keep = j->keep;
    return LEAT_OK;
}

enum leat_status packer_judge_open(struct packer_judge *j, struct leat_pack_options *options, struct leat_error *err)
{
    struct leat_pack_options conditions = *options;
    enum leat_status s;

    conditions.weight = NULL;
    conditions.column_count = 0;                               /* their values are given, without a row */
    s = judges_want(&j->judges, &j->fields, &conditions, err); /* this also checks that the conditions are
                                                                  within bounds */

    if (s != LEAT_OK || j->fields.count == 0)
        return s;
    s = keep_conditions(j, options, err);
    if (s == LEAT_OK)
        s = record_make(&j->record, &j->fields, err);
    if (s != LEAT_OK)
        return s;
    j->list = calloc(j->fields.count, sizeof *j->list);
    j->texts = calloc(j->fields.count, sizeof *j->texts);
    if (!j->list || !j->texts)
        return status_no_memory(err, j->fields.count * sizeof *j->texts);
    for (size_t i = 0; i < j->fields.count; i++) {
        j->list[i].path = j->fields.wants[i].path;
        j->list[i].compared = j->fields.wants[i].use != RECORD_EXISTS;
    }
    return LEAT_OK;
}

void packer_judge_free(struct packer_judge *j)
{
    judges_free(&j->judges);
    record_free(&j->record);
    record_fields_free(&j->fields);
    free(j->list);
    free(j->texts);
    free(j->keep);
}

/* Writes a double as text; a float that came as a double is written as a table's float is. */
static void write_decimal(const struct leat_value *v, char text[VALUE_TEXT])
{
    bool is_float = v->kind == LEAT_VALUE_FLOAT;
    float narrow = (float)v->as.number;
    uint8_t bytes[8];
    uint64_t wide_bits;
    uint32_t bits;

    if (is_float) {
        memcpy(&bits, &narrow, sizeof bits);
        bytes_store32(bytes, bits);
    } else {
        memcpy(&wide_bits, &v->as.number, sizeof wide_bits);
        bytes_store64(bytes, wide_bits);
    }
    decimal_of(is_float, bytes, text);
}

/* Gives a value to the record. Returns false if it is of no known kind. */
static bool put_value(struct packer_judge *j, uint32_t want, const struct leat_value *v)
{
    char *text = j->texts[want];

    switch (v->kind) {
    case LEAT_VALUE_NULL:
        record_put(&j->record, want, JSON_KIND_NULL, NULL, 0);
        return true;
    case LEAT_VALUE_OTHER:
        record_put(&j->record, want, JSON_KIND_TRUE, "", 0);
        return true;
    case LEAT_VALUE_STRING:
    case LEAT_VALUE_DECIMAL:
        record_put(&j->record, want, v->kind == LEAT_VALUE_STRING ? JSON_KIND_STRING : JSON_KIND_NUMBER,
                   v->bytes > 0 ? v->as.text : "", (size_t)v->bytes);
        return true;
    case LEAT_VALUE_INT64:
        snprintf(text, VALUE_TEXT, "%" PRId64, v->as.int64);
        break;
    case LEAT_VALUE_UINT64:
        snprintf(text, VALUE_TEXT, "%" PRIu64, v->as.uint64);
        break;
    case LEAT_VALUE_DOUBLE:
    case LEAT_VALUE_FLOAT:
        write_decimal(v, text);
        break;
    default:
        return false;
    }
    record_put(&j->record, want, JSON_KIND_NUMBER, text, strlen(text));
    return true;
}

enum leat_status packer_judge_row(struct packer_judge *j, const struct leat_value *values, uint32_t *keep,
                                  struct leat_error *err)
{
    size_t count = j->fields.count;

    if (count > 0 && !values)
        return status_argument(err, "values", "conditions are on the fields of rows: this row has no values");
    *keep = 1;
    if (count == 0)
        return LEAT_OK;
    record_begin_row(&j->record);
    for (uint32_t i = 0; i < count; i++)
        if (!put_value(j, i, &values[i]))
            return status_argument(err, "values", "the value of %.200s has the unknown kind %" PRIu32, j->list[i].path,
                                   values[i].kind);
    *keep = !judges_keep_out(&j->judges, &j->record);
    j->rows += *keep;
    return LEAT_OK;
}

enum leat_status packer_judge_take(struct packer_judge *j, uint64_t documents, struct leat_error *err)
{
    if (j->fields.count == 0)
        return LEAT_OK;
    if (documents > j->rows)
        return status_argument(err, "keep",
                               "conditions are on the fields of rows, and this document came without any: a packer "
                               "with conditions takes rows alone");
    j->rows -= documents;
    return LEAT_OK;
}
