/* chat_functions.c: see chat_functions.h. */
#include "chat_functions.h"

#include <string.h>

#include "base/status.h"

/* ---- Arguments ---- */

const struct chat_value *chat_argument(const struct chat_arguments *with, size_t i)
{
    return i < with->plain.count && with->plain.items[i].kind != CHAT_ABSENT ? &with->plain.items[i] : NULL;
}

enum leat_status chat_string_argument(struct chat_run *r, const struct chat_node *n, const struct chat_arguments *with,
                                      size_t i, struct chat_string *out)
{
    const struct chat_value *v = chat_argument(with, i);

    if (!v || v->kind != CHAT_STRING)
        return chat_fail(r, n, "an argument that is not a string");
    *out = v->string;
    return LEAT_OK;
}

enum leat_status chat_int_argument(struct chat_run *r, const struct chat_node *n, const struct chat_arguments *with,
                                   size_t i, int64_t usual, int64_t *out)
{
    const struct chat_value *v = chat_argument(with, i);

    *out = usual;
    if (!v || v->kind == CHAT_NONE)
        return LEAT_OK;
    return chat_to_int(v, out) ? LEAT_OK : chat_fail_kinds(r, n, "an argument that is not an integer", v, v);
}

/* ---- Tables ---- */

static const struct chat_row filters[] = {
    { "abs", chat_do_abs, 0, 0, NULL, CHAT_PLAIN, false },
    { "capitalize", chat_do_capitalize, 0, 0, NULL, CHAT_STAYS_SAFE, false },
    { "count", chat_do_length, 0, 0, NULL, CHAT_PLAIN, false },
    { "d", chat_do_default, 0, 2, "default_value,boolean", CHAT_PLAIN, false },
    { "default", chat_do_default, 0, 2, "default_value,boolean", CHAT_PLAIN, false },
    { "dictsort", chat_do_dictsort, 0, 3, "case_sensitive,by,reverse", CHAT_PLAIN, false },
    { "e", chat_do_escape, 0, 0, NULL, CHAT_PLAIN, false },
    { "escape", chat_do_escape, 0, 0, NULL, CHAT_PLAIN, false },
    { "first", chat_do_first, 0, 0, NULL, CHAT_PLAIN, false },
    { "float", chat_do_float, 0, 0, NULL, CHAT_PLAIN, false },
    { "indent", chat_do_indent, 0, 3, "width,first,blank", CHAT_STAYS_SAFE, false },
    { "int", chat_do_int, 0, 0, NULL, CHAT_PLAIN, false },
    { "items", chat_do_items, 0, 0, NULL, CHAT_PLAIN, false },
    { "join", chat_do_join, 0, 2, "d,attribute", CHAT_PLAIN, false },
    { "last", chat_do_last, 0, 0, NULL, CHAT_PLAIN, false },
    { "length", chat_do_length, 0, 0, NULL, CHAT_PLAIN, false },
    { "list", chat_do_list, 0, 0, NULL, CHAT_PLAIN, false },
    { "lower", chat_do_lower, 0, 0, NULL, CHAT_STAYS_SAFE, false },
    { "map", chat_do_map, 0, 5, "*", CHAT_PLAIN, false },
    { "max", chat_do_max, 0, 2, "case_sensitive,attribute", CHAT_PLAIN, false },
    { "min", chat_do_min, 0, 2, "case_sensitive,attribute", CHAT_PLAIN, false },
    { "reject", chat_do_reject, 0, 3, NULL, CHAT_PLAIN, false },
    { "rejectattr", chat_do_rejectattr, 1, 4, NULL, CHAT_PLAIN, false },
    { "replace", chat_do_replace, 2, 3, "old,new,count", CHAT_PLAIN, false },
    { "reverse", chat_do_reverse, 0, 0, NULL, CHAT_STAYS_SAFE, false },
    { "safe", chat_do_safe, 0, 0, NULL, CHAT_PLAIN, false },
    { "select", chat_do_select, 0, 3, NULL, CHAT_PLAIN, false },
    { "selectattr", chat_do_selectattr, 1, 4, NULL, CHAT_PLAIN, false },
    { "sort", chat_do_sort, 0, 3, "reverse,case_sensitive,attribute", CHAT_PLAIN, false },
    { "string", chat_do_string, 0, 0, NULL, CHAT_STAYS_SAFE, false },
    { "sum", chat_do_sum, 0, 2, "attribute,start", CHAT_PLAIN, false },
    { "title", chat_do_title, 0, 0, NULL, CHAT_PLAIN, false },
    { "tojson", chat_do_tojson, 0, 4, "ensure_ascii,indent,separators,sort_keys", CHAT_PLAIN, false },
    { "trim", chat_do_strip, 0, 1, "chars", CHAT_STAYS_SAFE, false },
    { "unique", chat_do_unique, 0, 2, "case_sensitive,attribute", CHAT_PLAIN, false },
    { "upper", chat_do_upper, 0, 0, NULL, CHAT_STAYS_SAFE, false },
    { NULL, NULL, 0, 0, NULL, CHAT_PLAIN, false },
};

