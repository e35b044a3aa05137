/*
 * judge_columns.c: takes the values of columns per document from a record: a number, a list of as many as the column is
 * wide, or a text for a category. A number without a point and an exponent is an integer if it has at most 64 bits; any
 * other becomes the nearest double, as Python reads it. So a column from records has the bytes of one that is attached
 * with what Python has read. A value that the column's type does not hold rejects the record.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/json_string.h"
#include "base/status.h"
#include "base/utf8.h"
#include "column_spec.h"
#include "condition/decimal.h"
#include "judge.h"
#include "private.h"

#define NUMBER_BYTES ((size_t)64) /* bytes of a number in a list, with what stands around it, that are enough */

struct columns {
    struct column_specs specs;
    uint32_t wants[COLUMN_SPEC_MAX];
};

static bool asked(const struct leat_pack_options *o)
{
    return o->column_count > 0;
}

static enum leat_status want(struct columns *c, size_t i, struct record_fields *fields, struct leat_error *err)
{
    const struct column_spec *spec = &c->specs.items[i];
    struct record_want w = { .path = spec->field, .use = RECORD_NUMBER, .needed = true, .most = DECIMAL_DIGITS + 1 };

    if (spec->at == LEAT_COLUMN_TOKEN)
        return status_argument(err, "column",
                               "column %s would have values per token, which a text does not have: put :document after "
                               "its type for one per document, or attach the column to the finished dataset",
                               spec->name);
    if (spec->width > 1) {
        w.use = RECORD_NUMBERS;
        w.most = spec->width * NUMBER_BYTES;
    } else if (spec->type == LEAT_COLUMN_CATEGORY) {
        w.use = RECORD_CATEGORY;
        w.most = RECORD_RAW_BYTES * COLUMN_SPEC_TEXT + 1;
    }
    return record_want(fields, &w, &c->wants[i], err);
}

static void free_columns(void *self)
{
    struct columns *c = self;

    column_specs_free(&c->specs);
    free(c);
}

static enum leat_status prepare(void **self, struct record_fields *fields, const struct leat_pack_options *o,
                                struct leat_error *err)
{
    struct columns *c = calloc(1, sizeof *c);
    enum leat_status s;

