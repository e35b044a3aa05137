/* chat_values.c: filters of any value, and functions. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "chat_functions.h"

/* ---- Strings ---- */

enum leat_status chat_do_string(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                const struct chat_arguments *with, struct chat_value *out)
{
    (void)with;
    *out = (struct chat_value) { .kind = CHAT_STRING };
    return chat_to_string(r, n, of, &out->string);
}

enum leat_status chat_do_safe(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                              const struct chat_arguments *with, struct chat_value *out)
{
    enum leat_status s = chat_do_string(r, n, of, with, out);

    out->flags = CHAT_SAFE;
    return s;
}

enum leat_status chat_do_escape(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                const struct chat_arguments *with, struct chat_value *out)
{
    enum leat_status s = chat_do_safe(r, n, of, with, out);

    if (s == LEAT_OK && !(of->kind == CHAT_STRING && of->flags & CHAT_SAFE))
        s = chat_escape(r, out->string, &out->string);
    return s;
}

enum leat_status chat_do_default(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                 const struct chat_arguments *with, struct chat_value *out)
{
    const struct chat_value *usual = chat_argument(with, 0), *boolean = chat_argument(with, 1);
    bool replaces = of->kind == CHAT_UNDEFINED || (boolean && chat_truth(boolean) && !chat_truth(of));

    (void)r;
    (void)n;
    *out = *of;
    if (replaces)
        *out = usual ? *usual : chat_str((struct chat_string) { NULL, 0 });
    return LEAT_OK;
}

enum leat_status chat_do_tojson(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                const struct chat_arguments *with, struct chat_value *out)
{
    const struct chat_value *ascii = chat_argument(with, 0), *indent = chat_argument(with, 1),
                            *separators = chat_argument(with, 2), *sorted = chat_argument(with, 3);
    struct chat_json_form form = { .ascii = ascii && chat_truth(ascii) };
    enum leat_status s = chat_int_argument(r, n, with, 1, -1, &form.indent);

    *out = (struct chat_value) { .kind = CHAT_STRING };
    if (s != LEAT_OK || (form.indent < 0 && indent && indent->kind != CHAT_NONE) || form.indent > 16)
        return chat_fail(r, n, "an indent that is not supported");
    if (sorted && chat_truth(sorted))
        return chat_fail(r, n, "tojson with sort_keys is not supported");
    s = chat_string_ascii(r->arena, form.indent < 0 ? ", " : ",", &form.comma, r->err);
    if (s == LEAT_OK)
        s = chat_string_ascii(r->arena, ": ", &form.colon, r->err);
    if (s == LEAT_OK && separators && separators->kind != CHAT_NONE) {
        if (separators->kind != CHAT_LIST || separators->list.count != 2 ||
            separators->list.items[0].kind != CHAT_STRING || separators->list.items[1].kind != CHAT_STRING)
            return chat_fail(r, n, "separators that are not two strings");
        form.comma = separators->list.items[0].string;
        form.colon = separators->list.items[1].string;
    }
    return s == LEAT_OK ? chat_to_json(r, n, of, &form, &out->string) : s;
}

/* ---- Numbers ---- */

/* Digits with a sign, and white space around them; false: something else, or too big. */
static bool read_int(struct chat_string s, int64_t *number)
{
    size_t at = 0;
    bool minus;

    *number = 0;
    while (s.count > 0 && chat_is_space(s.codes[s.count - 1]))
        s.count--;
    while (at < s.count && chat_is_space(s.codes[at]))
        at++;
    minus = at < s.count && (s.codes[at] & CHAT_CODE) == '-';
    at += at < s.count && (minus || (s.codes[at] & CHAT_CODE) == '+');
    if (at == s.count || s.count - at > 18)
        return false;
    for (; at < s.count; at++) {
        uint32_t c = s.codes[at] & CHAT_CODE;

        if (c < '0' || c > '9')
            return false;
        *number = 10 * *number + (int64_t)(c - '0');
    }
    *number = minus ? -*number : *number;
    return true;
}

/* Those of a number made of a value. */
static uint32_t marks_of(const struct chat_value *v)
{
    uint32_t marks = v->flags;

    for (size_t i = 0; v->kind == CHAT_STRING && i < v->string.count; i++)
        marks |= v->string.codes[i];
    return marks & CHAT_MARKS;
}

enum leat_status chat_do_int(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                             const struct chat_arguments *with, struct chat_value *out)
{
    int64_t number = 0;

    (void)with;
    if (of->kind == CHAT_FLOAT && of->real < 0x1p63 && of->real >= -0x1p63)
        number = (int64_t)of->real;
    else if (of->kind == CHAT_STRING && !read_int(of->string, &number))
        return chat_fail(r, n, "int of a string that is not a plain integer is not supported");
    else if (of->kind == CHAT_FLOAT || of->kind == CHAT_BIG || of->kind == CHAT_UNDEFINED)
        return chat_fail_kinds(r, n, "int of what is undefined, or too big to be supported", of, of);
    else if (of->kind != CHAT_STRING)
        chat_to_int(of, &number); /* Jinja takes 0 for what is no number */
    *out = chat_int(number);
    out->flags = marks_of(of);
    return LEAT_OK;
}

enum leat_status chat_do_float(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                               const struct chat_arguments *with, struct chat_value *out)
{
    int64_t number;

