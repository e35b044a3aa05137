/*
 * judge_keep.c: conditions on the fields of a record: "lang = en", "score >= 3", "meta.url exists". A record is kept if
 * all hold.
 *
 *   FIELD = VALUE    also == (the same), != < <= > >=. A VALUE that is a JSON number is compared with numbers, exactly
 *                    as decimal numbers; any other, in quotes or bare, with strings, by their bytes after unescaping.
 *                    Quotes are double ones, as in JSON, or single ones; a bare VALUE begins with none of " ' = < >
 *   FIELD exists     it is there, and not null
 *
 * A field of CSV or TSV has no type: a number is compared with it if it is one, a string in any case; an empty one does
 * not exist.
 *
 * A condition does not hold for a field that is missing or of another type (also with !=), nor for a number of more
 * than MAX_NUMBER characters.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json_string.h"
#include "base/status.h"
#include "corpus/json/json_decimal.h"
#include "judge.h"

#define MAX_NUMBER ((size_t)1000)

enum operation { OPERATION_EXISTS, OPERATION_NE, OPERATION_LE, OPERATION_GE, OPERATION_EQ, OPERATION_LT, OPERATION_GT };

/* The longer ones first. */
static const struct {
    const char *sign;
    enum operation operation;
} operations[] = {
    { "!=", OPERATION_NE }, { "<=", OPERATION_LE }, { ">=", OPERATION_GE }, { "==", OPERATION_EQ },
    { "=", OPERATION_EQ },  { "<", OPERATION_LT },  { ">", OPERATION_GT },
};

struct condition {
    enum operation operation;
    char *field;
    uint32_t want;
    bool is_number;
    struct json_decimal number;
    char *text; /* of a string, unescaped */
    size_t text_bytes;
};

struct keep {
    size_t count;
    struct condition conditions[];
};

/* ---- Reading conditions ---- */

static enum leat_status wrong(const char *text, const char *why, struct leat_error *err)
{
    return status_argument(err, "keep", "the condition \"%.200s\" %s", text, why);
}

/* A string in double quotes, as JSON has it; false: it is something else. */
static bool read_quoted(struct condition *c, const char *value, size_t bytes)
{
    const struct json_kernels *kernels = json_kernels();
    bool escaped = false;

    if (bytes < 2 || value[0] != '"' || value[bytes - 1] != '"' ||
        kernels->pass(value + 1, value + bytes, &escaped) != value + bytes - 1)
        return false;
    c->text_bytes = (size_t)(kernels->unescape(c->text, value + 1, value + bytes - 1) - c->text);
    return true;
}

/* One in single quotes, which shells leave alone within double ones: as `quoted`, with double quotes around it. In it,
 * \' is a single quote, and a double one needs no escape. false: it is something else. */
static bool change_quotes(const char *value, size_t bytes, char *quoted, size_t *quoted_bytes)
{
    char *to = quoted;

    if (bytes < 2 || value[bytes - 1] != '\'')
        return false;
    *to++ = '"';
    for (size_t i = 1; i + 1 < bytes; i++) {
        bool escapes = value[i] == '\\' && i + 2 < bytes;

        if (value[i] == '\'')
            return false;
        if (value[i] == '"')
            *to++ = '\\';
        if (escapes && value[i + 1] != '\'')
            *to++ = value[i];
        *to++ = value[i += escapes];
    }
    *to++ = '"';
    *quoted_bytes = (size_t)(to - quoted);
    return true;
}

static enum leat_status read_string(struct condition *c, const char *text, const char *value, size_t bytes,
                                    struct leat_error *err)
{
    char *quoted = NULL;
    bool is_one = false;

    c->text = malloc(2 * bytes);
    if (*value == '\'')
        quoted = malloc(2 * bytes);
    if (!c->text || (*value == '\'' && !quoted)) {
        free(quoted);
        return status_no_memory(err, 4 * bytes);
    }
    if (*value == '"')
        is_one = read_quoted(c, value, bytes);
    else if (change_quotes(value, bytes, quoted, &bytes))
        is_one = read_quoted(c, quoted, bytes);
    free(quoted);
    return is_one ? LEAT_OK : wrong(text, "has a value that is not one string in quotes", err);
}

static enum leat_status read_value(struct condition *c, const char *text, const char *value, size_t bytes,
                                   struct leat_error *err)
{
    static const char *const words[] = { "true", "false", "null" };

    if (bytes == 0)
        return wrong(text, "has no value; an empty string is \"\"", err);
    c->is_number = json_decimal_read(&c->number, value, bytes);
    if (c->is_number)
        return LEAT_OK;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == bytes && memcmp(value, words[i], bytes) == 0)
            return wrong(text,
                         "compares with true, false or null; only strings and numbers can be compared, and a string in "
                         "quotes is one",
                         err);
    if (*value == '"' || *value == '\'')
        return read_string(c, text, value, bytes, err);
    if (strchr("=<>", *value)) /* "=>", a third =: hardly a value that begins so */
        return status_argument(
            err, "keep",
            "the condition \"%.200s\" has a value that begins with %c: signs are = != < <= > >=, and a "
            "value that begins so stands in quotes",
            text, *value);
    c->text = malloc(bytes);
    if (!c->text)
        return status_no_memory(err, bytes);
    memcpy(c->text, value, bytes);
    c->text_bytes = bytes;
    return LEAT_OK;
}