static const struct chat_row functions[] = {
    { "dict", chat_do_dict, 0, 1, "*", CHAT_PLAIN, false },
    { "namespace", chat_do_namespace, 0, 1, "*", CHAT_PLAIN, false },
    { "raise_exception", chat_do_raise, 1, 1, "message", CHAT_PLAIN, false },
    { "range", chat_do_range, 1, 3, NULL, CHAT_PLAIN, false },
    { "strftime_now", chat_do_strftime, 1, 1, "format", CHAT_PLAIN, false },
    { "cycler", NULL, 0, 0, NULL, CHAT_PLAIN, false },
    { "joiner", NULL, 0, 0, NULL, CHAT_PLAIN, false },
    { "lipsum", NULL, 0, 0, NULL, CHAT_PLAIN, false },
    { NULL, NULL, 0, 0, NULL, CHAT_PLAIN, false },
};

static const struct chat_row string_methods[] = {
    { "capitalize", chat_do_capitalize, 0, 0, NULL, CHAT_STAYS_SAFE, false },
    { "count", chat_do_count_in, 1, 1, NULL, CHAT_PLAIN, false },
    { "endswith", chat_do_endswith, 1, 1, NULL, CHAT_PLAIN, false },
    { "find", chat_do_find, 1, 1, NULL, CHAT_PLAIN, false },
    { "isdigit", chat_do_isdigit, 0, 0, NULL, CHAT_PLAIN, false },
    { "isspace", chat_do_isspace, 0, 0, NULL, CHAT_PLAIN, false },
    { "join", chat_do_join_method, 1, 1, NULL, CHAT_NOT_OF_SAFE, false },
    { "lower", chat_do_lower, 0, 0, NULL, CHAT_STAYS_SAFE, false },
    { "lstrip", chat_do_lstrip, 0, 1, NULL, CHAT_STAYS_SAFE, false },
    { "partition", chat_do_partition, 1, 1, NULL, CHAT_STAYS_SAFE, false },
    { "removeprefix", chat_do_removeprefix, 1, 1, NULL, CHAT_NOT_OF_SAFE, false },
    { "removesuffix", chat_do_removesuffix, 1, 1, NULL, CHAT_NOT_OF_SAFE, false },
    { "replace", chat_do_replace_method, 2, 3, NULL, CHAT_NOT_OF_SAFE, false },
    { "rfind", chat_do_rfind, 1, 1, NULL, CHAT_PLAIN, false },
    { "rpartition", chat_do_rpartition, 1, 1, NULL, CHAT_STAYS_SAFE, false },
    { "rsplit", chat_do_rsplit, 0, 2, "sep,maxsplit", CHAT_STAYS_SAFE, false },
    { "rstrip", chat_do_rstrip, 0, 1, NULL, CHAT_STAYS_SAFE, false },
    { "split", chat_do_split, 0, 2, "sep,maxsplit", CHAT_STAYS_SAFE, false },
    { "splitlines", chat_do_splitlines, 0, 1, "keepends", CHAT_STAYS_SAFE, false },
    { "startswith", chat_do_startswith, 1, 1, NULL, CHAT_PLAIN, false },
    { "strip", chat_do_strip, 0, 1, NULL, CHAT_STAYS_SAFE, false },
    { "title", chat_do_title_method, 0, 0, NULL, CHAT_STAYS_SAFE, false },
    { "upper", chat_do_upper, 0, 0, NULL, CHAT_STAYS_SAFE, false },
    { NULL, NULL, 0, 0, NULL, CHAT_PLAIN, false },
};

static const struct chat_row dict_methods[] = {
    { "clear", NULL, 0, 0, NULL, CHAT_PLAIN, true },
    { "copy", chat_do_copy, 0, 0, NULL, CHAT_PLAIN, false },
    { "fromkeys", NULL, 0, 0, NULL, CHAT_PLAIN, false },
    { "get", chat_do_get, 1, 2, NULL, CHAT_PLAIN, false },
    { "items", chat_do_items_method, 0, 0, NULL, CHAT_PLAIN, false },
    { "keys", chat_do_keys, 0, 0, NULL, CHAT_PLAIN, false },
    { "pop", NULL, 0, 0, NULL, CHAT_PLAIN, true },
    { "popitem", NULL, 0, 0, NULL, CHAT_PLAIN, true },
    { "setdefault", NULL, 0, 0, NULL, CHAT_PLAIN, true },
    { "update", NULL, 0, 0, NULL, CHAT_PLAIN, true },
    { "values", chat_do_values, 0, 0, NULL, CHAT_PLAIN, false },
    { NULL, NULL, 0, 0, NULL, CHAT_PLAIN, false },
};

