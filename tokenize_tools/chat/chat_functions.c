/* chat_functions.c: filters, tests and methods: a row each, with the least and the most arguments that it takes. */
#include <string.h>

#include "chat_run.h"

typedef enum leat_status function(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                  const struct chat_arguments *with, struct chat_value *out);

/* ---- Arguments ---- */

static const struct chat_value *argument(const struct chat_arguments *with, size_t i)
{
    static const struct chat_value missing = { .kind = CHAT_UNDEFINED };

    return i < with->plain.count ? &with->plain.items[i] : &missing;
}

static enum leat_status string_argument(struct chat_run *r, const struct chat_node *n,
                                        const struct chat_arguments *with, size_t i, struct chat_string *out)
{
    const struct chat_value *v = argument(with, i);

    *out = v->string;
    return v->kind == CHAT_STRING ? LEAT_OK : chat_fail(r, n, "an argument that is not a string");
}

/* ---- Strings ---- */

static bool is_stripped(uint32_t code, const struct chat_value *these)
{
    if (these->kind != CHAT_STRING)
        return chat_is_space(code);
    for (size_t i = 0; i < these->string.count; i++)
        if ((these->string.codes[i] & CHAT_CODE) == (code & CHAT_CODE))
            return true;
    return false;
}

static enum leat_status strip(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                              const struct chat_arguments *with, bool left, bool right, struct chat_value *out)
{
    const struct chat_value *these = argument(with, 0);
    struct chat_string s;
    enum leat_status status = chat_to_string(r, n, of, &s);

    if (status != LEAT_OK)
        return status;
    if (these->kind != CHAT_STRING && these->kind != CHAT_UNDEFINED && these->kind != CHAT_NONE)
        return chat_fail(r, n, "an argument that is not a string");
    while (right && s.count > 0 && is_stripped(s.codes[s.count - 1], these))
        s.count--;
    while (left && s.count > 0 && is_stripped(*s.codes, these))
        s = (struct chat_string) { s.codes + 1, s.count - 1 };
    *out = chat_str(s);
    return LEAT_OK;
}

static enum leat_status do_strip(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                 const struct chat_arguments *with, struct chat_value *out)
{
    return strip(r, n, of, with, true, true, out);
}

static enum leat_status do_lstrip(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                  const struct chat_arguments *with, struct chat_value *out)
{
    return strip(r, n, of, with, true, false, out);
}

static enum leat_status do_rstrip(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                  const struct chat_arguments *with, struct chat_value *out)
{
    return strip(r, n, of, with, false, true, out);
}

static enum leat_status change_case(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                    bool upper, struct chat_value *out)
{
    struct chat_string s;
    enum leat_status status = chat_to_string(r, n, of, &s);
    uint32_t *codes = status == LEAT_OK ? chat_arena_get(r->arena, s.count * sizeof *codes, r->err) : NULL;

