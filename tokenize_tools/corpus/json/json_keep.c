/*
 * json_keep.c: see json_keep.h. The scanner of records follows two paths, those of the text and the id; here they are
 * the fields of two conditions, so a record is scanned once more for each pair of conditions.
 */
#include "json_keep.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "json_string.h"

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

static bool is_digit(const char *at, const char *end)
{
    return at < end && *at >= '0' && *at <= '9';
}

/* Takes digits; zeros at the start of the number are left out, but count for its exponent after the point. */
static const char *take_digits(struct json_decimal *d, const char *at, const char *end, bool after_point)
{
    for (; is_digit(at, end); at++) {
        bool leads = *at == '0' && d->count == 0;

        if (!leads)
            d->digits[d->count++] = *at;
        d->exponent += after_point ? -leads : !leads;
    }
    return at;
}

/* Takes what follows an E; NULL: it is wrong or too long. */
static const char *take_exponent(struct json_decimal *d, const char *at, const char *end)
{
    bool negative = at < end && *at == '-';
    int64_t exponent = 0;
    const char *first = at + (at < end && (*at == '-' || *at == '+'));

    for (at = first; is_digit(at, end); at++) {
        if (at - first >= 15)
            return NULL;
        exponent = exponent * 10 + (*at - '0');
    }
    d->exponent += negative ? -exponent : exponent;
    return at > first ? at : NULL;
}

bool json_decimal_read(struct json_decimal *d, const char *text, size_t bytes)
{
    const char *at = text, *end = text + bytes, *first;

    d->negative = bytes > 0 && *at == '-';
    d->exponent = 0;
    d->count = 0;
    if (bytes > JSON_DECIMAL_DIGITS)
        return false;
    first = at += d->negative;
    at = take_digits(d, at, end, false);
    if (at == first || (*first == '0' && at - first > 1))
        return false;
    if (at < end && *at == '.') {
        first = ++at;
        at = take_digits(d, at, end, true);
        if (at == first)
            return false;
    }
    if (at < end && (*at | 0x20) == 'e')
        at = take_exponent(d, at + 1, end);
    while (d->count > 0 && d->digits[d->count - 1] == '0')
        d->count--;
    return at == end;
}

int json_decimal_compare(const struct json_decimal *a, const struct json_decimal *b)
{
    size_t both = a->count < b->count ? a->count : b->count;
    int sign_a = a->count == 0 ? 0 : a->negative ? -1 : 1, sign_b = b->count == 0 ? 0 : b->negative ? -1 : 1;
    int more;

    if (sign_a != sign_b || sign_a == 0)
        return sign_a - sign_b;
    if (a->exponent != b->exponent)
        return a->exponent > b->exponent ? sign_a : -sign_a;
    more = memcmp(a->digits, b->digits, both);
    if (more == 0)
        more = (a->count > b->count) - (a->count < b->count);
    return more > 0 ? sign_a : more < 0 ? -sign_a : 0;
}

/* ---- Conditions -------------------------------------------------------------------------------------------------- */

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
    bool is_number;
    struct json_decimal number;
    char *text; /* of a string, unescaped */
    size_t text_bytes;
};

struct json_keep {
    size_t count;
    struct json_fields *pairs;
    struct condition conditions[];
};

/* ---- Reading conditions ---- */