    if (!c)
        return status_no_memory(err, sizeof *c);
    *self = c;
    s = column_specs_make(&c->specs, o, err);
    for (size_t i = 0; s == LEAT_OK && i < c->specs.count; i++)
        s = want(c, i, fields, err);
    return status_field(err, s, "column");
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

#define FOR "it is for the column %s"

/* Says that a value is wrong: `what` is the rest of the sentence. */
static enum leat_status refuse(const struct column_spec *spec, const char *what, struct leat_error *err)
{
    return status_set(err, LEAT_E_TEXT, "\"%.200s\" %s: " FOR, spec->field, what, spec->name);
}

static bool is_word(const char *text, size_t bytes, const char *word)
{
    return bytes == strlen(word) && memcmp(text, word, bytes) == 0;
}

/* A number with the type that it has before it is converted. */
struct number {
    uint32_t type;
    bool too_large; /* true if it is no infinity, but no double holds it */
    union {
        int64_t i64;
        uint64_t u64;
        double f64;
    } as;
};

/* Reads an integer of up to 64 bits. Returns false if the text is another number. */
static bool read_integer(struct number *n, const char *text, size_t bytes)
{
    bool negative = bytes > 0 && *text == '-';
    uint64_t value = 0;

    for (size_t i = negative; i < bytes; i++) {
        unsigned digit = (unsigned)(text[i] - '0');

        if (digit > 9 || value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    if (negative && value > (uint64_t)INT64_MAX + 1)
        return false;
    n->type = negative ? LEAT_COLUMN_I64 : LEAT_COLUMN_U64;
    n->as.u64 = negative ? ~value + 1 : value;
    return true;
}

/* Reads a number of JSON, or NaN, Infinity or -Infinity. */
static bool read_number(struct number *n, const char *text, size_t bytes)
{
    struct decimal d;

    *n = (struct number) { .type = LEAT_COLUMN_F64 };
    if (is_word(text, bytes, "NaN")) {
        n->as.f64 = (double)NAN;
    } else if (is_word(text, bytes, "Infinity") || is_word(text, bytes, "-Infinity")) {
        n->as.f64 = *text == '-' ? -(double)INFINITY : (double)INFINITY;
    } else if (!decimal_read(&d, text, bytes)) {
        return false;
    } else if (!read_integer(n, text, bytes)) {
        n->as.f64 = decimal_double(&d);
        n->too_large = isinf(n->as.f64);
    }
    return true;
}

/* Appends a number as the column stores it. */
static enum leat_status put_number(const struct column_spec *spec, const char *text, size_t bytes, struct buffer *to,
                                   struct leat_error *err)
{
    struct number n;
    uint8_t stored[8];

    if (!read_number(&n, text, bytes))
        return refuse(spec, spec->width > 1 ? "has a value that is not a number" : "is not a number", err);
    if (n.too_large || leat_column_convert(stored, spec->type, &n.as, n.type, 1) == 0)
        return status_set(err, LEAT_E_TEXT, "\"%.200s\" has the value %.*s, which %s does not hold: " FOR, spec->field,
                          bytes < 40 ? (int)bytes : 40, text, leat_column_type_name(spec->type), spec->name);
    return buffer_append(to, stored, spec->bytes, err);
}

static bool is_number(const struct record_value *v)
{
    return v->kind == JSON_KIND_NUMBER || v->kind == JSON_KIND_NAN || v->kind == JSON_KIND_INFINITY || v->untyped;
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

static void pass_space(const char **at, const char *end)
{
    while (*at < end && json_is_space(**at))
        ++*at;
}

/* Appends the numbers of a list, which is JSON, and ends in the memory that is there. */
static enum leat_status put_list(const struct column_spec *spec, const struct record_value *v, struct buffer *to,
                                 struct leat_error *err)
{
    const char *at = v->at + 1, *end = v->at + v->held;
    uint32_t count = 0;
    enum leat_status s = LEAT_OK;

    for (pass_space(&at, end); s == LEAT_OK && at < end && *at != ']'; count++) {
        const char *first = at;

        while (at < end && !json_is_space(*at) && *at != ',' && *at != ']')
            at++;
        s = count < spec->width ? put_number(spec, first, (size_t)(at - first), to, err) : LEAT_OK;
        pass_space(&at, end);
        at += at < end && *at == ',';
        pass_space(&at, end);
    }
    if (s != LEAT_OK || count == spec->width)
        return s;
    return status_set(err, LEAT_E_TEXT, "\"%.200s\" has %u values, not %u: " FOR, spec->field, count, spec->width,
                      spec->name);
}

/* ---- Texts ------------------------------------------------------------------------------------------------------- */

/* Appends a text after its length. */
static enum leat_status put_text(const struct column_spec *spec, const struct record *r, const struct record_value *v,
                                 struct buffer *to, struct leat_error *err)
{
    char text[RECORD_RAW_BYTES * COLUMN_SPEC_TEXT];
    uint8_t length[4];
    size_t bytes = v->held;
    enum leat_status s;

    if (v->bytes <= sizeof text && v->escaped)
        bytes = (size_t)(r->fields->paths.kernels->unescape(text, v->at, v->at + v->held) - text);
    else if (v->bytes <= sizeof text)
        memcpy(text, v->at, bytes);
    if (v->bytes > sizeof text || bytes > COLUMN_SPEC_TEXT)
        return refuse(spec, "is longer than 1024 bytes", err);
    if (utf8_valid_prefix((const uint8_t *)text, bytes) != bytes)
        return refuse(spec, "is not UTF-8", err);
    bytes_store32(length, (uint32_t)bytes);
    s = buffer_append(to, length, sizeof length, err);
    return s == LEAT_OK ? buffer_append(to, text, bytes, err) : s;
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

static enum leat_status put_value(const struct column_spec *spec, const struct record *r, const struct record_value *v,
                                  struct buffer *to, struct leat_error *err)
{
    if (v->kind == JSON_KIND_NONE)
        return status_set(err, LEAT_E_TEXT, "the record has no \"%.200s\" for the column %s", spec->field, spec->name);
    if (spec->type == LEAT_COLUMN_CATEGORY)
        return v->kind == JSON_KIND_STRING ? put_text(spec, r, v, to, err) : refuse(spec, "is not a string", err);
    if (spec->width == 1)
        return is_number(v) && v->bytes <= DECIMAL_DIGITS ? put_number(spec, v->at, v->held, to, err)
                                                          : refuse(spec, "is not a number", err);
    if (v->kind != JSON_KIND_ARRAY)
        return refuse(spec, "is not a list of numbers", err);
    return v->bytes <= spec->width * NUMBER_BYTES ? put_list(spec, v, to, err)
                                                  : refuse(spec, "is a list that is too long", err);
}

static enum leat_status judge(void *self, const struct record *r, struct verdict *v, struct leat_error *err)
{
    const struct columns *c = self;
    size_t before = v->values->size;
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < c->specs.count; i++)
        s = status_field(err, put_value(&c->specs.items[i], r, record_value(r, c->wants[i]), v->values, err),
                         c->specs.items[i].field);
    if (s != LEAT_OK)
        v->values->size = before;
    return s;
}

const struct record_judge judge_columns = {
    .prepare = prepare, .judge = judge, .free = free_columns, .asked = asked, .option = "column", .needs = "for columns"
};