static const struct chat_row list_methods[] = {
    { "count", chat_do_list_count, 1, 1, NULL, CHAT_PLAIN, false },
    { "index", chat_do_list_index, 1, 1, NULL, CHAT_PLAIN, false },
    { "append", NULL, 0, 0, NULL, CHAT_PLAIN, true }, /* from here on not of tuples and ranges */
    { "clear", NULL, 0, 0, NULL, CHAT_PLAIN, true },
    { "copy", NULL, 0, 0, NULL, CHAT_PLAIN, false },
    { "extend", NULL, 0, 0, NULL, CHAT_PLAIN, true },
    { "insert", NULL, 0, 0, NULL, CHAT_PLAIN, true },
    { "pop", NULL, 0, 0, NULL, CHAT_PLAIN, true },
    { "remove", NULL, 0, 0, NULL, CHAT_PLAIN, true },
    { "reverse", NULL, 0, 0, NULL, CHAT_PLAIN, true },
    { "sort", NULL, 0, 0, NULL, CHAT_PLAIN, true },
    { NULL, NULL, 0, 0, NULL, CHAT_PLAIN, false },
};

/* Members that values have in Python, which are not supported: they are not undefined. */
static const struct chat_row unsupported = { "a member of that name", NULL, 0, 0, NULL, CHAT_PLAIN, false };
static const char *const string_others[] = { "casefold",   "center",       "encode",    "expandtabs", "format",
                                             "format_map", "index",        "isalnum",   "isalpha",    "isascii",
                                             "isdecimal",  "isidentifier", "islower",   "isnumeric",  "isprintable",
                                             "istitle",    "isupper",      "ljust",     "maketrans",  "rindex",
                                             "rjust",      "swapcase",     "translate", "zfill",      NULL };
static const char *const number_others[] = { "as_integer_ratio", "bit_count", "bit_length", "conjugate", "denominator",
                                             "from_bytes",       "fromhex",   "hex",        "imag",      "is_integer",
                                             "numerator",        "real",      "to_bytes",   NULL };
static const char *const range_others[] = { "start", "step", "stop", NULL };
static const char *const view_others[] = { "isdisjoint", "mapping", NULL };
static const char *const iterator_others[] = { "close",      "send",         "throw",        "gi_code", "gi_frame",
                                               "gi_running", "gi_suspended", "gi_yieldfrom", NULL };
static const char *const loop_others[] = { "changed", "cycle", NULL };
static const char *const macro_others[] = { "arguments", "catch_kwargs",    "catch_varargs",
                                            "caller",    "explicit_caller", "name",
                                            NULL };
static const char *const none[] = { NULL };

static const struct chat_row *find(const struct chat_row *rows, const char *name)
{
    for (; rows->name; rows++)
        if (strcmp(rows->name, name) == 0)
            return rows;
    return NULL;
}

static const char *const *others_of(const struct chat_value *v)
{
    switch (v->kind) {
    case CHAT_STRING:
        return string_others;
    case CHAT_BOOL:
    case CHAT_INT:
    case CHAT_BIG:
    case CHAT_FLOAT:
        return number_others;
    case CHAT_LIST:
        return v->flags == CHAT_RANGE ? range_others : v->flags == CHAT_VIEW ? view_others : none;
    case CHAT_ITERATOR:
        return iterator_others;
    case CHAT_LOOP:
        return loop_others;
    case CHAT_MACRO:
    case CHAT_METHOD:
    case CHAT_FUNCTION:
        return macro_others;
    default:
        return none;
    }
}

const struct chat_row *chat_method_of(const struct chat_value *v, const char *name)
{
    const struct chat_row *row = v->kind == CHAT_STRING                          ? find(string_methods, name)
                                 : v->kind == CHAT_DICT                          ? find(dict_methods, name)
                                 : v->kind == CHAT_LIST && v->flags != CHAT_VIEW ? find(list_methods, name)
                                                                                 : NULL;

    if (row && v->kind == CHAT_LIST && v->flags != 0 && !row->run)
        row = NULL;
    for (const char *const *other = others_of(v); !row && *other; other++)
        if (strcmp(*other, name) == 0)
            row = &unsupported;
    return row;
}

const struct chat_row *chat_function_named(const char *name)
{
    return find(functions, name);
}

bool chat_is_changing(const struct chat_row *row)
{
    return row->changes;
}

bool chat_knows_filter(const char *name)
{
    return find(filters, name) != NULL;
}

/* ---- Calls ---- */