    if (!codes)
        return status == LEAT_OK ? r->err->status : status;
    for (size_t i = 0; i < s.count; i++) {
        uint32_t c = s.codes[i] & CHAT_CODE;

        if (c >= 0x80)
            return chat_fail(r, n, "upper and lower case of other than ASCII letters are not supported");
        codes[i] = s.codes[i] ^ ((upper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z') ? 0x20u : 0);
    }
    *out = chat_str((struct chat_string) { codes, s.count });
    return LEAT_OK;
}

static enum leat_status do_upper(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                 const struct chat_arguments *with, struct chat_value *out)
{
    (void)with;
    return change_case(r, n, of, true, out);
}

static enum leat_status do_lower(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                 const struct chat_arguments *with, struct chat_value *out)
{
    (void)with;
    return change_case(r, n, of, false, out);
}

static enum leat_status do_replace(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                   const struct chat_arguments *with, struct chat_value *out)
{
    struct chat_string s, old, new;
    struct chat_text text = { 0 };
    size_t at = 0;
    enum leat_status status = chat_to_string(r, n, of, &s);

    if (status == LEAT_OK)
        status = string_argument(r, n, with, 0, &old);
    if (status == LEAT_OK)
        status = string_argument(r, n, with, 1, &new);
    if (status == LEAT_OK && old.count == 0)
        return chat_fail(r, n, "an empty string is replaced");
    while (status == LEAT_OK && at < s.count) {
        size_t found = chat_string_find(s, old, at);

        status = chat_text_add(r->arena, &text, (struct chat_string) { s.codes + at, found - at }, r->err);
        if (status == LEAT_OK && found < s.count)
            status = chat_text_add(r->arena, &text, new, r->err);
        at = found < s.count ? found + old.count : s.count;
    }
    *out = chat_str((struct chat_string) { text.codes, text.count });
    return status;
}

static enum leat_status add_item(struct chat_run *r, struct chat_dict *to, const struct chat_value *v)
{
    struct chat_pair *pairs = to->pairs;

    if (to->count == to->room) { /* a list that grows: pairs without keys */
        size_t room = 2 * to->room + 8;

        pairs = chat_arena_get(r->arena, room * sizeof *pairs, r->err);
        if (!pairs)
            return r->err->status;
        if (to->count > 0)
            memcpy(pairs, to->pairs, to->count * sizeof *pairs);
        to->pairs = pairs;
        to->room = room;
    }
    pairs[to->count++].value = *v;
    return LEAT_OK;
}

static enum leat_status finish_list(struct chat_run *r, const struct chat_dict *from, struct chat_value *out)
{
    *out = (struct chat_value) { .kind = CHAT_LIST };
    out->list.items = chat_arena_get(r->arena, from->count * sizeof *out, r->err);
    if (!out->list.items)
        return r->err->status;
    for (; out->list.count < from->count; out->list.count++)
        out->list.items[out->list.count] = from->pairs[out->list.count].value;
    return LEAT_OK;
}

/* With a separator only: split() at white space is not supported. */
static enum leat_status do_split(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                 const struct chat_arguments *with, struct chat_value *out)
{
    const struct chat_value *most = argument(with, 1);
    struct chat_string s = of->string, by;
    struct chat_dict parts = { 0 };
    size_t at = 0;
    enum leat_status status = string_argument(r, n, with, 0, &by);

    if (status == LEAT_OK && (by.count == 0 || (most->kind != CHAT_INT && most->kind != CHAT_UNDEFINED)))
        return chat_fail(r, n, "split() with arguments that are not supported");
    while (status == LEAT_OK && at <= s.count) {
        bool last = most->kind == CHAT_INT && most->number >= 0 && parts.count >= (uint64_t)most->number;
        size_t found = last ? s.count : chat_string_find(s, by, at);
        struct chat_value part = chat_str((struct chat_string) { s.codes + at, found - at });

        status = add_item(r, &parts, &part);
        at = found < s.count ? found + by.count : s.count + 1;
    }
    return status == LEAT_OK ? finish_list(r, &parts, out) : status;
}

static enum leat_status do_startswith(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                      const struct chat_arguments *with, struct chat_value *out)
{
    struct chat_string part;
    enum leat_status s = string_argument(r, n, with, 0, &part);

    *out = chat_bool(s == LEAT_OK && part.count <= of->string.count &&
                     chat_string_equal((struct chat_string) { of->string.codes, part.count }, part));
    return s;
}

static enum leat_status do_endswith(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                    const struct chat_arguments *with, struct chat_value *out)
{
    struct chat_string part, s = of->string;
    enum leat_status status = string_argument(r, n, with, 0, &part);

    *out = chat_bool(status == LEAT_OK && part.count <= s.count &&
                     chat_string_equal((struct chat_string) { s.codes + s.count - part.count, part.count }, part));
    return status;
}

/* ---- Lists and dicts ---- */

static enum leat_status do_length(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                  const struct chat_arguments *with, struct chat_value *out)
{
    (void)with;
    *out = chat_int(of->kind == CHAT_STRING ? (int64_t)of->string.count
                    : of->kind == CHAT_LIST ? (int64_t)of->list.count
                    : of->kind == CHAT_DICT ? (int64_t)of->dict->count
                                            : 0);
    return of->kind == CHAT_STRING || of->kind == CHAT_LIST || of->kind == CHAT_DICT || of->kind == CHAT_UNDEFINED
               ? LEAT_OK
               : chat_fail(r, n, "the length of what has none");
}

static enum leat_status do_list(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                const struct chat_arguments *with, struct chat_value *out)
{
    (void)with;
    out->kind = CHAT_LIST;
    return chat_items(r, n, of, &out->list);
}

static enum leat_status do_first(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                 const struct chat_arguments *with, struct chat_value *out)
{
    struct chat_list items;
    enum leat_status s = chat_items(r, n, of, &items);

    (void)with;
    *out = s == LEAT_OK && items.count > 0 ? items.items[0] : (struct chat_value) { .kind = CHAT_UNDEFINED };
    return s;
}

static enum leat_status do_last(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                const struct chat_arguments *with, struct chat_value *out)
{
    struct chat_list items;
    enum leat_status s = chat_items(r, n, of, &items);

    (void)with;
    *out =
        s == LEAT_OK && items.count > 0 ? items.items[items.count - 1] : (struct chat_value) { .kind = CHAT_UNDEFINED };
    return s;
}

static enum leat_status do_join(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                const struct chat_arguments *with, struct chat_value *out)
{
    struct chat_string by = { NULL, 0 }, part;
    struct chat_text text = { 0 };
    struct chat_list items;
    enum leat_status s = chat_items(r, n, of, &items);

    if (s == LEAT_OK && with->plain.count > 0)
        s = string_argument(r, n, with, 0, &by);
    for (size_t i = 0; s == LEAT_OK && i < items.count; i++) {
        s = chat_to_string(r, n, &items.items[i], &part);
        if (s == LEAT_OK && i > 0)
            s = chat_text_add(r->arena, &text, by, r->err);
        if (s == LEAT_OK)
            s = chat_text_add(r->arena, &text, part, r->err);
    }
    *out = chat_str((struct chat_string) { text.codes, text.count });
    return s;
}

static enum leat_status do_items(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                 const struct chat_arguments *with, struct chat_value *out)
{
    (void)with;
    *out = (struct chat_value) { .kind = CHAT_LIST };
    if (of->kind == CHAT_UNDEFINED)
        return LEAT_OK;
    if (of->kind != CHAT_DICT)
        return chat_fail(r, n, "items of what is not a dict");
    out->list.items = chat_arena_get(r->arena, 3 * of->dict->count * sizeof *out, r->err);
    if (!out->list.items)
        return r->err->status;
    for (size_t i = 0; i < of->dict->count; i++) {
        struct chat_value *pair = out->list.items + of->dict->count + 2 * i;

        pair[0] = chat_str(of->dict->pairs[i].key);
        pair[1] = of->dict->pairs[i].value;
        out->list.items[i].kind = CHAT_LIST;
        out->list.items[i].list = (struct chat_list) { pair, 2 };
    }
    out->list.count = of->dict->count;
    return LEAT_OK;
}

static enum leat_status do_values(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                  const struct chat_arguments *with, struct chat_value *out)
{
    enum leat_status s = do_items(r, n, of, with, out);

    for (size_t i = 0; s == LEAT_OK && i < out->list.count; i++)
        out->list.items[i] = out->list.items[i].list.items[1];
    return s;
}

static enum leat_status do_get(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                               const struct chat_arguments *with, struct chat_value *out)
{
    struct chat_string key;
    const struct chat_value *found;
    enum leat_status s = string_argument(r, n, with, 0, &key);

    if (s != LEAT_OK)
        return s;
    found = chat_dict_find(of->dict, key);
    *out = found ? *found : with->plain.count > 1 ? *argument(with, 1) : (struct chat_value) { .kind = CHAT_NONE };
    return LEAT_OK;
}

/* ---- Any value ---- */

static enum leat_status do_string(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                  const struct chat_arguments *with, struct chat_value *out)
{
    (void)with;
    out->kind = CHAT_STRING;
    return chat_to_string(r, n, of, &out->string);
}

static enum leat_status do_default(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                   const struct chat_arguments *with, struct chat_value *out)
{
    bool replaces = of->kind == CHAT_UNDEFINED || (chat_truth(argument(with, 1)) && !chat_truth(of));

    (void)r;
    (void)n;
    *out = *of;
    if (replaces)
        *out = with->plain.count > 0 ? *argument(with, 0) : chat_str((struct chat_string) { NULL, 0 });
    return LEAT_OK;
}

static enum leat_status do_tojson(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                  const struct chat_arguments *with, struct chat_value *out)
{
    const struct chat_value *indent = NULL;

    for (size_t i = 0; i < with->named.count; i++) {
        if (!chat_string_is(with->named.pairs[i].key, "indent"))
            return chat_fail(r, n, "an argument of tojson that is not supported");
        indent = &with->named.pairs[i].value;
    }
    if (indent && indent->kind != CHAT_NONE && (indent->kind != CHAT_INT || indent->number < 0 || indent->number > 16))
        return chat_fail(r, n, "an indent that is not supported");
    out->kind = CHAT_STRING;
    return chat_to_json(r, n, of, indent && indent->kind == CHAT_INT ? indent->number : -1, &out->string);
}

/* ---- Tables ---- */

struct row {
    const char *name;
    function *run;
    unsigned least, most;
    bool named; /* takes arguments with names */
};

static const struct row filters[] = {
    { "count", do_length, 0, 0, false },    { "d", do_default, 0, 2, false },
    { "default", do_default, 0, 2, false }, { "first", do_first, 0, 0, false },
    { "items", do_items, 0, 0, false },     { "join", do_join, 0, 1, false },
    { "last", do_last, 0, 0, false },       { "length", do_length, 0, 0, false },
    { "list", do_list, 0, 0, false },       { "lower", do_lower, 0, 0, false },
    { "replace", do_replace, 2, 2, false }, { "safe", do_string, 0, 0, false },
    { "string", do_string, 0, 0, false },   { "tojson", do_tojson, 0, 0, true },
    { "trim", do_strip, 0, 1, false },      { "upper", do_upper, 0, 0, false },
};

static const struct row string_methods[] = {
    { "endswith", do_endswith, 1, 1, false },     { "lower", do_lower, 0, 0, false },
    { "lstrip", do_lstrip, 0, 1, false },         { "replace", do_replace, 2, 2, false },
    { "rstrip", do_rstrip, 0, 1, false },         { "split", do_split, 1, 2, false },
    { "startswith", do_startswith, 1, 1, false }, { "strip", do_strip, 0, 1, false },
    { "upper", do_upper, 0, 0, false },           { NULL, NULL, 0, 0, false },
};

/* All that Python has: a key with such a name is not what a dot finds. */
static const struct row dict_methods[] = {
    { "clear", NULL, 0, 0, false },  { "copy", NULL, 0, 0, false },        { "fromkeys", NULL, 0, 0, false },
    { "get", do_get, 1, 2, false },  { "items", do_items, 0, 0, false },   { "keys", do_list, 0, 0, false },
    { "pop", NULL, 0, 0, false },    { "popitem", NULL, 0, 0, false },     { "setdefault", NULL, 0, 0, false },
    { "update", NULL, 0, 0, false }, { "values", do_values, 0, 0, false }, { NULL, NULL, 0, 0, false },
};

static const struct row *find(const struct row *rows, size_t count, const char *name)
{
    for (size_t i = 0; i < count && rows[i].name; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

static enum leat_status run_row(struct chat_run *r, const struct row *row, const struct chat_node *n,
                                const struct chat_value *of, const struct chat_arguments *with, struct chat_value *out)
{
    if (!row || !row->run)
        return chat_fail(r, n, "a method that is not supported");
    if (with->plain.count < row->least || with->plain.count > row->most || (with->named.count > 0 && !row->named))
        return chat_fail(r, n, "arguments that are not supported");
    return row->run(r, n, of, with, out);
}

bool chat_knows_filter(const char *name)
{
    return find(filters, sizeof filters / sizeof *filters, name) != NULL;
}

enum leat_status chat_filter(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                             const struct chat_arguments *with, struct chat_value *out)
{
    return run_row(r, find(filters, sizeof filters / sizeof *filters, n->name), n, of, with, out);
}

static const struct row *method_of(enum chat_kind kind, const char *name)
{
    return kind == CHAT_STRING ? find(string_methods, 100, name)
           : kind == CHAT_DICT ? find(dict_methods, 100, name)
                               : NULL;
}

bool chat_has_method(enum chat_kind kind, const char *name)
{
    return method_of(kind, name) != NULL;
}

enum leat_status chat_method(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                             const char *name, const struct chat_arguments *with, struct chat_value *out)
{
    return run_row(r, method_of(of->kind, name), n, of, with, out);
}