    (void)with;
    if (of->kind == CHAT_STRING && !read_int(of->string, &number))
        return chat_fail(r, n, "float of a string that is not a plain integer is not supported");
    if (of->kind == CHAT_BIG || of->kind == CHAT_UNDEFINED)
        return chat_fail_kinds(r, n, "float of what is undefined", of, of);
    *out = chat_real(of->kind == CHAT_STRING ? (double)number : chat_is_number(of) ? chat_to_real(of) : 0);
    out->flags = marks_of(of);
    return LEAT_OK;
}

enum leat_status chat_do_abs(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                             const struct chat_arguments *with, struct chat_value *out)
{
    int64_t number;

    (void)with;
    *out = chat_real(of->kind == CHAT_FLOAT ? fabs(of->real) : 0);
    out->flags = marks_of(of);
    if (of->kind == CHAT_FLOAT)
        return LEAT_OK;
    if (!chat_to_int(of, &number) || number == INT64_MIN)
        return chat_fail_kinds(r, n, "abs of what is not a number, or too big", of, of);
    *out = chat_int(number < 0 ? -number : number);
    out->flags = marks_of(of);
    return LEAT_OK;
}

/* ---- Functions ---- */

#define MAX_RANGE 100000 /* as in Jinja's sandbox */

enum leat_status chat_do_range(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                               const struct chat_arguments *with, struct chat_value *out)
{
    int64_t ends[3] = { 0, 0, 1 }, span;
    size_t count = 0;

    (void)of;
    for (size_t i = 0; i < with->plain.count; i++)
        if (!chat_to_int(&with->plain.items[i], &ends[with->plain.count == 1 ? 1 : i]))
            return chat_fail_kinds(r, n, "range() takes integers", &with->plain.items[i], of);
    if (ends[2] == 0)
        return chat_fail(r, n, "range() with a step of 0");
    if (__builtin_sub_overflow(ends[1], ends[0], &span) || span == INT64_MIN || ends[2] == INT64_MIN)
        return chat_fail(r, n, "range() is too big");
    if (span != 0 && (span > 0) == (ends[2] > 0))
        count = (size_t)((span > 0 ? span - 1 : -span - 1) / (ends[2] > 0 ? ends[2] : -ends[2])) + 1;
    if (count > MAX_RANGE)
        return chat_fail(r, n, "range() is too big");
    *out = chat_make_list((struct chat_list) { NULL, count }, CHAT_RANGE);
    out->list.items = chat_arena_get(r->arena, count * sizeof *out, r->err);
    if (!out->list.items)
        return r->err->status;
    for (size_t i = 0; i < count; i++)
        out->list.items[i] = chat_int(ends[0] + (int64_t)i * ends[2]);
    return chat_work(r, n, 16 * count);
}

/* dict() and namespace(): a dict, if one is given, and arguments with names. */
static enum leat_status make_dict(struct chat_run *r, const struct chat_node *n, const struct chat_arguments *with,
                                  enum chat_kind kind, struct chat_value *out)
{
    const struct chat_value *from = chat_argument(with, 0);
    const struct chat_dict *const both[] = { from ? from->dict : NULL, &with->named };
    enum leat_status s = LEAT_OK;

    *out = (struct chat_value) { .kind = kind };
    if (from && from->kind != CHAT_DICT)
        return chat_fail(r, n, "it is supported with a dict and with named members only");
    out->dict = chat_arena_get(r->arena, sizeof *out->dict, r->err);
    if (!out->dict)
        return r->err->status;
    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; s == LEAT_OK && both[k] && i < both[k]->count; i++) {
            s = chat_dict_set(r->arena, out->dict, both[k]->pairs[i].key, &both[k]->pairs[i].value, r->err);
            if (s == LEAT_OK)
                s = chat_work(r, n, both[k]->pairs[i].key.count);
        }
    return s;
}

enum leat_status chat_do_namespace(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                   const struct chat_arguments *with, struct chat_value *out)
{
    (void)of;
    return make_dict(r, n, with, CHAT_NAMESPACE, out);
}

enum leat_status chat_do_dict(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                              const struct chat_arguments *with, struct chat_value *out)
{
    (void)of;
    return make_dict(r, n, with, CHAT_DICT, out);
}

enum leat_status chat_do_raise(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                               const struct chat_arguments *with, struct chat_value *out)
{
    char text[400];
    struct chat_string message;
    size_t count = 0;
    enum leat_status s = chat_to_string(r, n, chat_argument(with, 0), &message);

    (void)of;
    (void)out;
    for (; s == LEAT_OK && count < message.count && count + 1 < sizeof text; count++)
        text[count] = (message.codes[count] & CHAT_CODE) < 0x7f ? (char)(message.codes[count] & CHAT_CODE) : '?';
    text[count] = '\0';
    return s == LEAT_OK ? status_set(r->err, LEAT_E_TEXT, "the chat template refuses it: %s", text) : s;
}

enum leat_status chat_do_strftime(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                  const struct chat_arguments *with, struct chat_value *out)
{
    (void)of;
    (void)with;
    (void)out;
    return status_set(
        r->err, LEAT_E_TEXT,
        "line %u of the chat template: strftime_now() writes the date of the day, so that the same inputs "
        "would not give the same bytes; put a date into a copy of the template",
        n->line);
}