/* The place of a name among "a,b,c"; -1: it is not there. */
static int place_of(const char *names, struct chat_string name)
{
    for (int place = 0; names && *names; place++) {
        size_t count = strcspn(names, ","), same = 0;

        while (same < count && same < name.count && (name.codes[same] & CHAT_CODE) == (unsigned char)names[same])
            same++;
        if (same == count && count == name.count)
            return place;
        names += count + (names[count] == ',');
    }
    return -1;
}

/* Puts arguments with names where they are without. */
static enum leat_status place_arguments(struct chat_run *r, const struct chat_node *n, const struct chat_row *row,
                                        const struct chat_arguments *with, struct chat_arguments *all)
{
    *all = *with;
    if (with->named.count == 0 || (row->names && *row->names == '*'))
        return LEAT_OK;
    all->plain.items = chat_arena_get(r->arena, row->most * sizeof *all->plain.items, r->err);
    if (!all->plain.items)
        return r->err->status;
    for (all->plain.count = 0; all->plain.count < row->most; all->plain.count++)
        all->plain.items[all->plain.count] = all->plain.count < with->plain.count
                                                 ? with->plain.items[all->plain.count]
                                                 : (struct chat_value) { .kind = CHAT_ABSENT };
    for (size_t i = 0; i < with->named.count; i++) {
        int place = place_of(row->names, with->named.pairs[i].key);

        if (place < 0 || all->plain.items[place].kind != CHAT_ABSENT)
            return chat_fail(r, n, "an argument with a name that is not supported");
        all->plain.items[place] = with->named.pairs[i].value;
    }
    return LEAT_OK;
}

static void mark_safe(struct chat_value *v)
{
    if (v->kind == CHAT_STRING)
        v->flags |= CHAT_SAFE;
    for (size_t i = 0; v->kind == CHAT_LIST && i < v->list.count; i++)
        mark_safe(&v->list.items[i]);
}

enum leat_status chat_call_row(struct chat_run *r, const struct chat_node *n, const struct chat_row *row,
                               const struct chat_value *of, const struct chat_arguments *with, struct chat_value *out)
{
    bool safe = of->kind == CHAT_STRING && of->flags & CHAT_SAFE;
    struct chat_arguments all;
    enum leat_status s = chat_work(r, n, of->kind == CHAT_STRING ? of->string.count : 0);

    if (s != LEAT_OK)
        return s;
    if (!row->run)
        return status_set(r->err, LEAT_E_TEXT, "line %u of the chat template: %s: it is not supported", n->line,
                          row == &unsupported && n->a->kind == CHAT_N_MEMBER ? n->a->name : row->name);
    if (safe && row->safety == CHAT_NOT_OF_SAFE)
        return chat_fail(r, n, "a method of what | safe gave is not supported");
    if (with->plain.count > row->most)
        return chat_fail(r, n, "too many arguments, or some that are not supported");
    s = place_arguments(r, n, row, with, &all);
    for (size_t i = 0; s == LEAT_OK && i < row->least; i++)
        if (!chat_argument(&all, i))
            return chat_fail(r, n, "too few arguments");
    if (s == LEAT_OK)
        s = row->run(r, n, of, &all, out);
    if (s == LEAT_OK && safe && row->safety == CHAT_STAYS_SAFE)
        mark_safe(out);
    return s;
}

enum leat_status chat_filter(struct chat_run *r, const struct chat_node *n, const char *name,
                             const struct chat_value *of, const struct chat_arguments *with, struct chat_value *out)
{
    const struct chat_row *row = find(filters, name);

    return row ? chat_call_row(r, n, row, of, with, out) : chat_fail(r, n, "a filter that is not supported");
}

/* ---- Lists ---- */

enum leat_status chat_add_item(struct chat_run *r, struct chat_growing *to, const struct chat_value *v)
{
    if (to->list.count == to->room) {
        size_t room = 2 * to->room + 8;
        struct chat_value *items = chat_arena_get(r->arena, room * sizeof *items, r->err);

        if (!items)
            return r->err->status;
        if (to->list.count > 0)
            memcpy(items, to->list.items, to->list.count * sizeof *items);
        to->list.items = items;
        to->room = room;
    }
    to->list.items[to->list.count++] = *v;
    return LEAT_OK;
}

struct chat_value chat_make_list(struct chat_list list, uint32_t flags)
{
    return (struct chat_value) { .kind = CHAT_LIST, .flags = flags, .list = list };
}

enum leat_status chat_make_iterator(struct chat_run *r, struct chat_list list, struct chat_value *out)
{
    struct chat_list *rest = chat_arena_get(r->arena, sizeof *rest, r->err);

    if (!rest)
        return r->err->status;
    *rest = list;
    *out = (struct chat_value) { .kind = CHAT_ITERATOR, .rest = rest };
    return LEAT_OK;
}