static enum leat_status read_condition(struct condition *c, const char *text, struct leat_error *err)
{
    const char *field = text + strspn(text, " \t"), *at = field + strcspn(field, " \t=!<>");
    size_t bytes;

    c->field = strndup(field, (size_t)(at - field));
    if (!c->field)
        return status_no_memory(err, strlen(text));
    at += strspn(at, " \t");
    bytes = strlen(at);
    while (bytes > 0 && (at[bytes - 1] == ' ' || at[bytes - 1] == '\t'))
        bytes--;
    if (*c->field && bytes == 6 && memcmp(at, "exists", 6) == 0)
        return LEAT_OK;
    for (size_t i = 0; *c->field && i < sizeof operations / sizeof *operations; i++) {
        size_t sign = strlen(operations[i].sign), skip;

        if (strncmp(at, operations[i].sign, sign) != 0)
            continue;
        c->operation = operations[i].operation;
        skip = sign + strspn(at + sign, " \t");
        return read_value(c, text, at + skip, bytes > skip ? bytes - skip : 0, err);
    }
    return wrong(text, "is not FIELD OP VALUE with = != < <= > or >=, or FIELD exists", err);
}

static void free_conditions(void *self)
{
    struct keep *k = self;

    for (size_t i = 0; i < k->count; i++) {
        free(k->conditions[i].field);
        free(k->conditions[i].text);
    }
    free(k);
}

static enum leat_status want_field(struct condition *c, struct record_fields *fields, struct leat_error *err)
{
    struct record_want want = { .path = c->field, .use = RECORD_VALUE, .needed = true };

    if (c->operation == OPERATION_EXISTS)
        want.use = RECORD_EXISTS;
    else /* of a string, what comes after that many bytes decides nothing; and a pair of surrogates is not cut */
        want.most = c->is_number ? MAX_NUMBER : RECORD_RAW_BYTES * c->text_bytes + 12;
    return status_field(err, record_want(fields, &want, &c->want, err), "keep");
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
    for (size_t i = 0; s == LEAT_OK && i < o->keep_count; i++) {
        k->count = i + 1;
        bytes += strlen(o->keep[i]) + 1;
        s = bytes > JUDGE_KEEP_BYTES
                ? status_argument(err, "keep", "the conditions are longer than %zu bytes in all", JUDGE_KEEP_BYTES)
                : read_condition(&k->conditions[i], o->keep[i], err);
        if (s == LEAT_OK)
            s = want_field(&k->conditions[i], fields, err);
    }
    *self = k; /* after a failure, too: fields that are wanted may lie in it */
    return s;
}

/* ---- Conditions ---- */

/* As it stands in JSON, with a text, by bytes after unescaping. */
static int compare_escaped(const char *at, const char *end, const char *text, size_t text_bytes)
{
    size_t seen = 0;

    while (at < end) {
        char plain[4];
        size_t count = json_take_bytes(&at, end, plain);

        for (size_t i = 0; i < count; i++, seen++) {
            if (seen == text_bytes)
                return 1;
            if (plain[i] != text[seen])
                return (uint8_t)plain[i] < (uint8_t)text[seen] ? -1 : 1;
        }
    }
    return seen < text_bytes ? -1 : 0;
}

static int compare_text(const struct record_value *v, const char *text, size_t text_bytes)
{
    size_t least = v->held < text_bytes ? v->held : text_bytes;
    int order;

    if (v->escaped)
        return compare_escaped(v->at, v->at + v->held, text, text_bytes);
    order = least > 0 ? memcmp(v->at, text, least) : 0;
    return order != 0 ? order : (v->held > text_bytes) - (v->held < text_bytes);
}

static bool fits(enum operation operation, int order)
{
    switch (operation) {
    case OPERATION_NE:
        return order != 0;
    case OPERATION_LE:
        return order <= 0;
    case OPERATION_GE:
        return order >= 0;
    case OPERATION_EQ:
        return order == 0;
    case OPERATION_LT:
        return order < 0;
    default:
        return order > 0;
    }
}

/* Whether a condition holds for the value of its field. What there is in memory of a string decides. */
static bool holds(const struct condition *c, const struct record_value *v)
{
    struct json_decimal decimal;

    if (c->operation == OPERATION_EXISTS)
        return v->kind != JSON_KIND_NONE && v->kind != JSON_KIND_NULL;
    if (v->kind != (c->is_number && !v->untyped ? JSON_KIND_NUMBER : JSON_KIND_STRING))
        return false;
    if (!c->is_number)
        return fits(c->operation, compare_text(v, c->text, c->text_bytes));
    return v->bytes <= MAX_NUMBER && json_decimal_read(&decimal, v->at, v->held) &&
           fits(c->operation, json_decimal_compare(&decimal, &c->number));
}

static enum leat_status judge(const void *self, const struct record *r, struct verdict *v, struct leat_error *err)
{
    const struct keep *k = self;

    (void)err;
    for (size_t i = 0; !v->kept_out && i < k->count; i++)
        v->kept_out = !holds(&k->conditions[i], record_value(r, k->conditions[i].want));
    return LEAT_OK;
}

const struct record_judge judge_keep = { .prepare = prepare,
                                         .judge = judge,
                                         .free = free_conditions,
                                         .filters = true,
                                         .asked = asked,
                                         .option = "keep",
                                         .needs = "for conditions" };