static enum leat_status wrong(const char *text, const char *why, struct leat_error *err)
{
    return status_set(err, LEAT_E_ARGUMENT, "the condition \"%.200s\" %s", text, why);
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
        return status_set(err, LEAT_E_ARGUMENT,
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

enum leat_status json_keep_prepare(struct json_keep **out, const char *const *conditions, size_t count,
                                   struct leat_error *err)
{
    struct json_keep *k = calloc(1, sizeof *k + count * sizeof *k->conditions);
    size_t bytes = 0;
    enum leat_status s = LEAT_OK;

    *out = k;
    if (!k || !(k->pairs = calloc(count / 2 + 1, sizeof *k->pairs)))
        s = status_no_memory(err, count * sizeof *k->conditions);
    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        k->count = i + 1;
        bytes += strlen(conditions[i]) + 1;
        s = bytes > JSON_KEEP_BYTES
                ? status_set(err, LEAT_E_ARGUMENT, "the conditions are longer than %zu bytes in all", JSON_KEEP_BYTES)
                : read_condition(&k->conditions[i], conditions[i], err);
    }
    for (size_t i = 0; s == LEAT_OK && i < count; i += 2)
        s = json_fields_prepare(&k->pairs[i / 2], k->conditions[i].field,
                                i + 1 < count ? k->conditions[i + 1].field : NULL, err);
    if (s != LEAT_OK) {
        json_keep_free(k);
        *out = NULL;
    }
    return s;
}

void json_keep_free(struct json_keep *k)
{
    for (size_t i = 0; k && i < k->count; i++) {
        free(k->conditions[i].field);
        free(k->conditions[i].text);
    }
    if (k)
        free(k->pairs);
    free(k);
}

/* ---- Conditions ---- */

/* A string as it stands in the record with a text, by bytes after unescaping. */
static int compare_text(const char *at, size_t bytes, const char *text, size_t text_bytes)
{
    const char *end = at + bytes;
    size_t seen = 0;

    while (at < end) {
        char plain[4] = { *at };
        unsigned count = 1;

        if (*at != '\\') {
            at++;
        } else if (at[1] != 'u') {
            plain[0] = json_escape_meaning(at[1]);
            at += 2;
        } else {
            count = json_put_utf8(json_take_code(&at, end), plain);
        }
        for (unsigned i = 0; i < count; i++, seen++) {
            if (seen == text_bytes)
                return 1;
            if (plain[i] != text[seen])
                return (uint8_t)plain[i] < (uint8_t)text[seen] ? -1 : 1;
        }
    }
    return seen < text_bytes ? -1 : 0;
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

const struct json_fields *json_keep_pair(const struct json_keep *k, size_t pair)
{
    return 2 * pair < k->count ? &k->pairs[pair] : NULL;
}

size_t json_keep_bytes(const struct json_keep *k, size_t pair, unsigned number, const struct json_place *place)
{
    /* what comes after that many bytes, each of which may be escaped with six, decides nothing; and a pair of
     * surrogates is not cut */
    size_t most = 2 * pair + number < k->count ? 6 * k->conditions[2 * pair + number].text_bytes + 12 : 0;

    if (place->kind == JSON_KIND_NUMBER)
        most = JSON_KEEP_NUMBER;
    return place->bytes < most ? (size_t)place->bytes : most;
}

bool json_keep_place_holds(const struct json_keep *k, size_t pair, unsigned number, const struct json_place *place,
                           const char *bytes, size_t count)
{
    const struct condition *c = &k->conditions[2 * pair + number];
    struct json_decimal decimal;

    if (2 * pair + number >= k->count)
        return true;
    if (c->operation == OPERATION_EXISTS)
        return place->kind != JSON_KIND_NONE && place->kind != JSON_KIND_NULL;
    if (place->kind != (c->is_number ? JSON_KIND_NUMBER : JSON_KIND_STRING))
        return false;
    if (!c->is_number)
        return fits(c->operation, compare_text(bytes, count, c->text, c->text_bytes));
    return place->bytes <= JSON_KEEP_NUMBER && json_decimal_read(&decimal, bytes, count) &&
           fits(c->operation, json_decimal_compare(&decimal, &c->number));
}

size_t json_keep_count(const struct json_keep *k)
{
    return k->count;
}

const char *json_keep_field(const struct json_keep *k, size_t number)
{
    return k->conditions[number].field;
}

bool json_keep_compares(const struct json_keep *k, size_t number)
{
    return k->conditions[number].operation != OPERATION_EXISTS;
}

bool json_keep_value_holds(const struct json_keep *k, size_t number, bool is_number, const char *bytes, size_t count)
{
    const struct condition *c = &k->conditions[number];
    size_t least = count < c->text_bytes ? count : c->text_bytes;
    struct json_decimal decimal;
    int order;

    if (c->operation == OPERATION_EXISTS)
        return true;
    if (is_number != c->is_number)
        return false;
    if (is_number)
        return json_decimal_read(&decimal, bytes, count) &&
               fits(c->operation, json_decimal_compare(&decimal, &c->number));
    order = least > 0 ? memcmp(bytes, c->text, least) : 0;
    return fits(c->operation, order != 0 ? order : (count > c->text_bytes) - (count < c->text_bytes));
}

bool json_keep_holds(const struct json_keep *k, const char *record, size_t bytes)
{
    struct json_scan scan; /* its large arrays need no zeros */
    const struct json_fields *fields;
    bool holds = true;

    for (size_t pair = 0; holds && (fields = json_keep_pair(k, pair)); pair++) {
        json_scan_begin(&scan, fields);
        json_scan_feed(&scan, record, bytes);
        if (!json_scan_is_object(&scan))
            return true;
        for (unsigned i = 0; i < 2; i++)
            holds = holds && json_keep_place_holds(k, pair, i, &scan.place[i], record + scan.place[i].begin,
                                                   json_keep_bytes(k, pair, i, &scan.place[i]));
    }
    return holds;
}
